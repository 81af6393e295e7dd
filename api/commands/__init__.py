"""One module for each command: its options, and which functions of `headrace` it calls.

In: options as typer reads them. Out: text on stdout or in a file.
"""
