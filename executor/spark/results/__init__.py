"""The output: result blocks to files, and what is published when."""
