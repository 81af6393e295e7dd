"""All renderings of a plan are complete and escaped, for every operator."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Literal

import pytest

from headrace.algebra import logical, regex
from headrace.algebra.logical import Filter, LogicalExpression, Pattern, Union, WScan
from headrace.algebra.predicate import Predicate
from headrace.algebra.window import Window
from headrace.api.render import dot, html, mermaid, search, text
from headrace.documents.numbers import per_unit
from headrace.documents.picture import PictureDocument, picture_of_plan, picture_of_query
from headrace.documents.query import LogicalDocument, logical_nodes
from headrace.documents.trace import (
    Merged,
    PlanFound,
    PlanStep,
    RuleMeaning,
    RuleStep,
    SeenMember,
    Steps,
)
from headrace.documents.why import Ancestor, Reason, RunnerUp
from tests.api.samples import HOSTILE, sample_plan

PLAN = picture_of_plan(sample_plan())
HOSTILE_PLAN = picture_of_plan(sample_plan(HOSTILE))
PAGE = html.Page(
    f"Plan of {HOSTILE}",
    "Physical plan",
    query=f"Answer(x, y) <- l(x, {HOSTILE!r})",
    numbers=(("cost <b>", HOSTILE),),
    texts=(("Canonical", HOSTILE),),
    tables=(("Rules", ("rule", "fired"), ((HOSTILE, "3"),)),),
)


GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).parents[2]


def test_text_tree() -> None:
    assert text.render(PLAN) == (GOLDEN / "sample_plan.txt").read_text("utf-8")


def test_text_notes_stand_under_their_operator() -> None:
    lines = text.render(PLAN, notes={3: ("I + E = 12",)}).splitlines()
    place = next(i for i, line in enumerate(lines) if "S_PATH" in line)
    assert lines[place + 1] == "│           │                       │  │   I + E = 12"


def test_colour_adds_nothing_but_colour() -> None:
    coloured = text.render(PLAN, colour=True)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == text.render(PLAN)
    dear = next(line for line in coloured.splitlines() if "S_PATH" in line)
    assert "\x1b[1;31m" in dear


def test_text_lets_no_control_character_through() -> None:
    assert "\x1b" not in text.render(HOSTILE_PLAN)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.links: list[str] = []
        self.data: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("meta",):
            self.open.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.data.append(data)


def _read(page: str) -> _Reader:
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


@pytest.mark.parametrize("diagram", [PLAN, HOSTILE_PLAN])
def test_html_is_whole_self_contained_and_without_script(diagram: PictureDocument) -> None:
    reader = _read(html.render(diagram, PAGE))
    assert "script" not in reader.tags
    assert [link for link in reader.links if not link.startswith("#")] == []
    assert reader.tags.count("details") == len(diagram.boxes)


def test_html_shows_hostile_names_as_text() -> None:
    page = html.render(HOSTILE_PLAN, PAGE)
    assert "<script" not in page
    seen = "".join(_read(page).data)
    assert seen.count('<script>alert("x")</script>') >= 7
    assert "\x1b" not in page


def test_html_scales_colour_to_the_dearest_operator() -> None:
    page = html.render(PLAN, PAGE)
    heats = [float(heat) for heat in re.findall(r"--heat-share: ([0-9.]+)", page)]
    assert len(heats) == len(PLAN.boxes)
    assert max(heats) == 1
    assert "url(" not in page
    assert "@import" not in page


def test_html_has_the_rate_of_each_input_on_its_line() -> None:
    page = html.render(PLAN, PAGE)
    flows = re.findall(r'class="flow">([^<]+)<', page)
    expected = [PLAN.boxes[i] for box in PLAN.boxes for i in box.inputs]
    rates = [
        f"{PLAN.per(box.estimate.rate)} rows/{PLAN.per.sign}" for box in expected if box.estimate
    ]
    assert set(flows) == set(rates)
    widths = [float(width) for width in re.findall(r"--flow: ([0-9.]+)px", page)]
    assert len(widths) == len(flows)
    assert max(widths) == 7.0


def test_html_has_the_colours_of_the_page() -> None:
    tokens = (ROOT / "web" / "src" / "tokens.css").read_text("utf-8")
    style = (ROOT / "api" / "render" / "plan.css").read_text("utf-8")
    light, dark = tokens.split('[data-theme="dark"]')
    drawn_light, drawn_dark = style.split("prefers-color-scheme: dark")
    for ours, theirs in ((drawn_light, light), (drawn_dark.partition("* {")[0], dark)):
        colours = re.findall(r"(--[a-z0-9-]+: #[0-9a-f]{6});", ours)
        assert len(colours) > 10
        assert [colour for colour in colours if f"{colour};" not in theirs] == []


def test_dot_strings_end_where_they_should() -> None:
    for diagram in (PLAN, HOSTILE_PLAN):
        drawn = dot.render(diagram)
        # the text without its strings has no name of the query
        bare = re.sub(r'"(?:[^"\\]|\\.)*"', "S", drawn)
        assert "script" not in bare
        for line in bare.splitlines()[4:-1]:
            assert re.fullmatch(r"  n\d+( -> n\d+| \[label=S(, fillcolor=S)?\]);", line), line
        assert bare.count("->") == sum(len(box.inputs) for box in diagram.boxes)


def test_dot_escapes_entities() -> None:
    assert dot.quoted('a\\n"&lt;') == '"a\\\\n\\"&amp;lt;"'


def test_mermaid_labels_hold_no_markup() -> None:
    drawn = mermaid.render(HOSTILE_PLAN)
    labels = re.findall(r'^  n\d+\["(.*)"\]$', drawn, re.MULTILINE)
    assert len(labels) == len(HOSTILE_PLAN.boxes)
    for label in labels:
        assert not set('<>"`[]{}()|') & set(label.replace("<br/>", ""))
    assert mermaid.escaped("a#b;<c>") == "a#35;b#59;#60;c#62;"


def test_logical_query_without_estimates() -> None:
    scan = LogicalExpression(WScan("e", "a2q", Window(30 * 86400, 86400)))
    other = LogicalExpression(WScan("e", "c2a", Window(60)))
    both = LogicalExpression(Union(), (scan, other))
    kept = LogicalExpression(Filter(Predicate.column_equals(0, "it's")), (both,))
    path = LogicalExpression(
        logical.Path(regex.plus(regex.concat([regex.Symbol(0), regex.Symbol(1, inverse=True)]))),
        (scan, kept),
    )
    pattern = Pattern(((0, 1), (1, 2)), (0, 2), ("x", "y", "z"))
    expression = LogicalExpression(pattern, (scan, path))
    picture = picture_of_query(
        LogicalDocument(
            version=1,
            query="",
            language="rq",
            warnings=(),
            canonical="",
            columns=("x", "z"),
            nodes=logical_nodes(expression, "second"),
            time_unit="second",
        )
    )
    assert (
        text.render(picture)
        == """\
⋈ PATTERN  x,y ⋈ y,z → x,z  on y   answer: x, z
├─ #0 W WSCAN  e.a2q  window 30d slide 1d
└─ P PATH  (a2q·^[2])+
   ├─ #0 W WSCAN  (the same rows as above)
   └─ σ FILTER  src = 'it\\'s'
      └─ ∪ UNION
         ├─ #0 W WSCAN  (the same rows as above)
         └─ W WSCAN  e.c2a  window 1m
"""
    )
    page = html.render(picture, html.Page("Query", "Logical plan"))
    assert _read(page).tags.count("details") == 6


def test_a_pruned_runner_up_shows_its_lower_bound() -> None:
    reason = Reason(
        group=2,
        required="",
        text="UNION(G0, G1)",
        rule="UnionByMerge",
        cost=3.0,
        local=1.0,
        lineage=(Ancestor(rule=None, id=0, group=2, text="UNION(G0, G1)"),),
        ways=3,
        mirrored=0,
        runner_up=RunnerUp(
            text="S_PATH[G1+]",
            rule="PathBySPath",
            enforcers=("COALESCE",),
            cost=None,
            exact=False,
            at_least=12.5,
            difference=None,
            own=1.0,
            inputs=None,
        ),
        decided="bound",
    )
    lines = search.reasons({"4": reason}, per_unit("second", 1.0), complete=True)
    assert lines == {
        4: (
            "G2 = UNION(G0, G1), as written",
            "run by UnionByMerge",
            "next best COALESCE of S_PATH[G1+] at least 12.5/s, and not searched further",
        )
    }


def _rule_step(step: int, rule: str | None, **changes: Any) -> RuleStep:
    changed: dict[str, Any] = dict.fromkeys(
        ("matched", "added", "groups", "merged", "changed", "removed", "known"), ()
    )
    kind: Literal["query", "rule"] = "rule" if rule else "query"
    return RuleStep(step=step, rule=rule, kind=kind, **changed | changes)


def test_steps_that_were_not_kept_are_counted_where_they_are_missing() -> None:
    plan = PlanFound(
        group=0,
        required="coalesced",
        text="WSCAN[s.a]",
        rule="ScanByWindow",
        source=0,
        cost=2.0,
        local=2.0,
        inputs=(),
        before=3.0,
        again=True,
    )
    scan = SeenMember(id=0, group=0, text="WSCAN[s.a]", inputs=())
    trace = Steps(
        steps=(
            _rule_step(1, None, added=(scan,), groups=(0,)),
            PlanStep(step=9, kind="plan", plan=plan),
            _rule_step(10, "UnionCommute", matched=(scan,), merged=(Merged(into=0, group=7),)),
        ),
        more=9,
        known=1,
        left=0,
        rules={"UnionCommute": RuleMeaning(number=None, algebra="A ∪ B → B ∪ A")},
        symbols={},
    )
    lines = search.steps(trace, per_unit("second", 1.0)).splitlines()[4:]
    assert lines == [
        " 1  query: G0 = WSCAN[s.a]",
        "    ... 7 more steps",
        " 9  plan of G0 [coalesced]: WSCAN[s.a] at 2/s, 3/s before, costed anew, as groups became "
        "one",
        "10  UnionCommute: A ∪ B → B ∪ A",
        "      on    G0 = WSCAN[s.a]",
        "      so    G7 = G0: from now on both are G0",
        "    ... 2 more steps",
        "",
        "A rule found only what was there already: once.",
    ]
