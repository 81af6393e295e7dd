"""Operators and pipelines against naive models, snapshot by snapshot."""
