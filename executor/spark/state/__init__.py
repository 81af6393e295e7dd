"""What a partition keeps between two micro-batches."""
