"""Workers run on the driver's Python, or the error names the remedy."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession

from headrace.executor.local import run_plan
from headrace.executor.spark.host.errors import ExecutionError
from headrace.executor.spark.session import worker_python
from headrace.executor.spark.session.jvm import find_java
from headrace.executor.spark.session.worker_python import (
    check_workers,
    drivers_python,
    launcher,
    worker_path,
)
from headrace.executor.spark.session.workers import own_workers
from tests.executor.spark.plans import csv_file, random_edges
from tests.executor.spark.test_roots import planned
from tests.processes import QUICK_SPARK

QUERY = "Answer(x, z) <- a(x, y), b(y, z) WINDOW 20"
SESSION = """
from pyspark.sql import SparkSession
key = "spark.sql.streaming.stateStore.providerClass"
rocksdb = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
conf = {key: rocksdb, "spark.sql.shuffle.partitions": "1", "spark.ui.enabled": "false"}
spark = SparkSession.builder.master("local[2]").config(map=conf).getOrCreate()
"""
IMPORT = """
import headrace
from headrace import PlanningOptions, PlanRequest
"""
STREAM = """
plan = headrace.optimize(PlanRequest(QUERY)).plan
schema = "src string, trg string, label string, ts long"
edges = spark.readStream.schema(schema).option("header", True).csv("in")
results = headrace.stream(spark, plan, {"input": edges})
writer = results.writeStream.format("json").option("path", "out").option("checkpointLocation", "ck")
writer.trigger(availableNow=True).start().awaitTermination()
spark.stop()
"""


def other_python(folder: Path) -> Path:
    """A ``python3`` from another environment, in a folder of its own."""
    folder.mkdir()
    (folder / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
    return folder


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "activated"),
    [
        (SESSION + IMPORT, False),
        pytest.param(IMPORT + SESSION, True, marks=pytest.mark.soak, id="activated"),
    ],
)
def test_a_script_runs_from_any_folder(tmp_path: Path, script: str, activated: bool) -> None:
    edges = random_edges(40)
    (tmp_path / "in").mkdir()
    csv_file(tmp_path / "in" / "edges.csv", edges)
    for name in ("api/__init__", "catalog", "executor", "memo", "rules"):  # a user's own modules
        (tmp_path / f"{name}.py").parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('not Headrace')")
    (tmp_path / "script.py").write_text(f"QUERY = {QUERY!r}\n{script}{STREAM}")
    first = Path(sys.executable).parent if activated else other_python(tmp_path / "bin")
    dropped = ("VIRTUAL_ENV", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH")
    environment = {name: v for name, v in os.environ.items() if name not in dropped}
    environment |= {
        **QUICK_SPARK,
        "PATH": f"{first}{os.pathsep}{environment['PATH']}",
        "JAVA_HOME": str(find_java().home_for_spark(tmp_path / "java")),
    }
    done = subprocess.run(
        [sys.executable, "script.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = [line for file in (tmp_path / "out").glob("*.json") for line in file.open()]
    found = Counter((r["x"], r["z"], r["ts"], r["exp"]) for r in map(json.loads, lines))
    complete = run_plan(planned(QUERY, parallelism=1), edges)
    assert found == Counter((*r.bindings, r.ts, r.exp) for r in complete)
    assert found


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.long
def test_a_python_without_needed_modules_is_reported(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers have a Python of their own, as on a cluster."""
    context = spark.sparkContext
    check_workers(context)
    monkeypatch.setattr(worker_python, "is_local", lambda context: False)
    check_workers(context)
    monkeypatch.setattr(
        worker_python, "NEEDED", ("headrace.executor.nothing", "json", "nowhere.at.all")
    )
    with pytest.raises(ExecutionError, match=r"lacks headrace, nowhere\.\n.*PYSPARK_PYTHON"):
        check_workers(context)
    monkeypatch.setattr(context, "pythonExec", str(tmp_path / "no-python"))
    with pytest.raises(ExecutionError, match=r"does not run: .*no-python") as caught:
        check_workers(context)
    assert len(str(caught.value).splitlines()) == 2


@pytest.mark.spark
@pytest.mark.long
def test_a_users_session_stays_unchanged(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", "python3")
    monkeypatch.setitem(context.environment, "PYTHONPATH", "/mine")
    before = dict(context.environment)
    with own_workers(spark, "one"):
        assert Path(context.pythonExec).is_absolute()
        assert context.environment["PYTHONPATH"] == worker_path()
    assert context.pythonExec == "python3"
    assert context.environment == before
    del context.environment["PYTHONPATH"]
    with drivers_python(context):
        pass
    assert "PYTHONPATH" not in context.environment


def test_the_launcher_runs_the_same_python(tmp_path: Path) -> None:
    completed = subprocess.run(
        [launcher(tmp_path / "a b"), "-c", "import sys; print(sys.executable)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert completed.stdout.strip() == sys.executable


def test_the_path_of_workers_has_what_a_script_added(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = [str(tmp_path), "", str(tmp_path / "nowhere"), os.path.dirname(os.__file__)]
    monkeypatch.setattr(sys, "path", [*added, *sys.path])
    entries = worker_path().split(os.pathsep)
    assert entries[0] == str(tmp_path)
    assert not {"", *added[2:]} & {*entries}


def test_the_launcher_takes_sparks_archives_out_of_the_module_path(tmp_path: Path) -> None:
    """Python would compile PySpark's sources again in each process."""
    own, other = str(tmp_path / "own modules"), str(tmp_path / "a*")
    home = Path(pyspark.__file__).parent
    archives = [*(home / "python" / "lib").glob("*.zip"), *(home / "jars").glob("spark-core_*")]
    assert len(archives) == 3
    completed = subprocess.run(
        [launcher(tmp_path), "-c", "import os, pyspark; print(os.environ['PYTHONPATH']);"
         " print(pyspark.__file__)"],
        env={"PYTHONPATH": os.pathsep.join([*map(str, archives), own, other])},
        capture_output=True,
        text=True,
        check=True,
    )  # fmt: skip
    assert completed.stdout.splitlines() == [f"{own}{os.pathsep}{other}", pyspark.__file__]
