"""The command line of mctsr."""
