"""The operators of a pipeline: one batch per input in, one batch of results out.

Each keeps the state of one plan node. Stateless ones are functions of their input; the
others drive a kernel of `headrace.executor.kernels` and own its arrays.

Start with: ``base.py``, the interface; then ``stateless.py`` and ``join.py``.
"""
