"""The ways in which a begun assistant turn is continued, one small module each; `ways` holds the table."""
