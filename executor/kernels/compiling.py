"""Compiles kernels once each, into a cache on disk.

In: the functions of this folder. Out: dispatchers of numba whose machine code is cached in

1. ``NUMBA_CACHE_DIR``, if that is set and can be written to;
2. the ``__pycache__`` beside the sources, if that can be written to;
3. the user's cache folder, and at last a folder of the user's own among temporary files.

Numba checks only the source file of a kernel, not the files of functions that were inlined into it.
So the version of the cache is a hash of all source files, and each version has its own folder. A
container image holds the cache in ``__pycache__``, written by ``headrace warm`` and read-only
later. It is copied to a writable folder, since another processor needs its own code.

If several processes need a kernel at the same time, the first locks and compiles it, and the others
wait and load its code. Uses numba's ``caching`` and ``event`` of ``numba.core`` (0.61 and later).
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
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from platformdirs import user_cache_path

SOURCES: Final = Path(__file__).parent
_NAME: Final = "headrace-kernels"
_VERSIONS: Final = 3
"""The number of versions in the cache."""
_LONGEST_WAIT_SECONDS: Final = 600.0
"""The longest wait for the lock of another process, which may hang; then this one compiles too."""
_LOOK_SECONDS: Final = 0.05

_COMPILATION: Final = event.TimingListener()  # type: ignore[no-untyped-call]
"""Measures the time for which this process holds numba's lock, to load or to compile a kernel."""
event.register("numba:compiler_lock", _COMPILATION)  # type: ignore[no-untyped-call]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def kernel(function: _Function) -> _Function:
    """Compiles a function of this folder at its first call.

    A kernel allocates nothing, and its caller holds its arrays. So numba need not count references
    (``_nrt``), which would take a fourth of the time of a function with a named tuple of arrays.
    """
    options: dict[str, Any] = {"_nrt": False}
    dispatcher: Any = njit(**options)(function)
    dispatcher._cache = KernelCache(function)
    return dispatcher


def seconds_compiling() -> float:
    """The seconds that this process has spent so far in compiling and loading kernels."""
    return float(_COMPILATION.duration) if _COMPILATION.done else 0.0


@cache
def version() -> str:
    """A hash of the sources of all kernels."""
    digest = hashlib.sha256()
    for source in sorted(SOURCES.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def code_folder() -> Path:
    """The folder of the cache of machine code, shared with other processes."""
    beside = SOURCES / "__pycache__"
    folder = next(own for own in _places() if _is_writable(own / version()))
    if folder != beside:
        _seed(beside / version(), folder / version())
    _forget_versions(folder)
    return folder / version()


def _places() -> Iterator[Path]:
    """Candidate folders for the cache of all versions, the best first."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        yield Path(chosen) / _NAME
    yield SOURCES / "__pycache__"
    of_user = user_cache_path("headrace") / _NAME
    temporary = Path(tempfile.gettempdir()) / f"{_NAME}-{os.getuid()}"
    yield from filter(_is_private, (of_user, temporary))
    yield Path(tempfile.mkdtemp(prefix=f"{_NAME}-"))


def _is_private(folder: Path) -> bool:
    """Creates a folder, and checks that only this user can write to it: its code is executed."""
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
    """Copies the code beside the sources into another folder, except for existing files."""
    for file in sorted(built.glob("*.nb[ci]")):  # data before the index that names it
        own = folder / file.name
        if not own.exists():
            with suppress(OSError):
                aside = folder / f"{file.name}.{os.getpid()}"
                shutil.copyfile(file, aside)
                os.replace(aside, own)


def _forget_versions(folder: Path) -> None:
    """Removes old versions of the code; keeps a few, which another Headrace may still use."""
    kept = sorted(
        (other for other in folder.glob("[0-9a-f]" * 16) if other.is_dir()),
        key=lambda other: other.stat().st_mtime_ns,
    )
    for other in kept[:-_VERSIONS]:
        if other.name != version():
            shutil.rmtree(other, ignore_errors=True)


class _Locator:
    """The place of one kernel's code, for numba (``numba.core.caching._CacheLocator``)."""

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
        """Numba's hook: cached code is valid if the stamp is unchanged."""
        return version()

    def get_disambiguator(self) -> str:
        """Numba's hook: distinguishes functions of the same name."""
        return str(self._line)


class _Storage(CompileResultCacheImpl):
    _locator_classes: list[type[object]] = [_Locator]  # noqa: RUF012 - as numba has it


class KernelCache(FunctionCache):
    """The cache of one kernel's code, with a lock for the process that compiles it."""

    _impl_class = _Storage

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._held: int | None = None
        self.compiled = 0
        self.loaded = 0

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Numba's hook: the code for a signature; after None numba compiles it, under the lock."""
        code = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        if code is None and self._held is None:
            self._acquire()
            code = super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
            if code is not None:
                self._release()
        self.loaded += code is not None
        return code

    def save_overload(self, sig: Any, data: Any) -> None:
        """Numba's hook after it has compiled: stores the code and releases the lock."""
        try:
            with suppress(OSError):  # with a full disk the kernel runs, and is compiled again later
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
