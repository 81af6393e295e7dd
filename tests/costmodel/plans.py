"""Plans built by hand, costed without optimizer or memo (thesis 6.5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from headrace.algebra import physical, regex
from headrace.algebra.automaton import minimal_dfa
from headrace.algebra.logical import LogicalExpression, Path, Pattern, WScan
from headrace.algebra.window import Window
from headrace.catalog import Catalog, LabelStatistics, Stream
from headrace.costmodel import Characteristics, CostModel

RATES = {"a": 2000.0, "b": 4000.0, "c": 6000.0, "d": 8000.0}
WINDOW = Window(100)


def catalog(values: float = 1e6, longest_path: int | None = 3) -> Catalog:
    labels = {
        label: LabelStatistics(rate, values, values, values, longest_path=longest_path)
        for label, rate in RATES.items()
    }
    return Catalog({"s": Stream("s", labels)})


def scan(label: str) -> LogicalExpression:
    return LogicalExpression(WScan("s", label, WINDOW))


def path(text: str, *inputs: LogicalExpression) -> LogicalExpression:
    """``path("(0·1)+", a, b)``: digits are inputs, of ``·`` and one outer ``+`` only."""
    closed = text.startswith("(") and text.endswith(")+")
    steps = regex.concat(regex.Symbol(int(c)) for c in text if c.isdigit())
    return LogicalExpression(Path(regex.plus(steps) if closed else steps), inputs)


def then(left: LogicalExpression, right: LogicalExpression) -> LogicalExpression:
    """The PATTERN of a concatenation."""
    return LogicalExpression(Pattern(((0, 1), (1, 2)), (0, 2)), (left, right))


@dataclass(frozen=True)
class Costed:
    characteristics: Characteristics
    total: float


def costed(model: CostModel, expression: LogicalExpression) -> Costed:
    """The sum of the costs of the physical operators that implement an expression."""
    inputs = [costed(model, i) for i in expression.inputs]
    characteristics = tuple(i.characteristics for i in inputs)
    output = model.characteristics(expression.operator, characteristics)
    own = model.cost(implementation(expression), output, characteristics)
    return Costed(output, own + sum(i.total for i in inputs))


def implementation(expression: LogicalExpression) -> physical.PhysicalOperator:
    match expression.operator:
        case WScan(stream, label, None):
            return physical.WindowScan(stream, label, None, None)
        case WScan(stream, label, Window() as window):
            return physical.WindowScan(stream, label, window.range, window.slide)
        case Pattern((left, right), output):
            return physical.HashJoin((left, right), output)
        case Path(expr):
            dfa = minimal_dfa(expr).with_fresh_start()
            return physical.SPath(dfa.states, dfa.transitions, dfa.accepting)
        case other:
            raise AssertionError(f"no implementation of {other}")


@dataclass(frozen=True)
class Star:
    """A join tree over atoms of the star query, with the variables it binds."""

    name: str
    variables: tuple[str, ...]
    expression: LogicalExpression


STAR_ATOMS = {"a": ("v", "s1"), "b": ("v", "v2"), "c": ("v", "v3"), "d": ("v", "t")}
"""R(s1, t) <- a(v, s1), b(v, v2), c(v, v3), d(v, t)."""


def star_join(left: Star, right: Star, *, root: bool) -> Star:
    number: dict[str, int] = {}
    for variable in left.variables + right.variables:
        number.setdefault(variable, len(number))
    kept = ("s1", "t") if root else tuple(v for v in number if v in ("v", "s1", "t"))
    pattern = Pattern(
        (tuple(number[v] for v in left.variables), tuple(number[v] for v in right.variables)),
        tuple(number[v] for v in kept),
    )
    expression = LogicalExpression(pattern, (left.expression, right.expression))
    return Star(f"({left.name} {right.name})", kept, expression)


def star_plans(labels: str = "abcd") -> list[Star]:
    """All ordered join trees over the atoms: 120 for four of them."""
    if len(labels) == 1:
        return [Star(labels, STAR_ATOMS[labels], scan(labels))]
    return [
        star_join(left, right, root=len(labels) == len(STAR_ATOMS))
        for size in range(1, len(labels))
        for part in combinations(labels, size)
        for left in star_plans("".join(part))
        for right in star_plans("".join(label for label in labels if label not in part))
    ]


def path_plans() -> dict[str, LogicalExpression]:
    """The fourteen plans of (a·b·c)+ modulo commutation, Q1p-Q7p by their names."""
    a, b, c = map(scan, "abc")
    ab, bc = {"⋈": then(a, b), "P": path("0·1", a, b)}, {"⋈": then(b, c), "P": path("0·1", b, c)}
    plans = {
        "Q1p": path("(0·1·2)+", a, b, c),
        "Q2p": path("(0)+", then(ab["⋈"], c)),
        "Q3p": path("(0)+", then(a, bc["⋈"])),
        "Q4p": path("(0·1)+", ab["⋈"], c),
        "Q5p": path("(0·1)+", a, bc["⋈"]),
        "Q6p": path("(0)+", then(ab["P"], c)),
        "Q7p": path("(0)+", then(a, bc["P"])),
        "P[q+] P[a·b·c]": path("(0)+", path("0·1·2", a, b, c)),
        "P[(d·c)+] P[a·b]": path("(0·1)+", ab["P"], c),
        "P[(a·d)+] P[b·c]": path("(0·1)+", a, bc["P"]),
    }
    for name in ("⋈", "P"):
        plans[f"P[q+] P[d·c] {name}"] = path("(0)+", path("0·1", ab[name], c))
        plans[f"P[q+] P[a·d] {name}"] = path("(0)+", path("0·1", a, bc[name]))
    return plans
