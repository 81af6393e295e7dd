"""The settings of Sphinx for the documentation site.

The sources are the pages of the repository as they are, so the source folder is its root:

    sphinx-build -W --keep-going -q -c docs/site . build/site

``-W`` turns broken links and unresolved references into errors.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # for the extension beside this file

project = "Headrace"
copyright = "The Headrace authors"
html_title = "Headrace"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "schema_pages",
]

# Sources: the pages, and the parts of the site that only a site can have.
root_doc = "README"
include_patterns = [
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/**",
    "examples/*/README.md",
    "web/README.md",
]
exclude_patterns = [
    ".*",
    "build",
    "web/node_modules",
    "web/src",
    "**/__pycache__",
]

# Markdown as a code host reads it.
myst_heading_anchors = 4
myst_fence_as_directive: list[str] = []
suppress_warnings = [
    "misc.highlighting_failure",  # examples with `...`, and languages that Pygments lacks
    "myst.header",  # some pages begin below the first level
]
highlight_language = "none"  # a block without a language is a query or a terminal

# Docstrings: a name in single backticks is a reference where it is public, else code.
default_role = "py:obj"
nitpicky = True
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_member_order = "bysource"
napoleon_numpy_docstring = False
napoleon_use_ivar = True

# The theme has its fonts and scripts with it: the site works without a network.
html_theme = "furo"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
