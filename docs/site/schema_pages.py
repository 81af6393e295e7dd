"""Sphinx directives that document JSON schemas, and references to what has no page of its own.

``json-schema`` documents a JSON schema with its definitions, ``openapi`` the operations and
schemas of an OpenAPI document. Both take a path from the root of the repository.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import headrace

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

METHODS = ("get", "put", "post", "delete")
_CODE = re.compile(r":\w+:`[^`]+`|``.+?``|`([^`]+)`")
"""A role, code, and code as in Markdown, of which the descriptions of OpenAPI have some."""

_ENTRY = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


class _SchemaDirective(SphinxDirective):
    """A directive that writes reStructuredText about a JSON file."""

    required_arguments = 1
    has_content = False

    def run(self) -> list[nodes.Node]:
        """Returns the sections of the document."""
        path = Path(self.env.srcdir, self.arguments[0])
        self.env.note_dependency(str(path))
        text = "\n".join(self.lines(json.loads(path.read_text("utf-8")), path.stem))
        text = _CODE.sub(lambda code: f"``{code[1]}``" if code[1] else code[0], text)
        return self.parse_text_to_nodes(text, allow_section_headings=True)

    def lines(self, document: Mapping[str, Any], prefix: str) -> Iterator[str]:
        """Yields the lines of the text; ``prefix`` begins the names of its labels."""
        raise NotImplementedError


class JsonSchema(_SchemaDirective):
    """Documents a JSON schema: the document itself, then each definition."""

    def lines(self, document: Mapping[str, Any], prefix: str) -> Iterator[str]:
        """Yields a section for the document and for each of its definitions."""
        yield from _schema(document["title"], document, prefix)
        for name, schema in sorted(document["$defs"].items()):
            yield from _schema(name, schema, prefix)


class OpenApi(_SchemaDirective):
    """Documents the operations of a service, then the schemas of their documents."""

    def lines(self, document: Mapping[str, Any], prefix: str) -> Iterator[str]:
        """Yields a section for each operation and each schema."""
        yield from _title("Operations", "-")
        for path, operations in document["paths"].items():
            for method in METHODS:
                if method in operations:
                    yield from _operation(f"{method.upper()} {path}", operations[method], prefix)
        yield from _title("Documents", "-")
        for name, schema in sorted(document["components"]["schemas"].items()):
            yield from _schema(name, schema, prefix)


def _title(text: str, line: str) -> Iterator[str]:
    yield from ("", text, line * len(text), "")


def _operation(name: str, operation: Mapping[str, Any], prefix: str) -> Iterator[str]:
    yield from _title(name, "~")
    yield from (f"{operation['summary']}.", "", operation.get("description", ""), "")
    body = operation.get("requestBody")
    if body:
        contents = body["content"].values()
        yield from (f"Takes {_types((c['schema'] for c in contents), prefix)}.", "")
    for status, response in operation["responses"].items():
        if status.startswith("2"):
            contents = response.get("content", {})
            returned = (
                f"{_type(content.get('schema', {}), prefix)} as ``{kind}``"
                for kind, content in contents.items()
            )
            yield from (f"Returns {status}: {' or '.join(returned) or 'no content'}.", "")
    refused = (status for status in operation["responses"] if not status.startswith("2"))
    yield from (f"Errors: {', '.join(refused)}.", "")
    rows = [
        (
            f"``{parameter['name']}``",
            parameter["in"],
            _type(parameter["schema"], prefix),
            _default(parameter["schema"], required=parameter.get("required", False)),
            parameter.get("description", ""),
        )
        for parameter in operation.get("parameters", [])
    ]
    yield from _table(("parameter", "in", "type", "default", "meaning"), rows)


def _schema(name: str, schema: Mapping[str, Any], prefix: str) -> Iterator[str]:
    """The section of a schema; its docstring may describe the fields."""
    yield from ("", f".. _{prefix}-{name.replace(' ', '-')}:")
    yield from _title(name, "~")
    text, _, fields = schema.get("description", "").partition("Attributes:\n")
    meanings = {field: " ".join(said.split()) for field, said in _ENTRY.findall(fields)}
    yield from (text, "")
    if "properties" not in schema:
        yield from (f"Type: {_type(schema, prefix)}.", "")
        return
    required = schema.get("required", [])
    rows = [
        (
            f"``{field}``",
            _type(of, prefix),
            _default(of, required=field in required),
            of.get("description") or meanings.get(field, ""),
        )
        for field, of in schema["properties"].items()
    ]
    yield from _table(("field", "type", "default", "meaning"), rows)


def _default(schema: Mapping[str, Any], *, required: bool) -> str:
    if required:
        return "required"
    return f"``{json.dumps(schema['default'])}``" if "default" in schema else ""


def _types(schemas: Iterator[Mapping[str, Any]], prefix: str) -> str:
    return " or ".join(dict.fromkeys(_type(schema, prefix) for schema in schemas))


def _type(schema: Mapping[str, Any], prefix: str) -> str:
    """A type in words, with a reference to the section of a definition."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f":ref:`{name} <{prefix}-{name}>`"
    if "const" in schema:
        return f"``{json.dumps(schema['const'])}``"
    if "enum" in schema:
        return ", ".join(f"``{json.dumps(value)}``" for value in schema["enum"])
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return _types(schema[key], prefix)
    kind = schema.get("type", "any value")
    if kind == "array":
        inner = schema.get("items") or {}
        if "prefixItems" in schema:
            return f"array of {', '.join(_type(item, prefix) for item in schema['prefixItems'])}"
        return f"array of {_type(inner, prefix)}"
    values = schema.get("additionalProperties")
    if kind == "object" and isinstance(values, dict):
        return f"object of {_type(values, prefix)}"
    return str(kind)


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    if not rows:
        return
    yield from (".. list-table::", "   :header-rows: 1", "")
    for row in (header, *rows):
        for position, cell in enumerate(row):
            yield f"   {'*' if position == 0 else ' '} - {' '.join(cell.split())}"
    yield ""


def refer(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, shown: nodes.Element
) -> nodes.Element | None:
    """Resolves a reference to a Python object that has no page under the name it was given.

    A public name becomes a link. A name that exists, of the inside of Headrace or of another
    library, is shown as code. Any other name is left unresolved, which is a warning.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    first, _, rest = target.rpartition("headrace.")[2].partition(".")
    last = target.rpartition(".")[2]
    for public in (f"{first}.{rest}" if rest else first, last):
        if public.partition(".")[0] in headrace.__all__:
            python = env.domains["py"]
            document = str(node["refdoc"])
            arguments = (env, document, app.builder, "obj", f"headrace.{public}", node, shown)
            found = python.resolve_xref(*arguments)
            if found is not None:
                return found
    names = [target, f"{node.get('py:module')}.{target}"]
    if isinstance(node.get("py:class"), str):
        names.append(f"{node.get('py:module')}.{node['py:class']}.{target}")
        home = getattr(headrace, node["py:class"].partition(".")[0], None)
        names.append(f"{getattr(home, '__module__', 'headrace')}.{target}")
    known = hasattr(builtins, target) or target in _annotating() or any(map(_exists, names))
    return shown if known else None


@cache
def _annotating() -> frozenset[str]:
    """The names that loaded modules of Headrace define or import, if only for annotations."""
    names: set[str] = set()
    for module in [module for name, module in sys.modules.items() if name.startswith("headrace.")]:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.ImportFrom):
                names.update(alias.asname or alias.name for alias in node.names)
            elif isinstance(node, ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names.update(target.id for target in targets if isinstance(target, ast.Name))
    return frozenset(names)


def _exists(name: str) -> bool:
    """Whether a dotted name is a module, or an attribute of one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            value: object = import_module(".".join(parts[:end]))
        except (ImportError, ValueError):
            continue
        for part in parts[end:]:
            annotations = getattr(value, "__annotations__", {})
            if part not in annotations and not hasattr(value, part):
                return False
            value = getattr(value, part, None)
        return True
    return False


def add_contents(_app: Sphinx, document: str, source: list[str]) -> None:
    """Adds the table of contents to the README, which code hosts show without one."""
    if document == "README":
        contents = Path(__file__).with_name("contents.txt").read_text("utf-8")
        source[0] += f"\n```{{eval-rst}}\n{contents}```\n"


def add_index(app: Sphinx, error: Exception | None) -> None:
    """Leads ``index.html``, the page that a web server shows first, to the README."""
    if error is None and app.builder.format == "html":
        go = '<!doctype html><meta http-equiv="refresh" content="0; url=README.html">'
        Path(app.outdir, "index.html").write_text(f"{go}<title>Headrace</title>\n", "utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the directives and the handlers with Sphinx."""
    app.add_directive("json-schema", JsonSchema)
    app.add_directive("openapi", OpenApi)
    app.connect("missing-reference", refer)
    app.connect("source-read", add_contents)
    app.connect("build-finished", add_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
