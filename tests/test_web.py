"""The sources of the page: types, templates, view logic, and what it is built with.

These run with the Node of PyPI, as the build of the package does.
"""

from __future__ import annotations

import subprocess

import pytest

from web import build_page


@pytest.fixture(scope="module", autouse=True)
def _installed() -> None:
    build_page.install(tests=True)


def _npm(*arguments: str) -> None:
    command, environment = build_page.npm(*arguments)
    done = subprocess.run(
        command, cwd=build_page.WEB, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_unit_tests_of_the_page_pass() -> None:
    _npm("run", "--silent", "test")


def test_types_and_templates_of_the_page_check() -> None:
    _npm("run", "--silent", "check")


def test_the_page_passes_the_linter() -> None:
    _npm("run", "--silent", "lint")


def test_schema_types_match_the_openapi_description() -> None:
    _npm("run", "--silent", "types", "--", "--check")


def test_the_served_page_is_built_from_the_sources() -> None:
    assert build_page.built_of() == build_page.digest(), "python web/build_page.py"
