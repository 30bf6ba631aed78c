"""Where to work next. One selector a module; none keeps state of its own."""
