"""KeptFolds: what is done of a training, beside the model's folder, until it is over."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec

from prolocutor.contracts.pairing import Card, Encoder, Role
from prolocutor.errors import ProlocutorError
from prolocutor.plugins.pairing.encoders.meanings import EncoderWiring
from prolocutor.plugins.pairing.method_catalog import load_reader
from prolocutor.plugins.pairing.model_files import load_model, save_model, training_card
from prolocutor.plugins.pairing.question_agent.meant_methods import with_encoder

_PARTIAL: Final = ".partial"
_PLAN: Final = "plan"


class PartialTraining:
    """A folder of values by name, so that the same command goes on after it was killed.

    `said` is all that the training depends on, its data included: of another one nothing is taken.
    The folder is made when the first value is written.
    """

    def __init__(self, folder: Path, said: object) -> None:
        self.place = folder.absolute().with_name(folder.name + _PARTIAL)
        content = msgspec.json.encode(said, order="deterministic")
        self._mark = blake2b(content, digest_size=16).hexdigest()
        self.is_resumed = self.read(_PLAN, str) == self._mark
        if not self.is_resumed:
            self.remove()

    def read(self, name: str, kind: Any) -> Any:
        """Return what was written under a name, None if nothing was."""
        try:
            return msgspec.json.decode((self.place / f"{name}.json").read_bytes(), type=kind)
        except (OSError, msgspec.MsgspecError):
            return None

    def write(self, name: str, value: Any) -> None:
        """Write a value, whole or not at all."""
        self._replace(f"{name}.json", msgspec.json.encode(value))

    def remove(self) -> None:
        """Remove everything."""
        shutil.rmtree(self.place, ignore_errors=True)

    def begin(self) -> None:
        """Make the folder, unless it is there."""
        if not self.place.exists():
            self.place.mkdir(parents=True)
            self.write(_PLAN, self._mark)

    def _replace(self, name: str, data: bytes) -> None:
        self.begin()
        fresh = self.place / f".{name}"
        fresh.write_bytes(data)
        fresh.replace(self.place / name)


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
