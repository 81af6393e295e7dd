"""The catalog of a request, or else the catalog of the service."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...catalog import EdgeFileError, files_of_stream
from ...catalog.document import CatalogError, from_document, to_document
from ...catalog.model import Catalog, Source, Stream
from ...catalog.sinks import NamedSink
from ...planning.errors import UsageError
from .bodies import StreamDocument
from .store import KeptStream, Store

_UNIT = "second"


class Catalogs:
    """The streams of the service: those put over REST hide those of the catalog file."""

    def __init__(
        self, file_catalog: Catalog | None, store: Store, *, sources: bool = False
    ) -> None:
        """Creates the catalogs of a service.

        Args:
            file_catalog: the catalog of the file, if there is one.
            store: the database with the streams put over REST.
            sources: whether a stream put over REST may have a source.
        """
        self._file_catalog = file_catalog
        self._store = store
        self._sources = sources

    @property
    def time_unit(self) -> str:
        """The unit of bare numbers in streams."""
        return self._file_catalog.time_unit if self._file_catalog is not None else _UNIT

    @property
    def sinks(self) -> Mapping[str, NamedSink]:
        """The named sinks of the catalog file: no request can add one."""
        return {} if self._file_catalog is None else self._file_catalog.sinks

    def kept(self) -> tuple[KeptStream, ...]:
        """Returns all streams by name; streams of the file have version 0 and no source."""
        streams = {
            name: KeptStream(name, 0, self.time_unit, document)
            for name, document in self._of_file().items()
        }
        streams.update({stream.name: stream for stream in self._store.streams()})
        return tuple(streams[name] for name in sorted(streams))

    def in_file(self, name: str) -> bool:
        """Returns whether the catalog file has a stream of this name."""
        return self._file_catalog is not None and name in self._file_catalog.streams

    def put(self, name: str, document: Mapping[str, Any]) -> None:
        """Stores a stream.

        Raises:
            UsageError: if the stream is invalid, or has a source without permission: by default
                only the catalog file names sources.
        """
        if "source" in document and not self._sources:
            raise UsageError(
                "source: only the catalog file of the service may name sources",
                code="E-CATALOG",
                hint="to put sources over HTTP, start the service with --allow-sources",
            )
        catalog = _read({"time_unit": self.time_unit, "streams": {name: document}})
        self._store.put_stream(name, self.time_unit, to_document(catalog)["streams"][name])

    def current(self) -> Catalog | None:
        """Returns the current catalog of the service; None without any stream.

        Raises:
            UsageError: if a stream was put under another time unit.
        """
        kept = self._store.streams()
        if not kept:
            return self._file_catalog
        for stream in kept:
            if stream.time_unit != self.time_unit:
                raise UsageError(
                    f"the stream {stream.name} was put with the time unit {stream.time_unit}, but "
                    f"the service now has {self.time_unit}: put the stream again or delete it",
                    code="E-CATALOG",
                )
        documents = {stream.name: stream.document for stream in kept}
        put = _read({"time_unit": self.time_unit, "streams": documents}).streams
        in_file = self._file_catalog.streams if self._file_catalog is not None else {}
        # A stream put over REST without a source has the source of the file.
        sourced = {
            name: replace(stream, source=in_file[name].source)
            if name in in_file and stream.source is None
            else stream
            for name, stream in put.items()
        }
        # The sample of a stream of the file is not one of the stream that hides it.
        file = self._file_catalog
        sample_file = None if file is None or put.keys() & in_file.keys() else file.sample_file
        return Catalog({**in_file, **sourced}, self.time_unit, sample_file=sample_file)

    def shown(self) -> tuple[StreamDocument, ...]:
        """Returns all streams by name for clients: of sources only the formats."""
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
        in_file = None if self._file_catalog is None else self._file_catalog.streams.get(kept.name)
        return None if in_file is None else in_file.source

    def _of_file(self) -> Mapping[str, Any]:
        if self._file_catalog is None:
            return {}
        streams: dict[str, Any] = to_document(self._file_catalog)["streams"]
        for document in streams.values():
            document.pop("source", None)  # a source has paths, and perhaps passwords
        return streams


def of_request(
    whole: Mapping[str, Any] | None, streams: Mapping[str, Any] | None
) -> Catalog | None:
    """Returns the catalog of a request, without sources and samples.

    Clients cannot name files to read.

    Raises:
        UsageError: if the catalog is invalid, or the request has two catalogs.
    """
    if whole is not None and streams is not None:
        raise UsageError("give either catalog or streams", code="E-CATALOG")
    document = whole if streams is None else {"streams": streams}
    if document is None:
        return None
    catalog = _read(document)
    streams_alone = {n: replace(s, source=None) for n, s in catalog.streams.items()}
    return replace(catalog, streams=streams_alone, sample_file=None, sinks={})


def document_of(catalog: Catalog | None) -> dict[str, Any] | None:
    """Returns the catalog as planning needs it: no sinks, sources only of streams to measure."""
    if catalog is None:
        return None
    streams = {
        name: stream if _measured(stream) else replace(stream, source=None)
        for name, stream in catalog.streams.items()
    }
    return to_document(replace(catalog, streams=streams, sinks={}))


def files_of(catalog: Catalog | None) -> str:
    """Returns a digest of the state of the files to measure; empty text without such files.

    A missing file is a state too: only planning knows whether the query reads the file.
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
