"""What a user can do about an error, as data; command line, REST and page each word it.

The command line, the REST service, the page and the Python API call a setting by different names,
and not each of them has every setting. So a message names none of them: beside its hint it holds
:class:`Remedy` values, and :func:`advice` puts them together with the names of one face.
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
"""What a request or a run can be given, in no face's words."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A change of one setting that helps.

    Attributes:
        setting: what to change.
        text: the change as an imperative, in words that fit every face.
        value: what to set it to, if there is one value that helps.
    """

    setting: Setting
    text: str
    value: str = ""


Names = Mapping[Setting, str]
"""What a face calls the settings that it has; ``{value}`` stands for the value."""


def advice(hint: str, remedies: Iterable[Remedy], names: Names | None = None) -> str:
    """The hint of a message and its remedies as one text.

    Args:
        hint: what helps in every face, or nothing.
        remedies: changes of settings that help as well.
        names: those of the face; a remedy for a setting that it lacks is left out. Without
            ``names`` all remedies are told, and no name.

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
