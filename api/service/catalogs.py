"""The catalog that a request is planned over: its own, or that of the service."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...catalog import EdgeFileError, files_of_stream
from ...catalog.document import CatalogError, from_document, to_document
from ...catalog.model import Catalog, Source, Stream
from ...planning.errors import UsageError
from .bodies import StreamDocument
from .store import KeptStream, Store

_UNIT = "second"


class Catalogs:
    """The catalog of the file, and the streams put over REST, which take precedence."""

    def __init__(self, given: Catalog | None, store: Store, *, sources: bool = False) -> None:
        """With ``sources`` a stream that is put may have a source."""
        self._given = given
        self._store = store
        self._sources = sources

    @property
    def time_unit(self) -> str:
        """The unit of bare numbers in streams."""
        return self._given.time_unit if self._given is not None else _UNIT

    def kept(self) -> tuple[KeptStream, ...]:
        """All streams by name; those of the file have the version 0, and no source is told."""
        found = {
            name: KeptStream(name, 0, self.time_unit, document)
            for name, document in self._of_file().items()
        }
        found.update({stream.name: stream for stream in self._store.streams()})
        return tuple(found[name] for name in sorted(found))

    def in_file(self, name: str) -> bool:
        """Whether the catalog's file has a stream of this name."""
        return self._given is not None and name in self._given.streams

    def put(self, name: str, document: Mapping[str, Any]) -> None:
        """Stores a stream.

        Raises:
            UsageError: if it is none, or names a source and may not: what is read here is told
                by the catalog's file alone, unless the service was started otherwise.
        """
        if "source" in document and not self._sources:
            raise UsageError(
                "source: what is read is said by the catalog of the service, not over HTTP",
                code="E-CATALOG",
                hint="a service that is started with --allow-sources takes it",
            )
        catalog = _read({"time_unit": self.time_unit, "streams": {name: document}})
        self._store.put_stream(name, self.time_unit, to_document(catalog)["streams"][name])

    def current(self) -> Catalog | None:
        """The current catalog of the service; None without any stream.

        Raises:
            UsageError: if a stream was kept when numbers were in another unit.
        """
        kept = self._store.streams()
        if not kept:
            return self._given
        for stream in kept:
            if stream.time_unit != self.time_unit:
                raise UsageError(
                    f"the stream {stream.name} was put when numbers were in {stream.time_unit}s, "
                    f"and now they are in {self.time_unit}s: put it again or delete it",
                    code="E-CATALOG",
                )
        documents = {stream.name: stream.document for stream in kept}
        put = _read({"time_unit": self.time_unit, "streams": documents}).streams
        given = self._given.streams if self._given is not None else {}
        # What it is, is as it was put; where it is read is as the file says, unless that was put.
        sourced = {
            name: replace(stream, source=given[name].source)
            if name in given and stream.source is None
            else stream
            for name, stream in put.items()
        }
        return Catalog({**given, **sourced}, self.time_unit)

    def shown(self) -> tuple[StreamDocument, ...]:
        """All streams by name, as clients see them: of sources they see the formats."""
        return tuple(
            StreamDocument(
                name=kept.name,
                version=kept.version,
                time_unit=kept.time_unit,
                source=None if (source := self._source(kept)) is None else source.format,
                live=source is not None and source.live,
                stream={k: v for k, v in kept.document.items() if k != "source"},
            )
            for kept in self.kept()
        )

    def _source(self, kept: KeptStream) -> Source | None:
        if "source" in kept.document:
            own = _read({"time_unit": kept.time_unit, "streams": {kept.name: kept.document}})
            return own.streams[kept.name].source
        given = None if self._given is None else self._given.streams.get(kept.name)
        return None if given is None else given.source

    def _of_file(self) -> Mapping[str, Any]:
        if self._given is None:
            return {}
        streams: dict[str, Any] = to_document(self._given)["streams"]
        for document in streams.values():
            document.pop("source", None)  # paths, and perhaps passwords
        return streams


def of_request(
    whole: Mapping[str, Any] | None, streams: Mapping[str, Any] | None
) -> Catalog | None:
    """The request's own catalog, without its sources: a client cannot have files read here.

    Raises:
        UsageError: if it is none, or there are two.
    """
    if whole is not None and streams is not None:
        raise UsageError("catalog and streams: give one of them", code="E-CATALOG")
    given = whole if streams is None else {"streams": streams}
    if given is None:
        return None
    catalog = _read(given)
    return replace(
        catalog, streams={n: replace(s, source=None) for n, s in catalog.streams.items()}
    )


def document_of(catalog: Catalog | None) -> dict[str, Any] | None:
    """What planning has to know: sources are there only where statistics are measured."""
    if catalog is None:
        return None
    streams = {
        name: stream if _measured(stream) else replace(stream, source=None)
        for name, stream in catalog.streams.items()
    }
    return to_document(replace(catalog, streams=streams))


def files_of(catalog: Catalog | None) -> str:
    """A digest of the state of the files in which statistics are measured; nothing for none.

    A file that cannot be found is a state as others: only who plans knows whether it is read.
    """
    measured = [s for s in catalog.streams.values() if _measured(s)] if catalog else []
    if catalog is None or not measured:
        return ""
    digest = hashlib.sha256()
    for stream in measured:
        try:
            for file in files_of_stream(stream, catalog.time_unit):
                state = Path(file.path).stat()
                digest.update(f"{file.path}\0{state.st_size}\0{state.st_mtime_ns}\0".encode())
        except (EdgeFileError, OSError) as error:
            digest.update(f"{stream.name}\0{error}\0".encode(errors="backslashreplace"))
    return digest.hexdigest()


def _measured(stream: Stream) -> bool:
    return stream.source is not None and not stream.labels and not stream.live


def _read(document: Mapping[str, Any]) -> Catalog:
    try:
        return from_document(document)
    except CatalogError as error:
        place = ".".join(map(str, error.place))
        raise UsageError(f"{place or 'catalog'}: {error}", code="E-CATALOG") from error
