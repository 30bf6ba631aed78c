"""Board games on bitboards for the arena and the benchmarks; nothing here belongs to the library."""
