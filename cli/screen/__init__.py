"""What is seen: what commands write, and what a run shows while it goes on."""
