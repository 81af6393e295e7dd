"""The sample of a stream: a bounded, contiguous piece, kept beside a catalog."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from headrace.catalog import dump, files_of_inputs, load, measured_catalog, sample
from headrace.catalog.model import Catalog, SampleFile, StreamSample
from headrace.catalog.sample import (
    LONGEST_TEXT,
    MOST_EDGES,
    Piece,
    Recent,
    SampleFileError,
    sample_of,
)


def recent(ts: list[int], most: int = 10, *, complete: bool = True) -> Piece:
    """A piece of edges read one by one."""
    kept = Recent(most)
    for t in ts:
        hashes = np.array([t], np.uint64)
        kept.add((hashes, hashes + np.uint64(1), np.zeros(1, np.int32), np.array([t])))
    return kept.piece(complete)


def catalog_of(folder: Path, edges: int = 100) -> Catalog:
    lines = [f"{k % 7},{k % 5},{'ab'[k % 2]},{k}\n" for k in range(edges)]
    (folder / "in.csv").write_text("src,trg,label,ts\n" + "".join(lines))
    return measured_catalog(files_of_inputs([str(folder / "in.csv")]))[0]


def test_a_piece_has_the_last_edges_of_a_file() -> None:
    sampled = sample_of([recent(list(range(100)))], ["a"])
    assert sampled is not None
    assert sampled.ts.tolist() == list(range(91, 100))
    assert (sampled.begin, sampled.end) == (91, 99)


def test_the_sample_of_a_short_file_is_the_whole_file() -> None:
    sampled = sample_of([recent([3, 1, 2])], ["a"])
    assert sampled is not None
    assert (sampled.ts.tolist(), sampled.begin, sampled.end) == ([1, 2, 3], 1, 3)


def test_the_sample_of_two_files_has_all_edges_of_both() -> None:
    early, late = recent(list(range(0, 40)), complete=False), recent(list(range(20, 80)))
    both = sample_of([early, late], ["a"])
    assert both is None, "the first file may have edges after 39, and the second lacks those to 70"
    whole = sample_of([recent(list(range(0, 40))), late], ["a"])
    assert whole is not None
    assert (whole.begin, whole.end) == (71, 79)


def test_a_sample_is_bounded() -> None:
    kept = Recent(MOST_EDGES)
    size = 50_000
    for start in range(0, 5 * size, size):
        ts = np.arange(start, start + size)
        hashes = ts.astype(np.uint64)
        kept.add((hashes, hashes, np.zeros(size, np.int32), ts))
        assert kept.piece(True).edges[3].size <= MOST_EDGES + size
    sampled = sample_of([kept.piece(True)], ["a"])
    assert sampled is not None
    assert len(sampled.ts) == MOST_EDGES


def test_a_stored_graph_has_a_whole_sample_or_none() -> None:
    whole = sample_of([recent([0, 0])], ["a"], stored=True)
    assert whole is not None
    assert whole.stored
    assert sample_of([recent([0, 0], complete=False)], ["a"], stored=True) is None


def equal(one: StreamSample, other: StreamSample) -> bool:
    arrays = all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("src", "trg", "label", "ts")
    )
    bounds = (one.labels, one.begin, one.end) == (other.labels, other.begin, other.end)
    return arrays and bounds


def test_samples_lie_beside_their_catalog(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    dump(catalog, tmp_path / "catalog.yaml")
    loaded = load(tmp_path / "catalog.yaml")
    assert loaded.sample_file is not None
    assert Path(loaded.sample_file.path) == tmp_path / "catalog.sample.npz"
    assert "file: catalog.sample.npz" in (tmp_path / "catalog.yaml").read_text()
    assert equal(sample.read(loaded.sample_file)["input"], catalog.samples["input"])


def test_a_sample_has_the_properties_of_its_edges(tmp_path: Path) -> None:
    words = ["", "x" * 300, "b"]
    lines = [f"{k},{k + 1},{k},{k / 2},{words[k % 3]}\n" for k in range(60)]
    (tmp_path / "a.csv").write_text("src,trg,ts,weight,word\n" + "".join(lines))
    (tmp_path / "b.csv").write_text("src,trg,ts\n1,2,30\n")
    names = [f"{name}={tmp_path}/{name}.csv" for name in "ab"]
    catalog = measured_catalog(files_of_inputs(names))[0]
    dump(catalog, tmp_path / "c.yaml")
    file = load(tmp_path / "c.yaml").sample_file
    assert file is not None
    for sampled in (catalog.samples["input"], sample.read(file)["input"]):
        (missing,) = sampled.rows_of("b")
        assert sampled.properties["weight"].to_pylist()[:3] == [0.0, 0.5, 1.0]
        assert sampled.properties["weight"][int(missing)].as_py() is None
        assert sampled.properties["word"].to_pylist()[:3] == [None, "x" * LONGEST_TEXT, "b"]


def test_a_file_of_samples_without_properties_is_read(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    path = tmp_path / "s.npz"
    sample.write(catalog.samples, path)
    with np.load(path) as arrays:
        np.savez(path, **{n: a for n, a in arrays.items() if not n.endswith("properties")})
    file = SampleFile(str(path), hashlib.sha256(path.read_bytes()).hexdigest())
    read = sample.read(file)["input"]
    assert equal(read, catalog.samples["input"])
    assert not read.properties


def test_a_catalog_without_samples_names_no_file(tmp_path: Path) -> None:
    catalog = replace(catalog_of(tmp_path), samples={})
    dump(catalog, tmp_path / "catalog.yaml")
    assert "sample" not in (tmp_path / "catalog.yaml").read_text()
    assert load(tmp_path / "catalog.yaml").sample_file is None


@pytest.mark.parametrize("damage", ["missing", "cut", "other", "no arrays"])
def test_a_damaged_file_of_samples_is_refused(tmp_path: Path, damage: str) -> None:
    file = sample.write(catalog_of(tmp_path).samples, tmp_path / "s.npz")
    path = Path(file.path)
    match damage:
        case "missing":
            path.unlink()
        case "cut":
            path.write_bytes(path.read_bytes()[:-10])
        case "other":
            sample.write(catalog_of(tmp_path, 50).samples, path)
        case _:
            file = sample.write({}, path)
            path.write_bytes(b"nothing")
            file = replace(file, digest=hashlib.sha256(b"nothing").hexdigest())
    with pytest.raises(SampleFileError, match="sample"):
        sample.read(file)
