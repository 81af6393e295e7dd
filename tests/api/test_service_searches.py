"""Searches of the service are shared, and end when no client waits for them."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from headrace.api.service import create_app
from headrace.api.service.jobs import Desk, Job, Question, run
from headrace.api.service.workers import DeadlineError, Reply, Worker, WorkerDiedError
from tests.api.serving import clique, long_query, metric, problem, served, settings
from tests.waiting import PATIENCE, until

RUNNING = "headrace_searches_running"
SEARCHES = 'headrace_searches_total{kind="optimize"}'
CANCELLED = 'headrace_plans_total{stop_reason="cancelled"}'
LONG_MS = 60_000


@pytest.fixture(scope="module")
def one_at_a_time(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service with one process for searches and a queue of one."""
    home = tmp_path_factory.mktemp("home")
    made = settings(home, searches_at_once=1, most_waiting=1, longest_search_ms=60_000.0)
    with served(create_app(made)) as client:
        until(lambda: client.get("/readyz").status_code == 200)
        yield client


@pytest.fixture(name="client")
def at_rest(one_at_a_time: httpx.Client) -> httpx.Client:
    until(lambda: metric(one_at_a_time, RUNNING) == 0)
    return one_at_a_time


class Asking:
    """A client that can disconnect before it gets its ``answer``."""

    def __init__(
        self,
        address: httpx.URL,
        query: str,
        budget_ms: int = LONG_MS,
        *,
        headers: dict[str, str] | None = None,
        explain: bool = False,
    ) -> None:
        self.answer: httpx.Response | None = None
        self._client = httpx.Client(
            base_url=address, timeout=PATIENCE, trust_env=False, headers=headers
        )
        asked = body(query, budget_ms) | {"explain": explain}
        self._thread = threading.Thread(target=self._ask, args=(asked,))
        self._thread.start()

    def _ask(self, json: dict[str, Any]) -> None:
        try:
            self.answer = self._client.post("/optimize", json=json)
        except httpx.HTTPError:
            self.answer = None

    def join(self) -> None:
        self._thread.join(PATIENCE)


def body(query: str, budget_ms: int = LONG_MS) -> dict[str, Any]:
    return {"query": query, "options": {"budget_ms": budget_ms}}


@contextmanager
def asked_in_vain(
    client: httpx.Client, query: str, budget_ms: int = LONG_MS
) -> Iterator[socket.socket]:
    """A client that disconnects at the end of the block."""
    content = json.dumps(body(query, budget_ms)).encode()
    head = f"POST /optimize HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(content)}\r\n"
    address = (client.base_url.host, client.base_url.port)
    with socket.create_connection(address, timeout=PATIENCE) as connection:
        connection.sendall(f"{head}Content-Type: application/json\r\n\r\n".encode() + content)
        yield connection


def test_a_client_that_hangs_up_ends_its_search(client: httpx.Client) -> None:
    before, gone = metric(client, CANCELLED), metric(client, GONE)
    with asked_in_vain(client, long_query()):
        until(lambda: metric(client, RUNNING) == 1)
    until(lambda: metric(client, CANCELLED) == before + 1)
    until(lambda: metric(client, RUNNING) == 0)
    assert metric(client, GONE) == gone + 1
    # its result is not stored: the next client gets a complete search
    assert client.post("/optimize", json={"query": clique(4)}).json()["stop_reason"] == "complete"


def test_a_request_is_cancelled_by_its_id_and_gets_the_best_plan_so_far(
    client: httpx.Client,
) -> None:
    own = {"X-Request-Id": "mine"}
    problem(client.get("/searches/mine"), 404)
    problem(client.delete("/searches/mine"), 404)
    asking = Asking(client.base_url, long_query("7d"), headers=own, explain=True)
    shown = until(lambda: running(client, "mine"))
    assert shown["kind"] == "optimize"
    assert shown["doing"] == "searching"
    assert shown["limit_seconds"] > LONG_MS / 1000
    assert until(lambda: running(client, "mine")["expressions"] > 0)
    assert client.delete("/searches/mine").status_code == 204
    asking.join()
    assert asking.answer is not None
    planned = asking.answer.json()
    assert planned["stop_reason"] == "cancelled"
    # The search that was cut serves what a client asks about the plan.
    about = client.get(f"/plans/{planned['id']}/explanation").json()
    assert "stop_reason" in about, about
    assert about["stop_reason"] == "cancelled"
    assert about["plan"] == planned["plan"]
    problem(client.get("/searches/mine"), 404)


def running(client: httpx.Client, request_id: str) -> dict[str, Any]:
    """The search of a request once it runs; empty before."""
    answer = client.get(f"/searches/{request_id}")
    document: dict[str, Any] = answer.json() if answer.status_code == 200 else {}
    return document if document.get("state") == "running" and document["doing"] else {}


def test_a_request_that_shares_its_search_leaves_it(client: httpx.Client) -> None:
    query = long_query("8d")
    staying = Asking(client.base_url, query, 3_000)
    until(lambda: metric(client, RUNNING) == 1)
    leaving = Asking(client.base_url, query, 3_000, headers={"X-Request-Id": "leaving"})
    until(lambda: client.delete("/searches/leaving").status_code == 204)
    leaving.join()
    assert leaving.answer is not None
    assert problem(leaving.answer, 409)["code"] == "E-CANCELLED"
    staying.join()
    assert staying.answer is not None
    assert staying.answer.json()["stop_reason"] == "budget_ms"


def test_a_ranking_ends_in_the_time_that_the_client_sets(client: httpx.Client) -> None:
    planned = client.post("/optimize", json=body(clique(6), 2_000)).json()
    place = f"/plans/{planned['id']}/alternatives"
    cut = client.get(place, params={"limit": 50, "seconds": 0.001}).json()
    assert cut["stop_reason"] == "budget_ms"
    assert (cut["total"], cut["different"], cut["cost_bound"]) == (None, None, None)
    assert [(plan["rank"], plan["chosen"]) for plan in cut["plans"]] == [(None, True)]
    # A list that was cut is not what later requests get.
    whole = client.get(place, params={"limit": 3}).json()
    assert len(whole["plans"]) == 3
    problem(client.get(place, params={"seconds": 21}), 422)


SHARED = 'headrace_cache_hits_total{kept="shared"}'
GONE = 'headrace_requests_total{method="POST",route="/optimize",status="499"}'


def test_shared_search_survives_a_client_that_hangs_up(client: httpx.Client) -> None:
    before = metric(client, SEARCHES)
    query = long_query("9d")
    staying = Asking(client.base_url, query, 3_000)
    until(lambda: metric(client, RUNNING) == 1)
    gone, shared = metric(client, GONE), metric(client, SHARED)
    with asked_in_vain(client, query, 3_000):
        until(lambda: metric(client, SHARED) == shared + 1)
    until(lambda: metric(client, GONE) == gone + 1)
    staying.join()
    assert staying.answer is not None
    assert staying.answer.json()["stop_reason"] == "budget_ms"
    assert metric(client, SEARCHES) == before + 1


def test_equal_requests_at_once_have_one_search(client: httpx.Client) -> None:
    before = metric(client, SEARCHES)
    asked = body(long_query("5d"), 2_000)
    with ThreadPoolExecutor(8) as asking:
        answers = list(asking.map(lambda _: client.post("/optimize", json=asked), range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers}) == 1
    assert metric(client, SEARCHES) == before + 1


def test_equal_requests_later_have_its_outcome(client: httpx.Client) -> None:
    asked = {"query": clique(3), "format": "text"}
    first = client.post("/explain", json=asked)
    hits = metric(client, 'headrace_cache_hits_total{kept="memory"}')
    assert client.post("/explain", json=asked).text == first.text
    assert metric(client, 'headrace_cache_hits_total{kept="memory"}') == hits + 1
    other = client.post("/explain", json={**asked, "format": "dot"})
    assert other.text != first.text


def test_searches_wait_in_a_bounded_queue(client: httpx.Client) -> None:
    asking = Asking(client.base_url, long_query("2d"), headers={"X-Request-Id": "long"})
    # Its process has begun: a job that still waits there outlives the process.
    until(lambda: running(client, "long"))
    (worker,) = searching()
    worker.suspend()  # so that the search lasts however fast the machine is
    with asked_in_vain(client, long_query("3d")):
        until(lambda: metric(client, "headrace_searches_waiting") == 1)
        refused = client.post("/optimize", json={"query": clique(3, "9d")})
        assert problem(refused, 429)["code"] == "E-BUSY"
        assert int(refused.headers["retry-after"]) >= 1
        # meanwhile the service answers requests that need no search
        assert client.get("/healthz").status_code == 200
        assert client.get("/streams").json() == []
    # a client that disconnects leaves the queue before its search
    until(lambda: metric(client, "headrace_searches_waiting") == 0)
    worker.kill()
    asking.join()
    assert asking.answer is not None
    problem(asking.answer, 503)
    # and the next search has a new process
    assert client.post("/optimize", json={"query": clique(3, "4d")}).status_code == 200


def searching() -> list[psutil.Process]:
    """The search processes of the services in this process."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            living = child.status() != psutil.STATUS_ZOMBIE
            if living and "spawn_main" in " ".join(child.cmdline()):
                found.append(child)
    return found


def test_shutdown_answers_waiting_requests(tmp_path: Path) -> None:
    made = settings(tmp_path, searches_at_once=1, longest_search_ms=60_000.0)
    with served(create_app(made)) as client:
        asking = Asking(client.base_url, long_query())
        until(lambda: metric(client, RUNNING) == 1)
    asking.join()
    assert asking.answer is not None
    assert "shutting down" in problem(asking.answer, 503)["detail"]
    assert asking.answer.headers["retry-after"]


def test_internal_error_goes_to_the_log() -> None:
    wrong = Question("Answer(x, y) <- a(x, y) WINDOW 1d", None, None, {"secret": 1}, "test")
    outcome = run(Job("optimize", wrong), Desk())
    assert outcome.status == 500
    assert b"KeyError" in outcome.body
    assert b"disabled_rules" not in outcome.body
    assert "Traceback" in outcome.fault


@pytest.fixture
def worker() -> Iterator[Worker]:
    made = Worker()
    yield made
    made.stop()


def of(job: Job) -> tuple[int, str]:
    return 200, job.question.id


def answered(worker: Worker, job: Job) -> tuple[int, str]:
    outcome = worker.do(job, threading.Event(), ENOUGH_SECONDS)
    return outcome.status, json.loads(outcome.body)["id"]


def a_job(query: str = "Answer(x, y) <- a(x, y) WINDOW 6h", budget_ms: float = 60_000.0) -> Job:
    options = {"disabled_rules": [], "budget_ms": budget_ms}
    return Job("optimize", Question(query, None, None, options, "test"))


ENOUGH_SECONDS = 120.0


def test_a_process_that_is_late_in_starting_is_ended(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = set(searching())
    monkeypatch.setattr("headrace.api.service.workers.START_SECONDS", 0.01)
    with pytest.raises(WorkerDiedError, match="did not start in time"):
        worker.start()
    assert set(searching()) <= others
    monkeypatch.setattr("headrace.api.service.workers.START_SECONDS", ENOUGH_SECONDS)
    # Its output does not mix with the answers of jobs.
    jobs = [a_job(f"Answer(x, y) <- a(x, y) WINDOW {hours}h") for hours in (6, 11, 7)]
    assert [answered(worker, job) for job in jobs] == [of(job) for job in jobs]


@pytest.mark.long
def test_a_service_whose_processes_are_late_is_ready_in_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("headrace.api.service.workers.START_SECONDS", 0.5)
    monkeypatch.setattr("headrace.api.service.searches._AGAIN_SECONDS", 0.05)
    with served(create_app(settings(tmp_path, searches_at_once=1))) as client:
        until(lambda: client.get("/readyz").status_code == 200)
        assert client.post("/optimize", json={"query": clique(3)}).status_code == 200
    assert "starting a search process again" in caplog.text


def test_a_job_that_does_not_stop_is_ended(worker: Worker) -> None:
    worker.start()
    others = set(searching())
    with pytest.raises(DeadlineError):
        worker.do(a_job(long_query()), threading.Event(), 0.2)
    assert len(others) == len(set(searching())) + 1
    assert answered(worker, a_job()) == of(a_job())


def test_a_job_that_is_cancelled_does_not_reach_the_next_one(worker: Worker) -> None:
    cancelled = threading.Event()
    cancelled.set()
    worker.start()
    assert worker.do(a_job(long_query()), cancelled, ENOUGH_SECONDS).stop_reason == "cancelled"
    # It was cancelled before it began; its cancellation must not reach the next job.
    assert answered(worker, a_job()) == of(a_job())


def test_a_process_that_was_killed_while_idle_is_replaced(worker: Worker) -> None:
    others = set(searching())
    worker.start()
    (process,) = set(searching()) - others
    process.kill()  # without waiting: the pool that started it waits
    job = a_job()
    with contextlib.suppress(WorkerDiedError):  # the pool may not have noticed yet
        assert answered(worker, job) == of(job)
    assert answered(worker, job) == of(job)


def test_outcome_of_another_job_is_refused(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    other = a_job("Answer(x, y) <- b(x, y) WINDOW 6h")

    def mixed_up(*_: object) -> Future[Reply]:
        reply: Future[Reply] = Future()
        reply.set_result(Reply(other.key, run(other, Desk())))
        return reply

    worker.start()
    monkeypatch.setattr(worker._pool, "schedule", mixed_up)
    with pytest.raises(WorkerDiedError, match="another job"):
        answered(worker, a_job())
    assert answered(worker, a_job()) == of(a_job())


@pytest.mark.long
def test_a_job_over_its_time_limit_loses_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.api.service.jobs.AROUND_SECONDS", 2.0)
    others = set(searching())
    made = settings(tmp_path, searches_at_once=2, longest_search_ms=60_000.0)
    with served(create_app(made)) as client:
        until(lambda: client.get("/readyz").status_code == 200)
        asking = [Asking(client.base_url, long_query(f"{n}d"), 1_000) for n in (1, 2)]
        until(lambda: metric(client, RUNNING) == 2)
        # A stopped process does not check its budget.
        for process in set(searching()) - others:
            process.suspend()
        for asked in asking:
            asked.join()
            assert asked.answer is not None
            assert problem(asked.answer, 422)["code"] == "E-SIZE"
        assert client.post("/optimize", json={"query": clique(3)}).status_code == 200
