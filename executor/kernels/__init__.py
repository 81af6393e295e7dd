"""Compiled kernels over flat int64 arrays.

In: a batch and the arrays of one operator's state. Out: how far the kernel came, and why
it stopped.

A kernel never allocates state. It works until its rows are done or an array is full, then
returns which (a status); its Python side enlarges or sweeps the array and calls again, and
the kernel goes on where it stood, from a header of cursors. So state is nothing but arrays,
which may lie anywhere, also in mapped files.

Every kernel is called with one signature only (int64, C-contiguous), so that each compiles
once; :mod:`headrace.executor.kernels.compiling` keeps the machine code on disk.

Start with: ``compiling.py``, then ``rows.py``.
"""
