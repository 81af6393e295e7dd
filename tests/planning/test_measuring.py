"""Planning opens only the streams that a query needs, and names unreadable streams."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from headrace.catalog import from_document
from headrace.catalog.model import Catalog
from headrace.planning import measuring
from headrace.planning.errors import InvalidQueryError, UsageError
from headrace.planning.requests import PlanRequest
from headrace.planning.translating import Translated, translate_query
from headrace.running.runs import read_inputs

STATISTICS = {"rate": 1, "distinct_src": 10, "distinct_trg": 10}
OF_A = "Answer(x, y) <- a(x, y) WINDOW 1h"
HEADER = "src,trg,label,ts\n"
UNREADABLE = ("missing", "pipe", "device", "empty", "folder", "link", "damaged")


def unreadable(folder: Path, kind: str) -> str:
    """Creates a path that cannot be read as edges."""
    path = folder / f"{kind}.csv"
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            return "/dev/zero"
        case "empty":
            path.touch()
        case "folder":
            path.mkdir()
        case "link":
            path.symlink_to("nowhere")
        case "damaged":
            path.write_bytes(b"\x1f\x8b\x08rubbish")
    return str(path)


def catalog_of(views: dict[str, str] | None = None, **streams: dict[str, Any]) -> Catalog:
    document = {"streams": streams, "views": {n: {"query": q} for n, q in (views or {}).items()}}
    return from_document(document)


def of_file(path: str | Path, **more: Any) -> dict[str, Any]:
    return {"source": {"format": "csv", "path": str(path)}, **more}


def translated(query: str, catalog: Catalog) -> Translated:
    return translate_query(PlanRequest(query, catalog=catalog))


DECLARED = {"labels": {"a": STATISTICS}}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("labels", ["fixed", "of each path", "unknown"])
def test_a_stream_that_the_query_does_not_read_is_not_opened(
    tmp_path: Path, kind: str, labels: str
) -> None:
    other = of_file(unreadable(tmp_path, kind))
    if labels == "fixed":
        other["label"] = "b"
    elif labels == "of each path":
        other["source"]["path"] = {"b": other["source"]["path"]}
    done = translated(OF_A, catalog_of(good=DECLARED, other=other))
    assert done.warnings == ()
    assert [stream.name for stream in done.catalog.streams.values() if stream.labels] == (
        ["good"] if labels == "unknown" else ["good", "other"]
    )


@pytest.mark.parametrize("kind", UNREADABLE)
def test_unreadable_stream_of_the_query_is_named(tmp_path: Path, kind: str) -> None:
    path = unreadable(tmp_path, kind)
    for query, stream in (
        ("Answer(x, y) <- b(x, y) WINDOW 1h", of_file(path, label="b")),
        ("Answer(x, y) <- a(x, y), `other.b`(x, y) WINDOW 1h", of_file(path)),
        ("Answer(x, y) <- a(x, y) ON other WINDOW 1h WINDOW 1d", of_file(path)),
        ("Answer(x, y) <- _(x, y) WINDOW 1h", of_file(path)),
        ("Answer(x, y) <- a(x, y), b(x, y) WINDOW 1h", of_file(path)),
    ):
        with pytest.raises(UsageError) as caught:
            translated(query, catalog_of(good=DECLARED, other=stream))
        assert caught.value.code == "E-FILE", query
        assert caught.value.message.startswith(f"stream other: {path}: ")


def test_paths_that_are_not_files_are_refused_with_the_reason(tmp_path: Path) -> None:
    messages = {
        "missing": "the file does not exist",
        "pipe": "cannot be read: it is a pipe, and input is read more than once: write it to",
        "device": "cannot be read: it is a device",
        "empty": "the file is empty: there is nothing to read, not even a header",
        "folder": "the folder has no files",
        "link": "cannot be read: No such file",
        "damaged": "the gzip file is damaged or cut off",
    }
    for kind in UNREADABLE:
        path = unreadable(tmp_path, kind)
        with pytest.raises(UsageError) as caught:
            translated("Answer(x, y) <- b(x, y) WINDOW 1h", catalog_of(s=of_file(path, label="b")))
        assert messages[kind] in caught.value.message
        with pytest.raises(UsageError) as caught:
            translate_query(
                PlanRequest("Answer(x, y) <- b(x, y) WINDOW 1h", inputs=read_inputs([f"b={path}"]))
            )
        assert messages[kind] in caught.value.message


def test_planning_does_not_wait_for_an_open_pipe(tmp_path: Path) -> None:
    path = unreadable(tmp_path, "pipe")
    held = os.open(path, os.O_RDWR)
    try:
        with pytest.raises(UsageError, match="it is a pipe"):
            translated("Answer(x, y) <- b(x, y) WINDOW 1h", catalog_of(s=of_file(path, label="b")))
        stream = {"source": {"format": "parquet", "path": path}, "label": "b"}
        with pytest.raises(UsageError, match="it is a pipe"):
            translated("Answer(x, y) <- b(x, y) WINDOW 1h", catalog_of(s=stream))
    finally:
        os.close(held)


def test_an_unreadable_stream_is_a_warning_where_others_have_all_labels(tmp_path: Path) -> None:
    (tmp_path / "good.csv").write_text(HEADER + "1,2,a,5\n")
    streams = {
        "bad": of_file(tmp_path / "missing.csv"),
        "good": of_file(tmp_path / "good.csv"),
    }
    for order in (("bad", "good"), ("good", "bad")):
        catalog = catalog_of(**{name: streams[name] for name in order})
        (warning,) = translated(OF_A, catalog).warnings
        assert warning.startswith(f"stream bad: {tmp_path}/missing.csv: the file does not exist")
        with pytest.raises(UsageError, match="stream bad: ") as caught:
            translated("Answer(x, y) <- a(x, z), b(z, y) WINDOW 1h", catalog)
        assert "no other stream has b, which the query reads" in caught.value.hint


def test_a_label_of_two_streams_is_ambiguous_in_any_order(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.csv").write_text(HEADER + "1,2,a,5\n")
    for order in (("one", "two"), ("two", "one")):
        catalog = catalog_of(**{name: of_file(tmp_path / f"{name}.csv") for name in order})
        with pytest.raises(InvalidQueryError, match="the label is in the streams one, two"):
            translated(OF_A, catalog)


def test_streams_of_views_are_measured(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text(HEADER + "1,2,b,5\n")
    views = {"v": "c(x, y) <- b(x, y) WINDOW 1h", "w": "d(x, y) <- c+(x, y) WINDOW 1h"}
    streams = {
        "good": DECLARED,
        "b": of_file(tmp_path / "b.csv"),
        "bad": of_file(tmp_path / "missing.csv", label="z"),
    }
    done = translated("Answer(x, y) <- d(x, y), a(x, y) WINDOW 1h", catalog_of(views, **streams))
    assert set(done.catalog.streams["b"].labels) == {"b"}
    done = translated(OF_A, catalog_of(views, **streams))
    assert not done.catalog.streams["b"].labels


def test_vertices_are_read_for_a_property_without_a_label(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("id,label,age\n1,Person,7\n")
    people = of_file(path, vertices=True, stored=True, properties={"age": "integer"})
    catalog = catalog_of(good=DECLARED, people=people)
    done = translated("Answer(x, y) <- a(x, y), x.age > 5 WINDOW 1h", catalog)
    assert set(done.catalog.streams["people"].labels) == {"Person"}
    assert not translated(OF_A, catalog).catalog.streams["people"].labels


def test_planning_does_not_wait_for_a_hanging_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = threading.Event()
    monkeypatch.setattr(measuring, "LONGEST_SECONDS", 0.05)
    monkeypatch.setattr("headrace.catalog.files_of_stream", lambda *_: answers.wait())
    stream = of_file(tmp_path / "x.csv", label="a")
    try:
        with pytest.raises(UsageError, match=r"stream s: its files could not be read within"):
            translated(OF_A, catalog_of(s=stream))
    finally:
        answers.set()


def test_sampling_ends_in_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "SAMPLING_SECONDS", -1.0)
    path = tmp_path / "x.csv"
    path.write_text(HEADER + "".join(f"{k},{k},a,{k}\n" for k in range(200_000)))
    done = translated(OF_A, catalog_of(s=of_file(path)))
    rate = done.catalog.streams["s"].labels["a"].rate
    assert rate == pytest.approx(1, rel=0.1)
    assert done.catalog.streams["s"].labels["a"].distinct_src < 200_000


def test_a_label_of_the_query_is_measured_among_very_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("headrace.catalog.measurement.MOST_LABELS", 3)
    path = tmp_path / "x.csv"
    path.write_text(HEADER + "".join(f"1,2,l{k},{k}\n" for k in range(10)))
    for request in (
        {"inputs": read_inputs([str(path)])},
        {"catalog": catalog_of(s=of_file(path))},
    ):
        done = translate_query(PlanRequest("Answer(x, y) <- l9(x, y) WINDOW 9", **request))
        (stream,) = done.catalog.streams.values()
        assert set(stream.labels) == {"l0", "l1", "l2", "l9"}
        with pytest.raises(InvalidQueryError, match="no stream has this label"):
            translate_query(PlanRequest("Answer(x, y) <- l10(x, y) WINDOW 9", **request))
        with pytest.raises(InvalidQueryError, match="labels that the catalog does not list"):
            translate_query(PlanRequest("Answer(x, y) <- _(x, y) WINDOW 9", **request))


def test_joint_statistics_are_of_the_labels_of_the_query(tmp_path: Path) -> None:
    """Also across the streams of a catalog, and if other labels have more edges."""
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    frequent = "".join(f"1,2,l{k % 9},{k}\n" for k in range(90))
    one.write_text(HEADER + frequent + "1,2,a,1\n1,3,a,2\n")
    other.write_text(HEADER + "3,1,b,1\n")
    query = "Answer(x, z) <- a(x, y), b(y, z) WINDOW 9"
    done = translated(query, catalog_of(one=of_file(one), other=of_file(other)))
    joint = done.catalog.joint_of(("other", "b", "src"), ("one", "a", "trg"))
    assert joint is not None
    assert (joint.selectivity, joint.shared) == (0.5, 1)
    assert {end[1] for joint in done.catalog.joint for end in (joint.left, joint.right)} == {
        "a",
        "b",
    }
