"""Remedies for errors: one value, and the names of settings in each interface."""

from __future__ import annotations

from headrace.algebra.remedy import Remedy, advice

WINDOW = Remedy("window", "give a default window", "24h")
FOLDER = Remedy("checkpoint", "Give a new folder as checkpoint")


def test_advice_names_the_settings_of_an_interface() -> None:
    assert advice("add WINDOW 24h", [WINDOW], {"window": "--window {value}"}) == (
        "add WINDOW 24h, or give a default window (--window 24h)"
    )


def test_advice_leaves_out_settings_that_an_interface_lacks() -> None:
    assert advice("add WINDOW 24h", [WINDOW], {}) == "add WINDOW 24h"
    assert advice("", [WINDOW], {}) == ""


def test_advice_without_names_has_all_remedies() -> None:
    assert advice("add WINDOW 24h", [WINDOW]) == "add WINDOW 24h, or give a default window"


def test_advice_stays_a_sentence() -> None:
    assert advice("Mend it.", [WINDOW]) == "Mend it, or give a default window."
    assert advice("", [FOLDER], {"checkpoint": "--checkpoint"}) == (
        "Give a new folder as checkpoint (--checkpoint)."
    )
