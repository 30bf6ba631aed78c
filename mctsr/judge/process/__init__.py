"""Process reward models: each module speaks the protocol of one family."""
