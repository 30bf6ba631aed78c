"""A model on this machine: its file, and the llama.cpp server that a run starts for it."""
