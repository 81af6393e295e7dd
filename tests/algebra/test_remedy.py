"""What to do about an error: one value, and the words of each face."""

from __future__ import annotations

from headrace.algebra.remedy import Remedy, advice

WINDOW = Remedy("window", "give a default window", "24h")
FOLDER = Remedy("checkpoint", "Give a new folder as checkpoint")


def test_advice_names_the_settings_of_a_face() -> None:
    assert advice("add WINDOW 24h", [WINDOW], {"window": "--window {value}"}) == (
        "add WINDOW 24h, or give a default window (--window 24h)"
    )


def test_advice_leaves_out_settings_that_a_face_lacks() -> None:
    assert advice("add WINDOW 24h", [WINDOW], {}) == "add WINDOW 24h"
    assert advice("", [WINDOW], {}) == ""


def test_advice_without_a_face_tells_all_remedies() -> None:
    assert advice("add WINDOW 24h", [WINDOW]) == "add WINDOW 24h, or give a default window"


def test_advice_stays_a_sentence() -> None:
    assert advice("Mend it.", [WINDOW]) == "Mend it, or give a default window."
    assert advice("", [FOLDER], {"checkpoint": "--checkpoint"}) == (
        "Give a new folder as checkpoint (--checkpoint)."
    )
