"""The oracle's own form of a Regular Query, and how it prints itself as RQ text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from tests.oracles.conditions import Compare
from tests.oracles.conditions import text as condition_text
from tests.oracles.roots import Agg, Column, Emit, First, column_text, emit_text, first_text

Vertex = str | int


# --- path regexes ---------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """One edge of a label (or derived predicate), forwards.

    ``tests`` hold of it, where a property is that of the edge ``_``.
    """

    label: str
    tests: tuple[Compare, ...] = ()


@dataclass(frozen=True)
class AnyBut:
    """One edge of any label except some, forwards or backwards; None excludes a direction."""

    forwards: tuple[str, ...] | None = ()
    backwards: tuple[str, ...] | None = None
    tests: tuple[Compare, ...] = ()


@dataclass(frozen=True)
class Back:
    """``^r``: the same paths, walked from their end to their start."""

    part: Regex


@dataclass(frozen=True)
class Seq:
    """One part after the other."""

    parts: tuple[Regex, ...]


@dataclass(frozen=True)
class Alt:
    """One of the parts."""

    parts: tuple[Regex, ...]


@dataclass(frozen=True)
class Repeat:
    """``least`` to ``most`` times; ``most`` None means any number."""

    part: Regex
    least: int
    most: int | None


Regex = Step | AnyBut | Back | Seq | Alt | Repeat


def star(part: Regex) -> Regex:
    """``r*``."""
    return Repeat(part, 0, None)


def plus(part: Regex) -> Regex:
    """``r+``."""
    return Repeat(part, 1, None)


def maybe(part: Regex) -> Regex:
    """``r?``."""
    return Repeat(part, 0, 1)


def steps(regex: Regex) -> Iterator[str]:
    """The labels in a regex, with repeats; those of ``AnyBut`` depend on a snapshot."""
    match regex:
        case Step(label):
            yield label
        case AnyBut():
            return
        case Back(part) | Repeat(part):
            yield from steps(part)
        case Seq(parts) | Alt(parts):
            for part in parts:
                yield from steps(part)


# --- rules ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Var:
    """A variable; the name ``_`` is a fresh one each time."""

    name: str


@dataclass(frozen=True)
class Const:
    """A vertex."""

    value: Vertex


Term = Var | Const


@dataclass(frozen=True)
class Atom:
    """``label(source, target) as edge``."""

    label: str
    source: Term
    target: Term
    edge: str | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """The source and the target."""
        return self.source, self.target


Choice = Step | AnyBut | Back
"""A label of an edge, or any but some; walked backwards if it is ``Back``."""


@dataclass(frozen=True)
class AnyOf:
    """``(a|^b)[tests](source, target) as edge``: an edge of the input of one of several labels.

    ``tests`` hold of it, where a property is that of the edge ``_``; the choices have none.
    """

    choices: tuple[Choice, ...]
    source: Term
    target: Term
    edge: str | None = None
    tests: tuple[Compare, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """The source and the target."""
        return self.source, self.target


@dataclass(frozen=True)
class Closure:
    """``label+(source, target) as alias``: at least one step of a label."""

    label: str
    source: Term
    target: Term
    sign: str = "+"
    alias: str | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """The source and the target."""
        return self.source, self.target


@dataclass(frozen=True)
class PathAtom:
    """``source regex target as path``, of any path, a shortest one, or all shortest ones.

    ``over`` has a term for a vertex of the path, or two for the ends of a step.
    """

    regex: Regex
    source: Term
    target: Term
    path: str | None = None
    shortest: Literal["shortest", "all shortest"] | None = None
    over: tuple[Term, ...] = ()

    @property
    def terms(self) -> tuple[Term, ...]:
        """The source and the target, and the terms of a member."""
        return self.source, self.target, *self.over


@dataclass(frozen=True)
class Is:
    """``label(vertex) as row``: a vertex of a label of vertices."""

    label: str
    vertex: Term
    row: str | None = None

    @property
    def source(self) -> Term:
        """The vertex."""
        return self.vertex

    @property
    def target(self) -> Term:
        """The vertex."""
        return self.vertex

    @property
    def terms(self) -> tuple[Term, ...]:
        """The vertex, as source and as target."""
        return self.vertex, self.vertex


@dataclass(frozen=True)
class Derived:
    """``predicate(terms)``: a row of a derived predicate of any number of vertices and values."""

    predicate: str
    terms: tuple[Term, ...]


BodyAtom = Atom | AnyOf | Closure | PathAtom | Is | Derived


def with_terms(atom: BodyAtom, new: Callable[[Term], Term]) -> BodyAtom:
    """The atom with other terms."""
    if isinstance(atom, Is):
        return replace(atom, vertex=new(atom.vertex))
    if isinstance(atom, Derived):
        return replace(atom, terms=tuple(map(new, atom.terms)))
    return replace(atom, source=new(atom.source), target=new(atom.target))


@dataclass(frozen=True)
class Not:
    """``not {body, conditions, negated}``: its variables that are not of the rule are its own."""

    body: tuple[BodyAtom, ...]
    conditions: tuple[Compare, ...] = ()
    negated: tuple[Not, ...] = ()
    different: tuple[int, int] | None = None


@dataclass(frozen=True)
class Optional:
    """``optional {body, optional, conditions, negated}``: without a match, its variables that are
    not of the rule have no value."""

    body: tuple[BodyAtom, ...]
    conditions: tuple[Compare, ...] = ()
    negated: tuple[Not, ...] = ()
    optional: tuple[Optional, ...] = ()


@dataclass(frozen=True)
class Rule:
    """``head(variables) <- body, optional, conditions, negated``; ``properties`` say what the other
    columns are. All edges that the atoms from ``different[0]`` on and before ``different[1]`` match
    differ. ``first`` of any rule of a head is that of the head, by the rule's names of columns."""

    head: str
    variables: tuple[str, ...]
    body: tuple[BodyAtom, ...]
    conditions: tuple[Compare, ...] = ()
    properties: tuple[tuple[str, Column], ...] = ()
    negated: tuple[Not, ...] = ()
    optional: tuple[Optional, ...] = ()
    different: tuple[int, int] | None = None
    first: First | None = None

    @property
    def aggregates(self) -> bool:
        """Whether a column is an aggregate."""
        return any(isinstance(of, Agg) for _, of in self.properties)


@dataclass(frozen=True)
class Source:
    """Where the edges of a label come from, and their window; ``stored`` ones have none."""

    stream: str
    range: int
    slide: int = 1
    stored: bool = False


Paths = Literal["arbitrary", "simple", "trail"]


@dataclass(frozen=True)
class Query:
    """The rules for ``Answer`` and its predicates; ``sources`` are (label, source) pairs.

    ``properties`` are the types of the properties of all edges and vertices, ``vertices`` the
    labels that are of vertices: their rows are edges from the vertex to itself. ``paths`` says
    whether a path may repeat vertices and edges, which the text does not say.
    """

    rules: tuple[Rule, ...]
    sources: tuple[tuple[str, Source], ...]
    properties: tuple[tuple[str, str], ...] = ()
    vertices: tuple[str, ...] = ()
    paths: Paths = "arbitrary"
    emit: Emit | None = None

    @property
    def source(self) -> Mapping[str, Source]:
        """The source of each input label."""
        return dict(self.sources)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns of the answer."""
        return next(rule.variables for rule in self.rules if rule.head == "Answer")

    def __str__(self) -> str:
        return text(self)


# --- RQ text --------------------------------------------------------------------------


def text(query: Query) -> str:
    """The query in the native language.

    One window for all labels is written without ``ON``; streams that have windows of
    their own with it, and labels apart from their stream with a list of labels.
    """
    rules = [f"{r.head}({_columns(r)}) <- {_body(r)}{_first(r)}." for r in query.rules]
    emit = [] if query.emit is None else [emit_text(query.emit)]
    return "\n".join([*rules, *_windows(query.source), *emit])


def _columns(rule: Rule) -> str:
    properties = dict(rule.properties)
    return ", ".join(
        f"{column_text(properties[name])} as {name}" if name in properties else name
        for name in rule.variables
    )


def _first(rule: Rule) -> str:
    return "" if rule.first is None else f" {first_text(rule.first)}"


Body = Rule | Not | Optional


def optional_in(of: Body) -> tuple[Optional, ...]:
    """The optional parts of a body."""
    return () if isinstance(of, Not) else of.optional


def different_in(of: Body) -> tuple[int, int] | None:
    """The atoms of a body whose edges differ."""
    return None if isinstance(of, Optional) else of.different


def _body(of: Body) -> str:
    atoms = [*map(_atom, of.body)]
    different = different_in(of)
    whole = different == (0, len(atoms))
    if different is not None and not whole:
        begin, end = different
        group = f"({', '.join(atoms[begin:end])} DIFFERENT EDGES)"
        atoms[begin:end] = [group]
    parts = [*atoms, *(_part("optional", part) for part in optional_in(of))]
    parts += [*map(condition_text, of.conditions), *(_part("not", part) for part in of.negated)]
    return ", ".join(parts) + " DIFFERENT EDGES" * whole


def _part(word: str, part: Not | Optional) -> str:
    """An atom alone has no braces, except an edge of several labels, which has parentheses."""
    text = _body(part)
    inner = (*part.conditions, *part.negated, *optional_in(part), *(different_in(part) or ()))
    alone = len(part.body) == 1 and not inner
    return f"{word} {text}" if alone and text[0] not in "(_!" else f"{word} {{{text}}}"


def atoms_of(of: Body) -> Iterator[BodyAtom]:
    """The atoms of a rule, those of its negated and optional parts among them."""
    yield from of.body
    parts: tuple[Body, ...] = (*of.negated, *optional_in(of))
    for part in parts:
        yield from atoms_of(part)


def _atom(atom: BodyAtom) -> str:
    match atom:
        case Atom(label, source, target, edge):
            plain = f"{label}({_term(source)}, {_term(target)})"
            return f"{plain} as {edge}" if edge else plain
        case AnyOf(choices, source, target, edge, tests):
            shown = [regex_text(choice) for choice in choices]
            plain_one = len(shown) == 1 and "^" not in shown[0] and "!" not in shown[0]
            label = shown[0] if plain_one else f"({'|'.join(shown)})"
            plain = f"{label}{_tests(tests)}({_term(source)}, {_term(target)})"
            return f"{plain} as {edge}" if edge else plain
        case Is(label, vertex, row):
            plain = f"{label}({_term(vertex)})"
            return f"{plain} as {row}" if row else plain
        case Derived(predicate, terms):
            return f"{predicate}({', '.join(map(_term, terms))})"
        case Closure(label, source, target, sign, alias):
            closure = f"{label}{sign}({_term(source)}, {_term(target)})"
            return f"{closure} as {alias}" if alias else closure
        case PathAtom(regex, source, target, path, shortest, over):
            which = f"{shortest} " if shortest else ""
            plain = f"{which}{_term(source)} {regex_text(regex)} {_term(target)}"
            members = f" over {' -> '.join(map(_term, over))}" if over else ""
            return f"{plain} as {path}{members}" if path else plain + members


def _term(term: Term) -> str:
    match term:
        case Var(name):
            return name
        case Const(int() as value):
            return str(value)
        case Const(value):
            escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
            return f'"{escaped}"'


def regex_text(regex: Regex) -> str:
    """A regex, with parentheses wherever it would be ambiguous."""
    match regex:
        case Step(label, tests):
            return label + _tests(tests)
        case AnyBut((), None, tests):
            return "_" + _tests(tests)
        case AnyBut(forwards, backwards, tests):
            but = [*(forwards or ()), *(f"^{label}" for label in backwards or ())]
            return f"!({'|'.join(but)})" + _tests(tests)
        case Back(Step() | AnyBut() as step):
            return f"^{regex_text(step)}"
        case Back(part):
            return f"^({regex_text(part)})"
        case Seq(parts):
            return "/".join(_closed(p) if isinstance(p, Alt) else regex_text(p) for p in parts)
        case Alt(parts):
            return "|".join(regex_text(p) for p in parts)
        case Repeat(part, least, most):
            return f"{_closed(part)}{_times(least, most)}"


def _tests(tests: tuple[Compare, ...]) -> str:
    shown = " and ".join(map(condition_text, tests)).replace("_.", "")
    return f"[{shown}]" if tests else ""


def _closed(regex: Regex) -> str:
    return regex_text(regex) if isinstance(regex, Step | AnyBut) else f"({regex_text(regex)})"


def _times(least: int, most: int | None) -> str:
    match least, most:
        case 0, None:
            return "*"
        case 1, None:
            return "+"
        case 0, 1:
            return "?"
        case _ if least == most:
            return f"{{{least}}}"
        case _:
            return f"{{{least},{'' if most is None else most}}}"


def _windows(sources: Mapping[str, Source]) -> Iterator[str]:
    sources = {label: source for label, source in sources.items() if not source.stored}
    windows = {(source.range, source.slide) for source in sources.values()}
    if not windows:
        return
    if len(windows) == 1:
        yield _window(*windows.pop())
        return
    labels_of: dict[str, dict[tuple[int, int], list[str]]] = defaultdict(lambda: defaultdict(list))
    for label, source in sorted(sources.items()):
        labels_of[source.stream][source.range, source.slide].append(label)
    for stream, by_window in sorted(labels_of.items()):
        for window, labels in by_window.items():
            which = f" ({', '.join(labels)})" if len(by_window) > 1 else ""
            yield f"ON {stream}{which} {_window(*window)}"


def _window(length: int, slide: int) -> str:
    return f"WINDOW {length}" if slide == 1 else f"WINDOW {length} SLIDE {slide}"
