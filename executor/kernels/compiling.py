"""Compiles kernels once: for one signature each, into a cache that outlives the process.

In: the functions of this folder. Out: dispatchers of numba whose machine code is kept in

1. ``NUMBA_CACHE_DIR``, if that is set and can be written to;
2. the ``__pycache__`` beside the sources, if that can be written to;
3. the user's cache folder, and at last a folder of the user's own among temporary files.

Numba looks only at the file of a kernel itself to see whether its code is up to date, not at those
of the functions that were compiled into it. So all files together are the version of all code,
and each version has a folder of its own. What an image was built with (``__pycache__``, written by
``headrace warm`` and not writable later) is copied to where it can be added to: code for another
processor would have to be.

Processes that need a kernel at the same time compile it once: the first locks it, and the others
wait and load what it has made. Uses numba's ``numba.core.caching`` (0.61 and later).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar

from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from platformdirs import user_cache_path

SOURCES: Final = Path(__file__).parent
_NAME: Final = "headrace-kernels"
_VERSIONS: Final = 3
"""How many versions of the code are kept."""
_LONGEST_WAIT_SECONDS: Final = 600.0
"""A process that compiles may hang or be stopped: after so long another one compiles too."""
_LOOK_SECONDS: Final = 0.05

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """A function of this folder, compiled when it is first called.

    It allocates nothing, and its caller holds the arrays that it works on. So numba need not
    count references to them (``_nrt``), which costs a fourth of the time where a function is
    given a named tuple of arrays.
    """
    options: dict[str, Any] = {"_nrt": False}
    dispatcher: Any = njit(**options)(function)
    dispatcher._cache = KernelCache(function)
    return dispatcher


@cache
def version() -> str:
    """What all kernels' sources are, as one word."""
    digest = hashlib.sha256()
    for source in sorted(SOURCES.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def code_folder() -> Path:
    """Where this process keeps machine code and finds what others have compiled."""
    beside = SOURCES / "__pycache__"
    folder = next(own for own in _places() if _is_writable(own / version()))
    if folder != beside:
        _seed(beside / version(), folder / version())
    _forget_versions(folder)
    return folder / version()


def _places() -> Iterator[Path]:
    """Folders for the code of all versions, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen) / _NAME
    yield SOURCES / "__pycache__"
    of_user = user_cache_path("headrace") / _NAME
    temporary = Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}"
    yield from filter(_is_private, (of_user, temporary))
    yield Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))


def _is_private(folder: Path) -> bool:
    """Makes a folder that nobody else can write to: what is read from there is executed."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return False
    own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return own and not status.st_mode & 0o022


def _is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def _seed(built: Path, folder: Path) -> None:
    """Copies the code that was built beside the sources and is not there yet."""
    for file in sorted(built.glob("*.nb[ci]")):  # data before the index that names it
        own = folder / file.name
        if not own.exists():
            with suppress(OSError):
                aside = folder / f"{file.name}.{os.getpid()}"
                shutil.copyfile(file, aside)
                os.replace(aside, own)


def _forget_versions(folder: Path) -> None:
    """Removes the code of sources that are no more, unless an older Headrace may still use it."""
    kept = sorted(
        (other for other in folder.glob("[0-9a-f]" * 16) if other.is_dir()),
        key=lambda other: other.stat().st_mtime_ns,
    )
    for other in kept[:-_VERSIONS]:
        if other.name != version():
            shutil.rmtree(other, ignore_errors=True)


class _Locator:
    """Where numba keeps the code of one kernel (``numba.core.caching._CacheLocator``)."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._line = function.__code__.co_firstlineno

    @classmethod
    def from_function(cls, function: Callable[..., Any], file: str) -> _Locator:
        """Numba's hook."""
        return cls(function)

    def ensure_cache_path(self) -> None:
        """Numba's hook, before it writes."""
        code_folder().mkdir(parents=True, exist_ok=True)

    def get_cache_path(self) -> str:
        """Numba's hook."""
        return str(code_folder())

    def get_source_stamp(self) -> str:
        """Numba's hook: code is used if this is as it was."""
        return version()

    def get_disambiguator(self) -> str:
        """Numba's hook: tells functions of one name apart."""
        return str(self._line)


class _Storage(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012 - as numba has it


class KernelCache(FunctionCache):
    """The code of one kernel, on disk, and the lock of who compiles it."""

    _impl_class = _Storage

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._held: int | None = None
        self.compiled = 0
        self.loaded = 0

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Numba's hook: the code for a signature; None has numba compile it, under a lock."""
        found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if found is None and self._held is None:
            self._acquire()
            found = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            if found is not None:
                self._release()
        self.loaded += found is not None
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Numba's hook, when it has compiled; others may load now."""
        try:
            with suppress(OSError):  # a disk that is full costs time, and no answer
                super().save_overload(sig, data)  # type: ignore[no-untyped-call]
            self.compiled += 1
        finally:
            self._release()

    def _acquire(self) -> None:
        until = time.monotonic() + _LONGEST_WAIT_SECONDS
        with suppress(OSError):
            path = code_folder() / f"{self._impl.filename_base}.lock"
            self._held = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
            while time.monotonic() < until:
                with suppress(BlockingIOError):
                    fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                time.sleep(_LOOK_SECONDS)

    def _release(self) -> None:
        if self._held is not None:
            os.close(self._held)
            self._held = None
