"""Reads and writes catalogs in YAML files; errors name file and line.

Paths in a catalog are relative to the folder of its file, so that a folder of data and catalog can
be moved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from .atomic import write_atomically
from .document import CatalogError, from_document, to_document
from .feedback import beside as feedback_beside
from .model import Catalog, SampleFile, Source, View
from .shape_errors import DocumentPath
from .statistics_document import Line, Lines

SAMPLE_SUFFIX = ".sample.npz"
"""The end of the name of the file of samples, in place of the catalog's ``.yaml``."""


def load(path: str | Path) -> Catalog:
    """Reads a catalog file.

    Raises:
        CatalogError: if the file cannot be read, is not YAML, or is not a valid catalog; the
            message has the file, the line, the place and the expected value.
    """
    try:
        text = Path(path).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise CatalogError(f"{path}: not UTF-8 text") from error
    except OSError as error:
        raise CatalogError(f"{path}: cannot be read: {error.strerror or error}") from error
    folder = Path(path).parent
    catalog = _with_paths(loads(text, str(path)), lambda p: _joined(folder, p))
    views = {name: _read(name, view, str(path)) for name, view in catalog.views.items()}
    catalog = replace(catalog, views=MappingProxyType(views))
    return replace(catalog, feedback=feedback_beside(catalog, Path(path)))


def loads(text: str, origin: str = "catalog") -> Catalog:
    """Reads the text of a catalog; messages call it ``origin``. Errors as :func:`load`."""
    try:
        loader = _Loader(text)
        root = loader.get_single_node()
        document = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{origin}:{mark.line + 1}" if mark else origin
        problem = error.problem or error.context
        ours = isinstance(error, yaml.constructor.ConstructorError)
        reason = problem if ours else f"not YAML: {problem}; look at indentation, colons and quotes"
        raise CatalogError(f"{where}: {reason}") from error
    except (yaml.YAMLError, RecursionError) as error:
        raise CatalogError(f"{origin}: not YAML: {error}") from error
    try:
        return from_document(document)
    except CatalogError as error:
        line = _line(root, error.place)
        place = ".".join(map(str, error.place)) or "the catalog"
        raise CatalogError(f"{origin}:{line}: {place}: {error}", error.place) from error


def dump(catalog: Catalog, path: str | Path) -> None:
    """Writes a catalog file atomically, and a file of its samples, if any, beside it.

    Raises:
        CatalogError: if a file cannot be written.
    """
    target = Path(path)
    if catalog.samples:
        from . import sample

        try:
            beside = sample.write(catalog.samples, target.with_suffix(SAMPLE_SUFFIX))
        except OSError as error:
            raise CatalogError(f"{path}: its sample cannot be written: {error}") from error
        catalog = replace(catalog, sample_file=beside)
    text = dumps(_with_paths(catalog, lambda p: _relative(target.parent, p)))
    try:
        write_atomically(target, text.encode())
    except OSError as error:
        raise CatalogError(f"{path}: cannot be written: {error.strerror or error}") from error


def dumps(catalog: Catalog) -> str:
    """The text of a catalog, with unchanged paths."""
    return yaml.dump(
        to_document(catalog),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        default_flow_style=False,
        width=100,
    )


class _Loader(yaml.SafeLoader):
    """Loads YAML with text keys and without dates; refuses a repeated key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        self.flatten_mapping(node)
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(
                    None, None, "expected text as the name of an entry", key_node.start_mark
                )
            key = key_node.value  # the key's text, since a label may be called `no` or `1`
            if key in mapping:
                raise yaml.constructor.ConstructorError(
                    None, None, f"{key!r} is given twice", key_node.start_mark
                )
            mapping[key] = self.construct_object(value_node, deep=True)
        return mapping


class _Dumper(yaml.SafeDumper):
    """Writes YAML for :class:`_Loader`, with unusual characters escaped, since YAML reads some of
    them as line ends."""

    def represent_text(self, text: str) -> yaml.ScalarNode:
        return self.represent_scalar(
            "tag:yaml.org,2002:str", text, style=None if text.isprintable() else '"'
        )

    def represent_line(self, entry: Line) -> yaml.MappingNode:
        node = self.represent_mapping("tag:yaml.org,2002:map", entry, flow_style=True)
        assert isinstance(node, yaml.MappingNode)
        return node

    def represent_lines(self, entries: Lines) -> yaml.SequenceNode:
        return self.represent_sequence("tag:yaml.org,2002:seq", entries, flow_style=True)

    def ignore_aliases(self, data: Any) -> bool:
        return True


_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_constructor("tag:yaml.org,2002:map", _Loader.construct_mapping)
_Dumper.add_representer(str, _Dumper.represent_text)
_Dumper.add_representer(Line, _Dumper.represent_line)
_Dumper.add_representer(Lines, _Dumper.represent_lines)


def _line(root: yaml.Node | None, place: DocumentPath) -> int:
    """The line of the innermost existing part of ``place``."""
    node, line = root, 1
    for step in place:
        if isinstance(node, yaml.MappingNode):
            entry = next(((k, v) for k, v in node.value if k.value == str(step)), None)
            if entry is None:
                break
            line, node = entry[0].start_mark.line + 1, entry[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int):
            node = node.value[step]
            line = node.start_mark.line + 1
        else:
            break
    return line


def _with_paths(catalog: Catalog, change: Callable[[str], str]) -> Catalog:
    def moved(source: Source) -> Source:
        return replace(
            source,
            path=tuple(map(change, source.path)),
            path_labels=MappingProxyType(
                {change(path): label for path, label in source.path_labels.items()}
            ),
        )

    streams = {
        name: stream if stream.source is None else replace(stream, source=moved(stream.source))
        for name, stream in catalog.streams.items()
    }
    views = {
        name: view if view.file is None else replace(view, file=change(view.file))
        for name, view in catalog.views.items()
    }
    sinks = {
        name: sink if sink.path is None else replace(sink, path=change(sink.path))
        for name, sink in catalog.sinks.items()
    }
    file = catalog.sample_file
    return replace(
        catalog,
        sinks=MappingProxyType(sinks),
        streams=MappingProxyType(streams),
        views=MappingProxyType(views),
        sample_file=None if file is None else SampleFile(change(file.path), file.digest),
    )


def _read(name: str, view: View, catalog: str) -> View:
    """The view with the text of its file."""
    if view.file is None:
        return view
    try:
        return replace(view, query=Path(view.file).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise CatalogError(
            f"{catalog}: views: {name}: {view.file} cannot be read: {reason}", ("views", name)
        ) from error


def _joined(folder: Path, path: str) -> str:
    return path if "://" in path else os.path.normpath(folder / path)


def _relative(folder: Path, path: str) -> str:
    """The path relative to the ``folder`` of a catalog, unless the relative path would lead out of
    the folder and one of the two is absolute."""
    if "://" in path:
        return path
    inside = Path(os.path.abspath(path)).is_relative_to(os.path.abspath(folder))
    if inside or not (os.path.isabs(path) or folder.is_absolute()):
        return os.path.relpath(path, folder)
    return os.path.abspath(path)
