"""A reasoner that works in steps, and a judge of its steps: their parts, one idea each."""
