"""``headrace warm``: compiles all kernels, so that no query waits for it."""

from __future__ import annotations

from ...planning.errors import RunError
from .. import options as opt
from ..console import say


def warm(*, debug: opt.Debug = False) -> None:
    """Compile the inner loops of all operators now, and keep them for later runs."""
    from ...running.warming import warm as compile_all

    say("compiling: without a cache this takes a minute or two")
    done = compile_all()
    say(
        f"{done.compiled} kernels compiled, {done.loaded} loaded, in {done.seconds:.1f} s; "
        f"kept in {done.folder}"
    )
    if done.left:
        raise RunError(
            f"no machine code could be stored for {', '.join(done.left)}",
            hint=f"check that {done.folder} is writable and has space",
        )
