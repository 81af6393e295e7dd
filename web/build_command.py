"""Builds the page before the package takes its files; pyproject.toml names these commands."""

from __future__ import annotations

import sys
from pathlib import Path

from setuptools import Command
from setuptools.command.build import build

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_page


class BuildPage(Command):
    """The build step for wheels and editable installations."""

    user_options = ()
    editable_mode = False
    build_lib = None

    def initialize_options(self):
        """Sets no option: the page has one way to be built."""

    def finalize_options(self):
        """Sets no option: the page has one way to be built."""

    def run(self):
        """Builds the page, unless it is up to date."""
        build_page.build()

    def get_source_files(self):
        """Returns nothing: MANIFEST.in names the sources."""
        return []

    def get_outputs(self):
        """Returns nothing: the page is data of the package ``headrace.api``."""
        return []

    def get_output_mapping(self):
        """Returns nothing: the page is data of the package ``headrace.api``."""
        return {}


class Build(build):
    """The build, which begins with the page."""

    sub_commands = [("build_page", None), *build.sub_commands]  # noqa: RUF012
