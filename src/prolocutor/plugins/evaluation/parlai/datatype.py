"""Datatype: which fold of the data, and how a teacher goes through it.

Source: ParlAI 1.7.2's `DatatypeHelper`. `train`, `valid` or `test`, then any of `:stream`,
`:ordered` and `:evalmode`.
"""

from __future__ import annotations

from typing import Final, Literal, cast

from prolocutor.errors import BadInput

Fold = Literal["train", "valid", "test"]

FOLDS: Final = ("train", "valid", "test")
MODES: Final = ("stream", "ordered", "evalmode")


class Datatype:
    """One datatype, such as `train:stream:ordered`; `str()` gives it back.

    - `training`: the gold answers are in `labels`, else in `eval_labels`
    - `cycle`: after the end it starts again, and the epoch is never done
    - `random`: episodes are drawn with replacement (exactly `train`)
    - `shuffle`: of several tasks the next is drawn by weight, else they take turns
    - `stream`: nothing is kept in memory
    """

    __slots__ = ("cycle", "fold", "random", "shuffle", "stream", "text", "training")

    def __init__(self, text: str) -> None:
        fold, *modes = text.split(":")
        if fold not in FOLDS or not set(modes) <= set(MODES):
            raise BadInput(
                f"{text!r} is not a datatype: it is train, valid or test, with :stream, :ordered"
                " or :evalmode after it",
                field="datatype",
            )
        learns = fold == "train" and "evalmode" not in modes
        self.text = text
        self.fold = cast("Fold", fold)
        self.training = learns
        self.stream = "stream" in modes
        self.cycle = learns and "ordered" not in modes
        self.shuffle = self.cycle and not self.stream
        self.random = text == "train"

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Datatype({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Datatype) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)
