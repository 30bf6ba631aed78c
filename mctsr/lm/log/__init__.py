"""What stands in a call log."""
