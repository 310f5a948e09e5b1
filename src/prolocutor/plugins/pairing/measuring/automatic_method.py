"""The method `auto`: the one that is right most often by folds, on the labels at hand."""

from __future__ import annotations

from typing import Final

import msgspec

from prolocutor.contracts.pairing import Role
from prolocutor.errors import MissingExtra
from prolocutor.plugins.pairing.folds import folds_of
from prolocutor.plugins.pairing.measuring.measurement import Measurement
from prolocutor.plugins.pairing.measuring.method_rows import (
    BootstrapSamples,
    MethodChoice,
    PairingStage,
    row_of,
)
from prolocutor.plugins.pairing.method_catalog import load_fit
from prolocutor.reading.words import near_duplicates

AUTO: Final = "auto"

_CANDIDATES: Final[dict[Role, tuple[str, ...]]] = {
    "router": ("cards", "learned"),
    "ranker": ("unsupervised", "learned"),
}


def candidates(role: Role) -> list[str]:
    """Return the methods that `auto` picks from, the simplest first, without missing extras."""
    found = []
    for name in _CANDIDATES[role]:
        try:
            load_fit(name, role)
        except MissingExtra:
            continue
        found.append(name)
    return found


def simplest(role: Role) -> str:
    """Return the method that is taken where there are too few labels to measure."""
    return _CANDIDATES[role][0]


def picked(measured: Measurement, stage: PairingStage, names: list[str]) -> tuple[str, str]:
    """Return the method that is right most often, the simplest of equal ones, and why."""
    shares = {row.method: row.precision_at_1 for row in measured.rows if row.stage == stage}
    best = max(names, key=lambda name: shares[name])
    said = ", ".join(f"{name} {100 * shares[name]:.2f}" for name in names)
    return best, f"right most often by {measured.folds} folds: {said}"


def with_automatic(measured: Measurement, stage: PairingStage, names: list[str]) -> Measurement:
    """Add the row of `auto`: each fold has the method that is best on the other folds.

    So its figure is not that of the luckiest method, which would be too high.
    """
    groups = near_duplicates([one.question.text for one in measured.test])
    folds = folds_of(groups, measured.folds, measured.seed)
    of_names = {name: measured.choices[stage, name] for name in names}
    best = {fold: _best(measured, of_names, folds, fold) for fold in set(folds)}
    choices = [of_names[best[fold]][place] for place, fold in enumerate(folds)]
    asked = [group for group, one in zip(groups, measured.test, strict=True) if one.gold]
    samples = BootstrapSamples(asked, measured.seed)
    return msgspec.structs.replace(
        measured,
        rows=[*measured.rows, row_of(AUTO, stage, measured.test, choices, samples)],
        choices={**measured.choices, (stage, AUTO): choices},
    )


def _best(
    measured: Measurement, of_names: dict[str, list[MethodChoice]], folds: list[int], fold: int
) -> str:
    others = [place for place, its in enumerate(folds) if its != fold and measured.test[place].gold]
    return max(of_names, key=lambda name: sum(of_names[name][place].right for place in others))
