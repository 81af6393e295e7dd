"""Compiled kernels over flat int64 arrays.

In: a batch and the arrays of one operator's state. Out: how far the kernel came, and why
it stopped.

State is named tuples of arrays, each with a header of counts and cursors. A kernel never
allocates: it works until its rows are done or an array is full, then returns which
(:mod:`headrace.executor.kernels.stops`); its Python side enlarges or sweeps the array and calls
again (:func:`headrace.executor.operators.base.drive`), and the kernel goes on where it stood. So
state is nothing but arrays, which may lie anywhere, also in mapped files.

Every kernel is called with one signature only (int64, C-contiguous), so that each compiles
once; :mod:`headrace.executor.kernels.compiling` keeps the machine code on disk.

Start with: ``compiling.py``, then ``rows.py``.
"""
