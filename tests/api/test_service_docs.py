"""The examples of docs/service.md match the answers of the service."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from headrace.api.service import Settings, create_app
from headrace.api.service.bodies import (
    LONGEST_QUERY,
    MOST_ALTERNATIVES,
    MOST_EXPRESSIONS,
    OptionsBody,
)
from headrace.api.service.connections import MOST_CONNECTIONS, READING_SECONDS, REQUEST_SECONDS
from headrace.api.service.engine_process import MOST_SET_ASIDE
from headrace.api.service.jobs import AROUND_SECONDS, LISTING_SECONDS
from headrace.api.service.query_size import Limits
from headrace.api.service.results import Kept
from headrace.api.service.routes.queries import MOST_DEAD_LETTERS, MOST_TAIL
from headrace.catalog import load
from tests.api.command import CATALOG, ROOT, environment
from tests.api.serving import served, settings

PAGE = ROOT / "docs" / "service.md"
TEXT = PAGE.read_text("utf-8")
SHOWN = "localhost:8080"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    home = tmp_path_factory.mktemp("home")
    made = settings(home, catalog=load(CATALOG), searches_at_once=1)
    with served(create_app(made)) as client:
        yield client


def curl(client: httpx.Client, line: str) -> httpx.Response:
    """Sends the request of ``curl -s [-X METHOD] [--json BODY] URL``."""
    command, silent, *words = shlex.split(line)
    assert command == "curl"
    assert silent in ("-s", "-sN")
    body = words.pop(words.index("--json") + 1) if "--json" in words else None
    method = words.pop(words.index("-X") + 1) if "-X" in words else "POST" if body else "GET"
    (url,) = [word for word in words if not word.startswith("-")]
    assert url.startswith(f"{SHOWN}/")
    place = urlsplit(f"http://{url}")
    headers = {"Content-Type": "application/json"} if body else {}
    target = f"{place.path}?{place.query}" if place.query else place.path
    return client.request(method, target, content=body, headers=headers)


@pytest.mark.spark
@pytest.mark.long
def test_documented_commands_have_the_documented_answers(
    client: httpx.Client, golden: Callable[[Path, str], None]
) -> None:
    lines = [
        line
        for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    ]
    assert len(lines) == 22  # those that need two terminals are fenced as bash
    id_ = query = ""
    for line in lines[:-1]:
        answer = curl(client, line.replace("/ID", f"/{id_}").replace("/QUERY", f"/{query}"))
        assert answer.status_code in (200, 201, 202, 204), f"{line}\n{answer.text}"
        if answer.status_code == 201:
            query = answer.json()["id"]
        if "-sN" in line:
            assert answer.text.endswith('event: end\ndata: {"state": "finished"}\n\n')
        if "/optimize" in line:
            id_ = answer.json()["id"]
            shown = re.findall(r'"(\w+)":', TEXT.partition("```json\n")[2].partition("\n")[0])
            assert set(shown) <= answer.json().keys()
    problem = curl(client, lines[-1])
    assert problem.status_code == 422
    said = json.dumps(problem.json(), indent=2, ensure_ascii=False)
    inside = re.compile(r"<!-- problem -->.*?<!-- end -->", re.DOTALL)
    wanted = f"<!-- problem -->\n```json\n{said}\n```\n<!-- end -->"
    golden(PAGE, inside.sub(lambda _: wanted, TEXT))


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize(
    ("number", "said"),
    [(0, r"[0-9a-f]{32} [\d.]+ complete\n"), (1, r"[1-9]\d* \['x', 'y'\]\n")],
    ids=["planning", "running"],
)
def test_the_python_shown_runs_against_it(client: httpx.Client, number: int, said: str) -> None:
    block = re.findall(r"^```py\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)[number]
    code = block.replace(f"http://{SHOWN}", str(client.base_url).rstrip("/"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment(no_proxy="*"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert re.fullmatch(said, done.stdout)


def test_the_limits() -> None:
    kept = Kept()
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([\d,]+) \|$", TEXT, re.MULTILINE))
    limits = Limits()
    default = {field.name: field.default for field in fields(Settings)}
    free = "`/healthz`, `/readyz`, `/metrics` and results that are followed"
    bounds = {
        "connections": MOST_CONNECTIONS,
        f"requests at once, apart from {free}": default["most_requests"],
        "seconds until a request has come as a whole": REQUEST_SECONDS,
        "seconds in which a client takes nothing of its answer": READING_SECONDS,
        "bytes of a request": default["largest_body"],
        "characters of a query": LONGEST_QUERY,
        "atoms of a query": limits.atoms,
        "states of a path's automaton": limits.states,
        "milliseconds of a search": default["longest_search_ms"],
        "seconds of planning beside its search": AROUND_SECONDS,
        "expressions of a search": MOST_EXPRESSIONS,
        "bytes of an answer": limits.answer,
        "alternatives listed": MOST_ALTERNATIVES,
        "seconds of a ranking": LISTING_SECONDS,
        "plans kept; the oldest go": default["most_plans"],
        "streams kept": default["most_streams"],
        "searches that wait": default["most_waiting"],
        "queries that run at once": default["most_running"],
        "queries kept": default["most_queries"],
        "partitions of a query that runs": default["most_partitions"],
        "bytes of results kept of a query; the oldest go": kept.bytes,
        "files of them": kept.files,
        "clients that follow results": default["most_followers"],
        "newest results to start with": MOST_TAIL,
        "dead letters in an answer": MOST_DEAD_LETTERS,
        "bytes of dead letters kept of each kind, over live sources; the oldest go": MOST_SET_ASIDE,
    }
    assert rows == {what: f"{bound:,.0f}" for what, bound in bounds.items()}


def test_the_metrics(client: httpx.Client) -> None:
    shown = set(re.findall(r"^\| `(headrace_\w+)` \|", TEXT, re.MULTILINE))
    told = re.findall(r"^# HELP (\w+) ", client.get("/metrics").text, re.MULTILINE)
    assert shown == {name for name in told if not name.endswith("_created")}


def test_the_options() -> None:
    shown = TEXT.partition("`options` are named")[2].partition("\n\n")[0]
    assert re.findall(r"`(\w+)`", shown) == list(OptionsBody.model_fields)
