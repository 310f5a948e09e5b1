"""KeptFolds: what folds have learned, kept as models until the training is over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from prolocutor.contracts.pairing import Card, Encoder, Role
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.pairing.encoders.encoder_wiring import EncoderWiring
from prolocutor.plugins.pairing.measuring.partial_training import PartialTraining
from prolocutor.plugins.pairing.method_catalog import load_reader
from prolocutor.plugins.pairing.model_files import load_model, save_model, training_card
from prolocutor.plugins.pairing.question_agent.meant_methods import with_encoder


class FoldStore(Protocol):
    """Keeps what was learned for a fold, and finds it when the same training goes on."""

    def find(self, role: Role, name: str, fold: int) -> Any:
        """Return the method that was kept for a fold; None if there is none."""

    def keep(self, role: Role, name: str, fold: int, method: Any) -> None:
        """Keep a method that was fitted for a fold."""


class KeptFolds:
    """A `FoldStore` in the folder of a partial training: a model for each method and fold."""

    def __init__(
        self, partial: PartialTraining, cards: Sequence[Card], encoder: Encoder | None = None
    ) -> None:
        self._partial, self._cards = partial, cards
        self._wired = None if encoder is None else EncoderWiring(encoder)
        self._found = len([*partial.place.glob("*/model.json")]) if partial.is_resumed else 0

    @property
    def found(self) -> int:
        """How many models were there when the training went on."""
        return self._found

    def find(self, role: Role, name: str, fold: int) -> Any:
        """Return the method that was kept for a fold; None if there is none that can be read."""
        place = self._place(role, name, fold)
        if not place.is_dir():
            return None
        try:
            model = load_model(place)
            method = load_reader(name, role).of_model(model, self._cards)
            return with_encoder(method, model, self._wired)
        except ProlocutorError:
            return None

    def keep(self, role: Role, name: str, fold: int, method: Any) -> None:
        """Keep a method that was fitted for a fold, if it can be stored."""
        if not hasattr(method, "to_model"):
            return
        self._partial.begin()
        save_model(self._place(role, name, fold), method.to_model(training_card(0)))

    def _place(self, role: Role, name: str, fold: int) -> Path:
        return self._partial.place / f"{role}-{name}-{fold}"
