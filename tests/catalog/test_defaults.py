"""The default catalog, without any declaration or measurement."""

from headrace.catalog import DEFAULT_STATISTICS, default_catalog, dumps, loads


def test_every_label_has_the_same_statistics_and_any_other_may_occur() -> None:
    catalog = default_catalog(["b", "a", "b"])
    (stream,) = catalog.streams.values()
    assert list(stream.labels) == ["a", "b"]
    assert set(stream.labels.values()) == {DEFAULT_STATISTICS}
    assert catalog.streams_of("a") == (stream,)
    assert catalog.streams_of("other") == (stream,)


def test_default_catalog_reads_as_itself() -> None:
    catalog = default_catalog(["a"])
    assert loads(dumps(catalog)) == catalog


def test_qualified_labels_go_to_their_stream() -> None:
    catalog = default_catalog(["s.a", "t.a", "b", "s."], streams=["s"])
    assert {name: list(stream.labels) for name, stream in catalog.streams.items()} == {
        "input": ["b", "s.", "t.a"],
        "s": ["a"],
    }
