"""Compiled kernels over flat int64 arrays.

In: a batch and the arrays of one operator's state. Out: how far the kernel came, and why
it stopped.

A kernel never allocates state. It works until its rows are done or an array is full, then
returns which (a status); its Python side enlarges or sweeps the array and calls again, and
the kernel goes on where it stood, from a header of cursors. So state is nothing but arrays,
which may lie anywhere, also in mapped files.

Every kernel is called with one signature only (int64, C-contiguous), so that each compiles
once; numba keeps the machine code beside the source, or in the user's cache folder where
that cannot be written to.
"""

from contextlib import suppress
from pathlib import Path


def _forget_stale_code() -> None:
    """Removes cached machine code that is older than any kernel's source.

    Numba looks only at the file of the kernel itself, not at those of the functions that
    were compiled into it.
    """
    folder = Path(__file__).parent
    newest = max(source.stat().st_mtime_ns for source in folder.glob("*.py"))
    for index in (folder / "__pycache__").glob("*.nbi"):
        with suppress(OSError):
            if index.stat().st_mtime_ns < newest:
                index.unlink()


_forget_stale_code()
