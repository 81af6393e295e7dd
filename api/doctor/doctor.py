"""All checks, in the order in which they are shown."""

from __future__ import annotations

from pathlib import Path

from ...documents.checks import CheckDocument, ChecksDocument, checks_document
from ...planning.calibration import default_file
from . import machine, places, software


def examine(
    *, catalog: Path | None = None, folder: Path | None = None, port: int = 8080
) -> ChecksDocument:
    """Checks this machine; starts a JVM only to print its version.

    Args:
        catalog: a catalog, whose samples and measured figures are checked too.
        folder: the folder for results and checkpoints; the current one by default.
        port: the port of the service.
    """
    checks: list[CheckDocument] = [
        software.python(),
        software.libraries(),
        software.java(),
        software.spark(),
        software.kafka(),
        places.kernel_cache(),
        places.class_archive(),
        places.data_directory(default_file().parent),
        places.constants(),
        places.temporary_files(),
        places.free_space("results", folder or Path.cwd(), "--output and --checkpoint"),
        machine.cores(),
        machine.memory(),
        machine.limits(),
        machine.port(port),
    ]
    if catalog is not None:
        checks += places.beside_catalog(catalog)
    return checks_document(tuple(checks))
