"""Remedies for an error, as data that the command line, the REST service and the page each word.

The command line, the REST service, the page and the Python API name a setting differently, and
each has only some of the settings. Therefore a message names no setting: beside its hint it has
:class:`Remedy` values, and :func:`advice` writes them with the names of one interface.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Setting = Literal[
    "window",
    "evaluate",
    "path_semantics",
    "simple_budget",
    "input",
    "stored",
    "vertices",
    "vertex_type",
    "catalog",
    "measure",
    "strict",
    "checkpoint",
    "output",
    "packages",
    "logs",
]
"""The settings of a request or a run, under names that no interface uses."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of one setting that helps.

    Attributes:
        setting: what to change.
        text: the change as an imperative, in words that fit every interface.
        value: what to set it to, if there is one value that helps.
    """

    setting: Setting
    text: str
    value: str = ""


Names = Mapping[Setting, str]
"""The names of an interface for its settings; ``{value}`` stands for the value."""


def advice(hint: str, remedies: Iterable[Remedy], names: Names | None = None) -> str:
    """The hint of a message and its remedies as one text.

    Args:
        hint: the advice for every interface, or an empty text.
        remedies: changes of settings that help as well.
        names: the names of the interface; a remedy for a setting without a name is left out.
            Without ``names`` all remedies are written, without names of settings.

    >>> give = Remedy("window", "give a default window", "24h")
    >>> advice("add WINDOW 24h", [give], {"window": "--window {value}"})
    'add WINDOW 24h, or give a default window (--window 24h)'
    """
    parts = [hint.removesuffix(".")] if hint else []
    for remedy in remedies:
        if names is None:
            parts.append(remedy.text)
        elif remedy.setting in names:
            name = names[remedy.setting].format(value=remedy.value).strip()
            parts.append(f"{remedy.text} ({name})")
    text = ", or ".join(parts)
    is_sentence = hint.endswith(".") if hint else text[:1].isupper()
    return f"{text}." if is_sentence else text
