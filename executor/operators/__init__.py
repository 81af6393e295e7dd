"""The operators of a pipeline. In: one batch per input. Out: one batch of results.

An operator keeps the state of one plan node. A stateless operator is a function of its input. Any
other operator drives a kernel of `headrace.executor.kernels` and owns the arrays of its state.

Start with: ``base.py``, the interface; then ``stateless.py`` and ``join.py``.
"""
