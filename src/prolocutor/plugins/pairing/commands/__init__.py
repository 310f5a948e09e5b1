"""The commands that train and measure routers and rankers, each imported when it is called."""

from __future__ import annotations

from typing import ClassVar

from prolocutor.cli.lazy_group import LazyCommand


class TrainCommand(LazyCommand, frozen=True):
    """Train a router or a ranker on labels."""

    place: ClassVar[str] = "prolocutor.plugins.pairing.commands.train:train"


class EvaluatePairingCommand(LazyCommand, frozen=True):
    """Measure routers, rankers and budgets."""

    place: ClassVar[str] = "prolocutor.plugins.pairing.commands.evaluate_pairing:pairing"
