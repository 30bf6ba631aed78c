"""How good is it: each module judges in one way."""
