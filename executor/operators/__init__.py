"""The operators of a pipeline. In: one batch per input. Out: one batch of results.

Each keeps the state of one plan node. Stateless ones are functions of their input; the
others drive a kernel of `headrace.executor.kernels` and own its arrays.

Start with: ``base.py``, the interface; then ``stateless.py`` and ``join.py``.
"""
