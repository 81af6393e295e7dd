"""``headrace run --master``: what is refused before Spark starts."""

from __future__ import annotations

import pytest

from headrace.api.request import master_url
from headrace.executor.spark.session.cluster import (
    absolute_files,
    cluster_of,
    network_settings,
)
from headrace.executor.spark.session.options import SessionOptions
from headrace.planning.errors import UsageError


@pytest.mark.parametrize(
    "master",
    ["local", "local[2]", "local[*,4]", "spark://a:7077", "spark://a:1,b:2", "yarn", "k8s://h:1"],
)
def test_addresses_of_clusters_are_taken(master: str) -> None:
    assert master_url(master, {}) == master


@pytest.mark.parametrize("master", ["", "a:7077", "spark://a", "http://a:7077", "local[x]"])
def test_other_addresses_are_refused(master: str) -> None:
    with pytest.raises(UsageError, match="not the address of a cluster"):
        master_url(master, {})


def test_two_addresses_are_refused() -> None:
    with pytest.raises(UsageError, match="give one of them"):
        master_url("yarn", {"spark.master": "yarn"})


def test_a_setting_names_a_cluster_as_the_option_does() -> None:
    assert cluster_of(SessionOptions(conf={"spark.master": "spark://a:1"})) == "spark://a:1"
    assert cluster_of(SessionOptions(master="spark://a:1")) == "spark://a:1"
    assert cluster_of(SessionOptions(master="local[2]")) is None
    assert cluster_of(SessionOptions()) is None


def test_the_driver_stays_on_loopback_unless_the_cluster_is_elsewhere() -> None:
    for near in (None, "spark://127.0.0.1:7077", "spark://localhost:7077"):
        assert network_settings(near)["spark.driver.host"] == "127.0.0.1"
    assert network_settings("spark://127.0.0.1.example.org:7077") == {}
    assert network_settings("yarn") == {}


def test_relative_files_are_those_below_the_current_folder(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    with open("env.tar.gz", "w"):
        pass
    conf = {"spark.archives": "env.tar.gz#environment,hdfs://a/b", "spark.app.name": "env.tar.gz"}
    assert absolute_files(conf) == {
        "spark.archives": f"{tmp_path}/env.tar.gz#environment,hdfs://a/b",
        "spark.app.name": "env.tar.gz",
    }
