"""Models in use: the models of routers and rankers, and how they are trained anew.

The process reads a `TrainingOrder` from stdin, a line of JSON. It writes such lines to
stdout: a `TrainingStep` as each step begins, and a `TrainingEnd` at last.

Calls of a shelf and of `reload` block: they are made in a thread.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec

from prolocutor.contracts.pairing import Card, LabelledQuestion, Role


class TrainingLabel(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled question of the assistant's own dialogs; `id` is the operator's label's."""

    id: str = ""
    question: LabelledQuestion


class TrainingOrder(msgspec.Struct, frozen=True, kw_only=True):
    """A training: role and method, the material, and the folder `out` of the new model.

    - `live` is the folder of the model in use, None without a model. The new model learns the
      lessons of that model again (or `data`, each KIND:PATH, in their place), and then `labels`.
    - `rated` are thumbs, `taught` the thumbs that the model in use has learned already.
    - `store` is the URL of a store whose thumbs count too, `encoder` the folder of the selector's
      encoder.
    """

    role: Role
    method: str
    out: str
    live: str | None = None
    cards: list[Card] = []
    data: list[str] = []
    labels: list[TrainingLabel] = []
    rated: list[LabelledQuestion] = []
    taught: list[LabelledQuestion] = []
    store: str | None = None
    encoder: str | None = None
    folds: int = 5
    seed: int = 0


class ComparedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure of the model in use and of the new model; `interval` (95 %) of the difference."""

    name: str
    before: float
    after: float
    difference: float
    interval: tuple[float, float] | None = None


class FlippedChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A question for which only one of the two models chooses rightly.

    `won`: the new model is right, by the operator's label with the id `label`, "" for a question of
    other data.
    """

    text: str
    before: str
    after: str
    won: bool
    label: str = ""


class CalibrationBin(msgspec.Struct, frozen=True):
    """Choices with a probability between two bounds: count, mean probability, share right."""

    count: int
    probability: float
    right: float


class TrainingReport(msgspec.Struct, frozen=True, kw_only=True):
    """The new `model` compared with the model in use.

    The new model learned `learned` labels, `fresh` of which are operators' labels that the model in
    use had not learned.

    - `rows` and `flips` are over questions that neither model had learned, by folds, unless `note`
      says otherwise.
    - `flips` are the changes over all questions with a right agent: `won` and `lost` count them, 50
      of each are listed, without questions of which only a thumb is known.
    - `sure_before` and `sure_after` are the reliability curves of the two models, over the same
      questions and questions that nobody can answer.
    """

    model: str
    role: Role
    method: str
    before: str = ""
    learned: int = 0
    fresh: int = 0
    rows: list[ComparedFigure] = []
    won: int = 0
    lost: int = 0
    flips: list[FlippedChoice] = []
    note: str = ""
    sure_before: list[CalibrationBin] = []
    sure_after: list[CalibrationBin] = []


class TrainingStep(msgspec.Struct, frozen=True, tag_field="type", tag="step"):
    """The finished share, 0 to 1, and the next step."""

    share: float
    what: str


class TrainingEnd(msgspec.Struct, frozen=True, tag_field="type", tag="end"):
    """The end: a report, or why there is none."""

    report: TrainingReport | None = None
    error: str | None = None


class TaughtLesson(Protocol):
    """A label that a router learned while in use: a thumb."""

    @property
    def text(self) -> str:
        """The question."""

    @property
    def user(self) -> str:
        """The name of the asking user, "" if unknown."""

    @property
    def labelled(self) -> LabelledQuestion:
        """The question with how right each agent is."""


class TaughtMethod(Protocol):
    """The lessons a router learns from people while it is in use."""

    def lessons(self) -> Sequence[TaughtLesson]:
        """Return the lessons of thumbs."""


class StoredModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model without its data: `made` is the UTC date, `learned` the number of its questions."""

    id: str
    method: str
    made: str = ""
    learned: int = 0
    note: str = ""


class ShelvedModel(msgspec.Struct, frozen=True):
    """A model on the shelf, and the report of its training if any."""

    model: StoredModel
    report: TrainingReport | None


class ModelShelf(Protocol):
    """The candidates to replace the model in use, and its predecessors."""

    def live(self) -> StoredModel | None:
        """Return the model in use, or None."""

    def models(self) -> list[ShelvedModel]:
        """Return the models on the shelf, the latest first, without damaged models."""

    def new_folder(self) -> Path:
        """Make an empty folder, hidden from the list, for a model in training."""

    def put(self, folder: Path, report: TrainingReport) -> None:
        """Put a model trained within a `new_folder` on the shelf."""

    def install(self, id_: str) -> str:
        """Put a model in use, and return the id of its predecessor, "" for none.

        The predecessor stays on the shelf. Raise `NotFound` for an unknown id, `ConfigError` for a
        damaged model.
        """

    def delete(self, id_: str) -> None:
        """Remove a model from the shelf; raise `NotFound` for an unknown id."""

    def tidy(self, former: Collection[str]) -> None:
        """Keep some `former` models, named by id, some others, and the model in use."""

    def sweep(self) -> None:
        """Remove the leftovers of interrupted trainings."""


class ModelSource(Protocol):
    """A model in a folder. `trainer` is the module to train its successor."""

    trainer: str

    @property
    def folder(self) -> Path:
        """Where the model is read from."""

    @property
    def problem(self) -> str:
        """The fault in the way of the model's learning; "" without a fault."""

    @property
    def shelf(self) -> ModelShelf:
        """The models beside it."""

    @property
    def latest(self) -> Any:
        """The method in use and its version; starts a reload if the folder has changed."""

    def reload(self) -> None:
        """Read the folder now."""


class ModelInUse(msgspec.Struct, frozen=True, kw_only=True):
    """A router or ranker of an assistant, read from a folder, as its training sees it.

    It selects by a model of this `method`, and by the agents' `cards`. `learner` teaches it thumbs
    at once; None where it learns by training alone. `encoder` is the folder of its encoder, None
    without a folder.
    """

    role: Role
    method: str
    source: ModelSource
    cards: list[Card]
    learner: TaughtMethod | None = None
    encoder: Path | None = None


@runtime_checkable
class AbstainingSelector(Protocol):
    """A response selector that may abstain from an answer."""

    @property
    def may_abstain(self) -> bool:
        """Whether it ever does."""

    def is_abstention(self, skill: str, text: str) -> bool:
        """Return whether a reply, possibly cut, is the text for want of a likely answer."""
