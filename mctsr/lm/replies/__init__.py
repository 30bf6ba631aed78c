"""What servers reply, and how it is read."""
