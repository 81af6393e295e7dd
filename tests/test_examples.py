"""The bundled data is what its README says, and its queries fit it."""

import re
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path

import pytest

import catalog
from catalog.edges import read
from languages import parse
from languages.canonical import translate

MATHOVERFLOW = Path(__file__).parent.parent / "examples" / "mathoverflow"


def test_the_catalog_holds_what_is_measured() -> None:
    declared = catalog.load(MATHOVERFLOW / "catalog.yaml")
    (stream,) = declared.streams.values()
    measured = catalog.measure_files(catalog.files_of_stream(stream, declared.time_unit))
    assert measured.complete
    assert measured.rejected_count == 0
    timeless = {
        label: replace(statistics, measured_at=None)
        for label, statistics in measured.statistics.items()
    }
    assert timeless == {
        label: replace(statistics, measured_at=None) for label, statistics in stream.labels.items()
    }


@pytest.mark.parametrize("label", ["a2q", "c2a", "c2q"])
def test_the_files_are_sorted_and_as_long_as_their_readme_says(label: str) -> None:
    (file,) = catalog.files_of_inputs([f"{label}={MATHOVERFLOW / label}.csv.gz"])
    times = [t for batch in read(file) for t in batch.edges.column("ts").to_numpy()]
    assert times == sorted(times)
    readme = (MATHOVERFLOW / "README.md").read_text("utf-8")
    assert re.findall(rf"\| `{label}\.csv\.gz` \| ([\d,]+) \|", readme) == [f"{len(times):,}"]


@pytest.mark.parametrize("path", sorted(MATHOVERFLOW.glob("*.rq")), ids=lambda path: path.stem)
def test_the_queries_fit_the_catalog(path: Path) -> None:
    query = parse(path.read_text("utf-8"))
    assert query.warnings == ()
    translated = translate(query, catalog.load(MATHOVERFLOW / "catalog.yaml"))
    assert translated.columns == query.rules[-1].variables


def test_the_data_is_found_as_package_data() -> None:
    with as_file(files("examples") / "mathoverflow") as folder:
        assert {path.name for path in MATHOVERFLOW.glob("*.*z*")} <= {
            path.name for path in folder.iterdir()
        }
