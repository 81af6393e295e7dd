"""Tables and plots of measurements.

In: files of rows of :mod:`bench.regret.series`. Out: Markdown, and two plots beside it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from bench.corpus import STREAMS
from bench.json_lines import rows_of
from bench.markdown import head
from bench.markdown import row as table_row
from bench.measuring import headline
from bench.regret.candidates import DEFAULT, WRITTEN
from bench.regret.correlations import agreement_of_rounds, correlations, time_of
from bench.regret.job import SHORTEST
from bench.regret.known import MEASURED
from bench.regret.plots import distribution
from bench.regret.prices import proportions
from bench.regret.statistics import quantile

Rows = Sequence[Mapping[str, Any]]
CHOSEN = "chosen "
FASTER = 1.1
"""A plan is faster if the other one takes this many times its time."""
_LISTED = 15
_ABOUT_Q_ERRORS = (
    "Each sub-plan of a query counts once. Rows are counted after the window has filled, or in the "
    "second half of the stream if that is longer; so a stream whose rate changes has q-errors even "
    "at scans. *Too low* is the share of sub-plans whose rate is under-estimated."
)


def write_report(files: Sequence[Path], out: Path | None) -> str:
    """Returns the report, and writes it with its plots if there is a path."""
    rows = list(_last_of_each(row for file in files for row in rows_of(file)))
    labels = sorted({row["label"] for row in rows})
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    parts = ["# Regret and q-errors", "", *_introduction(rows)]
    for label in labels:
        own = [row for row in rows if row["label"] == label]
        measured = [row for row in own if row["status"] == "ok"]
        parts += [f"## Version {label}", "", *_counts(own), ""]
        if not measured:
            continue
        parts += ["### Regret", "", *_regrets(measured), ""]
        longer = [row for row in measured if fastest_seconds(row) >= SHORTEST]
        parts += [f"Of queries whose fastest plan takes {SHORTEST * 1000:g} ms or more:", ""]
        parts += [*_regrets(longer), ""]
        parts += ["By stream, of the default model:", "", *_by("stream", measured), ""]
        parts += ["By kind of query:", "", *_by("kind", measured), ""]
        parts += ["The largest:", "", *_worst(measured), ""]
        parts += [*_differences(measured), ""]
        parts += ["### Rank correlation of cost and time", "", *correlations(measured), ""]
        parts += _with_measured_rows(measured)
        parts += ["### q-errors by kind of operator", "", _ABOUT_Q_ERRORS, ""]
        parts += [*_q_errors(measured), ""]
        if out is not None:
            parts += [f"![Regret]({name})" for name in _plot(measured, out, label)] + [""]
    text = "\n".join(parts)
    if out is not None:
        out.write_text(text, "utf-8")
    return text


def _last_of_each(rows: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The last row of each key."""
    kept = {(r["label"], r["stream"], r["query"], r["seed"]): r for r in rows}
    return iter(kept.values())


def _introduction(rows: Rows) -> list[str]:
    machines = {row["label"]: headline(row["machine"]) for row in rows}
    source = "the bundled slices" if all(row["bundled"] for row in rows) else "the data sets"
    names = sorted({row["stream"] for row in rows})
    ended = [row for row in rows if row["status"] == "ok"]
    sizes = [row["edges"] for row in ended] or [0]
    times = [1000 * fastest_seconds(row) for row in ended] or [0.0]
    seeds = ", ".join(str(seed) for seed in sorted({row["seed"] for row in rows}))
    return [
        f"Measured by `python -m bench.regret`, written by `python -m bench.regret report`, over "
        f"{source}. Seeds: {seeds} (1 is for tuning, others are for checking). A query reads "
        f"{min(sizes):,} to {max(sizes):,} edges; its fastest plan takes {min(times):.0f} to "
        f"{max(times):.0f} ms, median {quantile(times, 0.5):.0f}.",
        "",
        *(f"- {label}: {machine}" for label, machine in sorted(machines.items())),
        "",
        "*Regret* is the processor time of the chosen plan over that of the fastest plan measured, "
        "and 1 if the chosen one was the faster in their own rounds. Each ratio is the median over "
        "rounds in which both plans ran; the interval has 95 % confidence. A plan is stopped at "
        "ten times the fastest. The plans are those chosen by each model, the one as written, the "
        "best five estimated and ten sampled, mirror images of joins counted once. Times are of "
        "runs in one process, with kernels loaded.",
        "",
        *head("stream", "queries", "data"),
        *(table_row(n, sum(r["stream"] == n for r in rows), STREAMS[n].about) for n in names),
        "",
    ]


def _counts(rows: Rows) -> list[str]:
    status = Counter(row["status"] for row in rows)
    measured = [row for row in rows if row["status"] == "ok"]
    plans = sum(len(row["plans"]) for row in measured)
    agreement = Counter(plan["agrees"] or "none" for row in measured for plan in row["plans"])
    said = ", ".join(f"{count} {name}" for name, count in sorted(status.items()))
    answers = ", ".join(f"{count} {name}" for name, count in sorted(agreement.items()))
    wrong = [
        f"- **{row['stream']}, {row['query']}**: {plan['picture']}"
        for row in measured
        for plan in row["plans"]
        if plan["agrees"] == "different"
    ]
    errors = [
        f"- **{row['stream']}, {row['query']}**: {row['reason'].strip().splitlines()[-1]}"
        for row in rows
        if row["status"] in ("error", "not planned")
    ]
    lines = [
        f"{len(rows)} queries ({said}), {plans} plans. Answers compared with those of the first "
        f"complete run: {answers} (none: the run was ended before it had an answer)."
    ]
    if wrong:
        lines += ["", "Plans with **different answers**:", "", *wrong]
    if errors:
        lines += ["", "Without a measurement:", "", *errors]
    return lines


def regret(row: Mapping[str, Any], role: str) -> float | None:
    """The regret of a role's plan; None if the row has none."""
    compared = row["compared"].get(role)
    return None if compared is None else max(1.0, compared["ratio"])


def fastest_seconds(row: Mapping[str, Any]) -> float:
    """The time of the fastest plan of a query."""
    return min(time_of(plan) for plan in row["plans"])


def written_over_chosen(row: Mapping[str, Any], model: str) -> float | None:
    """The time of the plan as written over that of a chosen plan; None without one of them."""
    chosen, written = row["compared"].get(CHOSEN + model), row["compared"].get(WRITTEN)
    return None if chosen is None or written is None else written["ratio"] / chosen["ratio"]


def _roles(rows: Rows) -> list[str]:
    names = {role for row in rows for role in row["compared"]}
    return sorted(names, key=lambda role: (role != CHOSEN + DEFAULT, role))


def _regrets(rows: Rows) -> list[str]:
    lines = head(
        "plan", "queries", "median", "p90", "p95", "worst", "above 1.1", "as written faster"
    )
    for role in _roles(rows):
        values = [value for row in rows if (value := regret(row, role)) is not None]
        faster = "-"
        if role.startswith(CHOSEN):
            pairs = [written_over_chosen(row, role.removeprefix(CHOSEN)) for row in rows]
            beaten = sum(pair is not None and pair < 1 / FASTER for pair in pairs)
            faster = f"{beaten} of {sum(pair is not None for pair in pairs)}"
        lines.append(table_row(role, len(values), *_summary(values), _above(values), faster))
    return lines


def _by(field: str, rows: Rows) -> list[str]:
    groups: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row[field]].append(row)
    lines = head(
        field, "queries", "median", "p90", "p95", "worst", "above 1.1", "as written faster"
    )
    for name, own in sorted(groups.items()):
        values = [v for row in own if (v := regret(row, CHOSEN + DEFAULT)) is not None]
        pairs = [written_over_chosen(row, DEFAULT) for row in own]
        beaten = sum(pair is not None and pair < 1 / FASTER for pair in pairs)
        lines.append(table_row(name, len(values), *_summary(values), _above(values), beaten))
    return lines


def _worst(rows: Rows) -> list[str]:
    lines = head(
        "stream", "query", "window", "regret", "interval", "written / chosen", "chosen", "fastest"
    )
    role = CHOSEN + DEFAULT
    ordered = sorted(rows, key=lambda row: -(regret(row, role) or 1.0))
    for row in ordered[:_LISTED]:
        value = regret(row, role)
        if value is None or value < 1.05:
            break
        compared = row["compared"][role]
        plans = {plan["form"]: plan for plan in row["plans"]}
        chosen = next(plan for plan in row["plans"] if role in plan["roles"])
        high = "∞" if compared["high"] is None else f"{compared['high']:.2f}"
        written = written_over_chosen(row, DEFAULT)
        lines.append(
            table_row(
                row["stream"],
                f"{row['query']}: `{_one_line(row['text'])}`",
                " ".join(row["window"]),
                f"{1000 * fastest_seconds(row):.0f}",
                f"{value:.2f}",
                f"{compared['low']:.2f}-{high}",
                "-" if written is None else f"{written:.2f}",
                f"`{chosen['picture']}`",
                f"`{plans[row['fastest']]['picture']}`",
            )
        )
    return lines


def _differences(rows: Rows) -> list[str]:
    """How the operators of chosen and fastest plans differ, where the chosen one lost."""
    role = CHOSEN + DEFAULT
    lost = [row for row in rows if (regret(row, role) or 1.0) > FASTER]
    more_in_chosen: Counter[str] = Counter()
    more_in_fastest: Counter[str] = Counter()
    same = 0
    for row in lost:
        chosen = _operators(next(plan for plan in row["plans"] if role in plan["roles"]))
        fastest = _operators(next(p for p in row["plans"] if p["form"] == row["fastest"]))
        more_in_chosen.update((chosen - fastest).keys())
        more_in_fastest.update((fastest - chosen).keys())
        same += chosen == fastest
    lines = [
        f"{len(lost)} queries have a regret above {FASTER}. In {same} of them the fastest plan has "
        "the same operators in another order. The others, by operator of which one of the two "
        "plans has more:",
        "",
        *head("operator", "more in the chosen plan", "more in the fastest plan"),
    ]
    for name in sorted({*more_in_chosen, *more_in_fastest}):
        lines.append(table_row(name, more_in_chosen[name], more_in_fastest[name]))
    return lines


def _operators(plan: Mapping[str, Any]) -> Counter[str]:
    """The numbers of operators of a plan, without scans; closures are marked by +."""
    names: list[tuple[str, str]] = re.findall(r"([A-Z_]{4,})(\[[^\]]*\])?\(", plan["picture"])
    return Counter(
        f"{name}+" if "+" in regex or "*" in regex else name
        for name, regex in names
        if name != "TO_KERNEL"
    )


def _with_measured_rows(rows: Rows) -> list[str]:
    """What remains of regret and rank correlation if the rows of operators are known."""
    known = [row for row in rows if CHOSEN + MEASURED in row["compared"]]
    if not known:
        return []
    priced = [
        {**row, "plans": [plan for plan in row["plans"] if MEASURED in plan["costs"]]}
        for row in known
    ]
    plans = sum(len(row["plans"]) for row in priced)
    return [
        "### With measured rows",
        "",
        f"{len(known)} of the queries ran for three windows or more, so that their runs measured "
        "the rows of operators. They were planned once more by these rows in place of estimated "
        f"ones (*{MEASURED}*): what remains are the formulas of costs and the noise of the times.",
        "",
        *_regrets(known),
        "",
        f"The rank correlation, over the {plans} plans of which all rows are known:",
        "",
        *correlations(priced, (DEFAULT, MEASURED)),
        "",
        *agreement_of_rounds(priced),
        "",
        "How far times are in proportion to shared costs:",
        "",
        *proportions(priced),
        "",
    ]


def _q_errors(rows: Rows) -> list[str]:
    spread = ("p95", "worst")
    lines = head(
        *("model", "operator", "sub-plans", "rate: median", *spread, "too low"),
        *("validity: median", *spread, "population: median", *spread),
    )
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        for operator in row["operators"]:
            groups[operator["model"], operator["kind"]].append(operator)
    for (model, kind), own in sorted(groups.items()):
        cells: list[object] = [model, kind, len(own)]
        for what in ("rate", "validity", "population"):
            values = [o[what] for o in own if o[what] is not None]
            cells += _errors(values)
            if what == "rate":
                low = sum(o["estimated"][0] < o["measured"][0] for o in own)
                cells.append(f"{low / len(own):.0%}")
        lines.append(table_row(*cells))
    return lines


def _errors(values: Sequence[float]) -> list[str]:
    if not values:
        return ["-"] * 3
    return [_short(quantile(values, 0.5)), _short(quantile(values, 0.95)), _short(max(values))]


def _plot(rows: Rows, out: Path, label: str) -> list[str]:
    regrets = {
        role: [value for row in rows if (value := regret(row, role)) is not None]
        for role in _roles(rows)
    }
    errors: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for operator in row["operators"]:
            if operator["model"] == DEFAULT and operator["rate"] is not None:
                errors[operator["kind"]].append(operator["rate"])
    frequent = dict(sorted(errors.items(), key=lambda item: -len(item[1]))[:8])
    names = [f"{out.stem}-{label}.svg", f"{out.stem}-{label}-q-errors.svg"]
    drawings = (
        distribution("Share of queries up to a regret", "regret", regrets, 10),
        distribution("Share of sub-plans up to a q-error of the rate", "q-error", frequent, 1e4),
    )
    for name, drawing in zip(names, drawings, strict=True):
        (out.parent / name).write_text(drawing, "utf-8")
    return names


def _summary(values: Sequence[float]) -> list[str]:
    if not values:
        return ["-"] * 4
    return [f"{quantile(values, part):.2f}" for part in (0.5, 0.9, 0.95, 1.0)]


def _above(values: Sequence[float]) -> int:
    return sum(value > FASTER for value in values)


def _short(value: float) -> str:
    return f"{value:,.2f}" if value < 100 or not isfinite(value) else f"{value:,.0f}"


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
