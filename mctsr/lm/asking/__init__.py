"""One request on its way to a server: what it is, and the tries until it is answered."""
