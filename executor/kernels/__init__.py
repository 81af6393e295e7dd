"""Compiled kernels over flat int64 arrays.

In: a batch and the arrays of one operator's state. Out: the reason of the kernel's stop; its header
holds the progress.

State is named tuples of arrays, each with a header of counts and cursors. A kernel never
allocates. It runs until its rows are done or an array is full, and returns the reason
(:mod:`headrace.executor.kernels.stops`). The operator then enlarges or sweeps the array and calls
the kernel again (:func:`headrace.executor.operators.base.drive`), which resumes from its header. So
state consists of arrays only, which may also be memory-mapped files.

Two kernels have no operator: the cost model evaluates a sample of the stream by ``widest.py`` and
``versioned.py``.

Every kernel has a single signature (int64, C-contiguous arrays), so it compiles once;
:mod:`headrace.executor.kernels.compiling` caches the machine code on disk.

Start with: ``compiling.py``, then ``rows.py``.
"""
