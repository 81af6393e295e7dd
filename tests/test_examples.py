"""The bundled data is what its README says, and its queries fit it."""

import csv
import re
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from headrace import catalog
from headrace.api.cli import main
from headrace.catalog.edges import read
from headrace.languages import parse
from headrace.languages.translation.canonical import translate

EXAMPLES = Path(__file__).parent.parent / "examples"
MATHOVERFLOW = EXAMPLES / "mathoverflow"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/catalog.yaml"))
FILES = {
    "mathoverflow": ["a2q", "c2a", "c2q"],
    "amlsim": ["account", "transfer"],
    "flows": ["flows"],
    "ldbc": ["containerOf", "hasCreator", "hasMember", "knows", "likes"],
}
"""The files of the examples, which end in ``.csv.gz``."""

each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def test_every_example_query_is_tested() -> None:
    found = {
        folder.name: sorted(path.name.removesuffix(".csv.gz") for path in folder.glob("*.csv.gz"))
        for folder in FOLDERS
    }
    assert found == FILES


@each_folder
def test_example_catalogs_hold_measured_statistics(folder: Path) -> None:
    declared = catalog.load(folder / "catalog.yaml")
    for stream in declared.streams.values():
        measured = catalog.measure_files(catalog.files_of_stream(stream, declared.time_unit))
        assert measured.complete
        assert measured.rejected_count == 0
        found, known = (
            {label: replace(statistics, measured_at=None) for label, statistics in labels.items()}
            for labels in (measured.statistics, stream.labels)
        )
        assert found == known


@pytest.mark.parametrize(("folder", "name"), [(f, n) for f, names in FILES.items() for n in names])
def test_the_files_are_sorted_and_as_long_as_their_readme_says(folder: str, name: str) -> None:
    path = EXAMPLES / folder / f"{name}.csv.gz"
    (file,) = catalog.files_of_inputs(
        [str(path) if folder == "flows" else f"{name}={path}"],
        stored=name in {"hasMember", "account"},
    )
    file = replace(file, vertices=name == "account")
    times = [t for batch in read(file) for t in batch.edges.column("ts").to_numpy()]
    assert times == sorted(times)
    readme = (EXAMPLES / folder / "README.md").read_text("utf-8")
    assert re.findall(rf"\| `{name}\.csv\.gz` \| ([\d,]+) \|", readme) == [f"{len(times):,}"]
    assert path.stat().st_size < 300_000


ENDINGS = ("rq", "gcore", "cypher", "seraph")
QUERIES = sorted(path for ending in ENDINGS for path in EXAMPLES.glob(f"*/*.{ending}"))


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.name)
def test_the_queries_fit_the_catalog(path: Path) -> None:
    declared = catalog.load(path.parent / "catalog.yaml")
    query = parse(path.read_text("utf-8"), time_unit=declared.time_unit)
    assert query.warnings == ()
    assert translate(query, declared).columns == query.rules[-1].variables


@pytest.mark.parametrize(
    "path", [path for path in QUERIES if path.suffix == ".gcore"], ids=lambda path: path.stem
)
def test_rq_and_gcore_examples_have_the_same_algebra(path: Path) -> None:
    declared = catalog.load(path.parent / "catalog.yaml")
    gcore, rq = (
        translate(parse(p.read_text("utf-8"), language, declared.time_unit), declared)
        for p, language in ((path, "gcore"), (path.with_suffix(".rq"), "rq"))
    )
    assert gcore == rq


@each_folder
def test_the_queries_are_planned_from_within_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    for query in sorted(path.name for path in QUERIES if path.parent == folder):
        assert main(["explain", query, "--catalog", "catalog.yaml"]) == 0
        assert "WSCAN" in capsys.readouterr().out


@each_folder
def test_the_data_is_found_as_package_data(folder: Path) -> None:
    bundled = {path.name for path in folder.iterdir() if path.suffix not in {".py", ""}}
    with as_file(files("headrace.examples") / folder.name) as found:
        assert bundled <= {path.name for path in found.iterdir()}


def _rows(query: str, folder: Path, out: Path) -> list[tuple[str, ...]]:
    """The rows of the results of an example, without their times."""
    catalog_file = folder / "catalog.yaml"
    options = ["--engine", "local", "--output", str(out), "--no-progress"]
    assert main(["run", str(folder / query), "--catalog", str(catalog_file), *options]) == 0
    with out.open(newline="") as file:
        _, *rows = csv.reader(file)
    return [tuple(row[:-2]) for row in rows]


@pytest.mark.long
def test_the_cycles_in_cypher_are_those_of_different_transfers(tmp_path: Path) -> None:
    folder = EXAMPLES / "amlsim"
    rq, cypher, seraph = (
        _rows(f"flagged.{ending}", folder, tmp_path / f"{ending}.csv")
        for ending in ("rq", "cypher", "seraph")
    )
    assert (len(rq), len(cypher), len(seraph)) == (106, 97, 97)
    assert sorted(cypher) == sorted(seraph)
    assert set(cypher) < set(rq)
    assert all(a == b == c for a, b, c, *_ in set(rq) - set(cypher))


@pytest.mark.long
def test_each_triangle_in_seraph_is_reported_when_it_begins(tmp_path: Path) -> None:
    found = _rows("triangle.seraph", MATHOVERFLOW, tmp_path / "triangles.csv")
    assert len(found) == 1_349
    # The window of triangle.rq slides by a day, so each edge is valid for 30 days at most.
    assert set(found) > set(_rows("triangle.rq", MATHOVERFLOW, tmp_path / "all.csv"))
