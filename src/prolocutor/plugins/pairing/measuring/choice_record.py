"""ChoiceRecord: a file of every method's choices, from which a measurement goes on."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path

import msgspec

from prolocutor.contracts.pairing import LabelledQuestion
from prolocutor.errors import BadData, BadInput
from prolocutor.plugins.pairing.measuring.method_rows import MethodChoice, PairingStage
from prolocutor.plugins.pairing.measuring.pairing_data import PairingData


class _RecordHead(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: the data, a hash of the data and of how they are dealt, and their number."""

    data: str
    key: str
    questions: int


class RecordedChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A line: the choice of a method for the question of a number, with all scores."""

    stage: PairingStage
    method: str
    question: int
    text: str
    gold: list[str]
    choice: MethodChoice


class ChoiceRecord:
    """Choices in a file of JSON lines; a method is added whole, when it has chosen for all.

    `BadInput` if the file is of other data, folds, seeds or models. A method that a crash cut off
    is measured again.
    """

    def __init__(self, path: Path, data: PairingData, dealt: object) -> None:
        self._path, self._test = path, data.test
        content = msgspec.json.encode((data, dealt), order="deterministic")
        key = blake2b(content, digest_size=16).hexdigest()
        self._head = _RecordHead(data=data.name, key=key, questions=len(data.test))
        self._found: dict[tuple[PairingStage, str], list[MethodChoice]] = {}
        if path.is_file() and path.stat().st_size:
            self._read()
        else:
            path.write_bytes(_line(self._head))

    def get(self, stage: PairingStage, method: str) -> list[MethodChoice] | None:
        """Return the choices of a method for all questions in order; None if it has none yet."""
        return self._found.get((stage, method))

    def add(self, stage: PairingStage, method: str, choices: Sequence[MethodChoice]) -> None:
        """Write the choices of a method, unless they are there."""
        if (stage, method) in self._found:
            return
        self._found[stage, method] = list(choices)
        with self._path.open("ab") as file:
            file.write(b"".join(self._lines(stage, method, choices)))

    def _lines(
        self, stage: PairingStage, method: str, choices: Sequence[MethodChoice]
    ) -> list[bytes]:
        return [
            _line(_recorded(stage, method, n, self._test[n], choices[n]))
            for n in range(len(choices))
        ]

    def _read(self) -> None:
        head, *lines = self._path.read_bytes().split(b"\n")
        try:
            known = msgspec.json.decode(head, type=_RecordHead)
        except msgspec.MsgspecError as error:
            raise BadData(f"no record of choices: {error}", file=str(self._path), line=1) from None
        if known.key != self._head.key:
            what = f"{self._path} is of other data, folds, seeds or models; name another file"
            raise BadInput(what, field="choices")
        whole = [one for one in map(_choice, lines) if one is not None]
        for (stage, method), group in groupby(whole, key=lambda one: (one.stage, one.method)):
            choices = [one.choice for one in group]
            if len(choices) == len(self._test):
                self._found[stage, method] = choices
        kept = [
            line
            for (stage, method), choices in self._found.items()
            for line in self._lines(stage, method, choices)
        ]
        fresh = self._path.with_name(f".{self._path.name}-fresh")
        fresh.write_bytes(b"".join([_line(self._head), *kept]))
        fresh.replace(self._path)


def _recorded(
    stage: PairingStage, method: str, number: int, one: LabelledQuestion, choice: MethodChoice
) -> RecordedChoice:
    return RecordedChoice(
        stage=stage,
        method=method,
        question=number,
        text=one.question.text,
        gold=sorted(one.gold),
        choice=choice,
    )


def _choice(line: bytes) -> RecordedChoice | None:
    """Return what a line says; None for one that is cut off."""
    try:
        return msgspec.json.decode(line, type=RecordedChoice)
    except msgspec.MsgspecError:
        return None


def _line(said: msgspec.Struct) -> bytes:
    return msgspec.json.encode(said) + b"\n"
