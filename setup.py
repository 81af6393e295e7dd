"""Has the page built before the package takes its files; all else stands in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Command, setup
from setuptools.command.build import build

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_page


class BuildPage(Command):
    """A step of the build, for wheels and editable installations alike."""

    user_options = ()
    editable_mode = False
    build_lib = None

    def initialize_options(self):
        """It has no options."""

    def finalize_options(self):
        """It has no options."""

    def run(self):
        """Builds the page, unless it is up to date."""
        build_page.build()

    def get_source_files(self):
        """MANIFEST.in names them."""
        return []

    def get_outputs(self):
        """They are data of the package ``api``."""
        return []

    def get_output_mapping(self):
        """They are data of the package ``api``."""
        return {}


class Build(build):
    """The build, which begins with the page."""

    sub_commands = [("build_page", None), *build.sub_commands]  # noqa: RUF012


setup(cmdclass={"build": Build, "build_page": BuildPage})
