"""Training while an assistant serves: what a process of its own is to do, and what it reports.

The process reads a `TrainingOrder` from stdin, a line of JSON. It writes such lines to
stdout: a `TrainingStep` as each step begins, and a `TrainingEnd` at last.
"""

from __future__ import annotations

import msgspec

from prolocutor.contracts.pairing import Card, LabelledQuestion, Role


class TrainingLabel(msgspec.Struct, frozen=True, kw_only=True):
    """A labelled question of the assistant's own dialogs; `id` is that of the operator's label."""

    id: str = ""
    question: LabelledQuestion


class TrainingOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What is trained, from what, and the folder `out` of the new model.

    `live` is the folder of the model in use, None where there is none: the new one learns again
    what that one had learned (`data`, as KIND:PATH, takes its place), and then `labels`. `rated`
    are thumbs, `hinted` hints where they are to be learned too, and `taught` what the model in use
    has learned at once. `store`: the URL of a store whose thumbs count too.
    """

    role: Role
    method: str
    out: str
    live: str | None = None
    cards: list[Card] = []
    data: list[str] = []
    labels: list[TrainingLabel] = []
    rated: list[LabelledQuestion] = []
    hinted: list[LabelledQuestion] = []
    taught: list[LabelledQuestion] = []
    store: str | None = None
    folds: int = 5
    seed: int = 0


class ComparedFigure(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of the model in use and of the new one; `interval` (95 %) of the difference."""

    name: str
    before: float
    after: float
    difference: float
    interval: tuple[float, float] | None = None


class FlippedChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A question for which the two choose differently, and one of them rightly.

    `won`: the new one is right. `label` is the id of the operator's label that says so, "" for a
    question of other data.
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
    """The new `model` beside the one in use.

    `learned` labels, of which `fresh` are operators' that the one in use had not learned. `rows`
    are over questions that neither had learned, as far as `note` does not say otherwise. `flips`
    (`won` and `lost` of them, 50 of each shown) are what changes when it is put live, over all
    questions with a right agent; those that a thumb alone tells of are counted and not shown.
    `hints` were learned as well, and nothing was measured by them. `sure_before` and `sure_after`
    are reliability curves of the model in use and of the new one, over the same questions and
    those that nobody can answer.
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
    hints: int = 0
    sure_before: list[CalibrationBin] = []
    sure_after: list[CalibrationBin] = []


class TrainingStep(msgspec.Struct, frozen=True, tag_field="type", tag="step"):
    """How much is done, 0 to 1, and what begins."""

    share: float
    what: str


class TrainingEnd(msgspec.Struct, frozen=True, tag_field="type", tag="end"):
    """The end: a report, or why there is none."""

    report: TrainingReport | None = None
    error: str | None = None
