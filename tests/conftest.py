"""Fixtures and settings of all tests."""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MORE = "HEADRACE_MORE"
"""Set to n, each property is tried on n times as many examples, new ones in each run.

Without it the examples are always the same, so that a test fails for a change alone.
"""

NO_SKIPS = "HEADRACE_NO_SKIPS"
"""Set to 1, a skipped test fails: on a machine that should have everything, as CI."""


# The plans of tests do not depend on what was calibrated on the machine.
os.environ["HEADRACE_CONSTANTS"] = "shipped"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it starts in the background ignore Ctrl-C, and so do the commands of tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup does the same with hanging up

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much)

settings.register_profile(
    "same",
    derandomize=True,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "more",
    max_examples=100 * max(int(os.environ.get(MORE, "1")), 1),
    derandomize=False,
    deadline=None,
    print_blob=True,
    suppress_health_check=SLOW_IS_FINE,
)
settings.load_profile("more" if os.environ.get(MORE) else "same")


MOST_WORKERS = 4
"""Processes that run the tests at once, at most: each may start a Spark of its own."""


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """The whole of the tests runs in several processes; files or folders that are named in one.

    One more process than cores, since tests wait for Spark, browsers and servers.
    """
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        return 0
    return min((os.cpu_count() or 2) + 1, MOST_WORKERS)


PROPERTIES = "tests/properties/"
WHOLE_FILES = ("test_spark.py", "test_examples.py")
"""Files of properties whose tests share a Spark session or other costly values."""

KAFKA = "tests/kafka/"
"""Tests of all files of this folder share a broker."""


def _apart(path: str) -> bool:
    """Whether the tests of a file share nothing, so that any process may run each of them."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/" == PROPERTIES and name not in WHOLE_FILES


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """A process runs whole files, all tests of Kafka, and single tests that share nothing."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            path: str = super()._split_scope(nodeid)
            if path.startswith(KAFKA):
                return KAFKA
            return nodeid if _apart(path) else path

    return Scheduling(config, log)


TALLY = pytest.StashKey[Counter[str]]()
"""How much the properties tried, in all processes."""


def pytest_configure(config: pytest.Config) -> None:
    config.stash[TALLY] = Counter()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Adds up what the workers tried; one that was killed says nothing."""
    node.config.stash[TALLY].update(getattr(node, "workeroutput", {}).get("properties", {}))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Says how much the properties tried."""
    if config.stash[TALLY]:
        tried = ", ".join(f"{count:,} {what}" for what, count in config.stash[TALLY].items())
        terminalreporter.write_line(f"properties: {tried}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the type check first, single tests last; lets tests run as long as examples take."""
    # The type check is the longest of all tests: at the end the other processes would wait for it.
    # The tests that any process may run come last, so that all processes end at about one time.
    items.sort(
        key=lambda item: (item.path.name != "test_style.py", _apart(item.nodeid.split("::")[0]))
    )
    if os.environ.get(MORE):
        for item in items:
            item.add_marker(pytest.mark.timeout(0), append=False)


def pytest_collection_finish() -> None:
    """The garbage collector looks at modules and tests no more, which took a sixth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option that writes golden files anew."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write golden files anew instead of comparing with them; read the diff",
    )


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with the golden file that holds what it was."""

    def compare(path: Path, text: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, "utf-8")
        assert text == path.read_text("utf-8"), f"{path} differs: is it meant to? --update-golden"

    return compare


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark for all tests that need it; whoever starts none of its own runs in it."""
    from headrace.executor.spark.session.session import spark_session

    with spark_session() as session:
        yield session


def _refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get(NO_SKIPS) == "1":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{NO_SKIPS}=1 allows no skip: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Turns the skip of a test into a failure when none is allowed."""
    report = yield
    _refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Turns the skip of a whole module into a failure when none is allowed."""
    report = yield
    _refuse_skip(report)
    return report
