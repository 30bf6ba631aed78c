"""What `scripts/bench_core` measures, a module for each of its sections."""
