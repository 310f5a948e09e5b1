"""FbDialog: numbered lines, `N text<tab>label|label<tab>reward<tab>candidate|candidate<tab>image`.

Source: ParlAI 1.7.2's `FbDeprecatedDialogTeacher`. A number not above the preceding number begins
an episode. Lines without labels are context, put before the next text with newlines between; the
rewards of context lines are added up. A literal backslash and n is a newline; text is stripped.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, NamedTuple

import msgspec

from prolocutor.bounds import about
from prolocutor.data_sets import DataPlace, OnFault, refuse
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.line_reader import LineReader, LineSource
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.text_writer import TextWriter, check_lossless

SUFFIX: Final = ".txt"
CLOZE: Final = "Fill in the blank in the last sentence.\n"


class _Line(NamedTuple):
    """The fields of one line; absent fields are None."""

    number: int
    text: str
    labels: list[str] | None
    reward: float | None
    candidates: list[str] | None
    image: str | None


class FbDialog(LineSource):
    """A file in FbDialog format; `cloze` puts the words of cloze tasks before each episode."""

    def __init__(
        self, file: str | Path, *, cloze: bool = False, on_fault: OnFault = refuse
    ) -> None:
        super().__init__(file, on_fault)
        self._cloze = cloze

    def episodes(self) -> Iterator[list[Message]]:
        """Read the file once."""
        reading = _Reading(self._cloze)
        for line in self._parse_lines(_parse):
            if episode := reading.take(line):
                yield episode
        if episode := reading.end():
            yield episode


class _Reading:
    """Lines put together to examples and these to episodes."""

    def __init__(self, cloze: bool) -> None:
        self._cloze = cloze
        self._last: int | None = None
        self._text = ""
        self._reward: float = 0
        self._episode: list[Message] = []

    def take(self, line: _Line) -> list[Message] | None:
        """Take one line; return the episode before it if the line begins another."""
        ended = None
        if self._last is None or line.number <= self._last:
            ended = self.end()
            self._begin(CLOZE + line.text if self._cloze else line.text)
        else:
            self._text = f"{self._text}\n{line.text}" if self._text else line.text
        self._last = line.number
        self._reward += line.reward or 0
        if line.labels is not None:
            self._add(line)
        return ended

    def end(self) -> list[Message] | None:
        """Return the episode so far; context that nothing came after is an example of its own."""
        if text := self._text.strip():
            self._text = text
            self._add(None)
        return self._episode or None

    def _begin(self, text: str) -> None:
        self._text, self._reward, self._episode = text, 0, []

    def _add(self, line: _Line | None) -> None:
        message = Message(text=self._text)
        if line is not None:
            message["labels"] = line.labels
        message["reward"] = self._reward
        if line is not None and line.candidates is not None:
            message["label_candidates"] = line.candidates
        if line is not None and line.image is not None:
            message["image"] = line.image
        self._episode.append(message)
        self._text, self._reward = "", 0


def read_candidates(file: str | Path) -> list[str]:
    """Read a file of candidates: a candidate a line, or the replies of a file in FbDialog format.

    All lines are numbered if the first line begins with `1 `.
    """
    numbered = False
    replies = False
    found: list[str] = []
    for place, (_, raw) in enumerate((n, one) for n, one in LineReader(file) if one.strip()):
        line = raw.strip().replace("\\n", "\n")
        numbered = numbered or (place == 0 and line.startswith("1 "))
        if "\t" in line and not replies:
            replies, found = True, []
        if numbered:
            line = line[line.find(" ") + 1 :]
        if not (numbered and replies):
            found.append(line)
        elif (reply := [*line.split("\t"), ""][1]) != "":
            found.append(reply)
    return found


class FbDialogWriter(TextWriter):
    """Writes a file in FbDialog format, a line for each example."""

    def write(self, episode: Sequence[dict[str, Any]]) -> None:
        """Write an episode; raise `BadData` where something would be lost."""
        lines = [_format_line(number, message) for number, message in enumerate(episode, 1)]
        reading = _Reading(cloze=False)
        for text in lines:
            if line := _parse(text):
                reading.take(line)
        again = reading.end() or []
        if len(again) != len(episode):
            what = "has no labels: in FbDialog format it would be context of the next example"
            raise BadData(what, field="labels")
        for message, read in zip(episode, again, strict=True):
            check_lossless(message, read, "FbDialog format")
        self.put("".join(f"{line}\n" for line in lines))


def _parse(raw: str) -> _Line | None:
    text = raw.strip().replace("\\n", "\n")
    if not text:
        return None
    number, _, rest = text.partition(" ")
    if not number.isascii() or not number.isdigit():
        raise BadData(f"the line begins with {number[:20]!r}, not with a number")
    parts = [part.strip() for part in rest.split("\t")]
    if len(parts) > 5:
        raise BadData(f"{len(parts)} columns; there are text, labels, reward, candidates, image")
    labels = parts[1].split("|") if parts[1:] and parts[1] else None
    reward = _reward(parts[2]) if parts[2:] else None
    candidates = parts[3].split("|") if parts[3:] else None
    if labels and candidates and labels[0] not in candidates:
        raise BadData(f"the label {labels[0]!r:.40} is not among them", field="label_candidates")
    image = parts[4] or None if parts[4:] else None
    return _Line(int(number), parts[0], labels, reward, candidates, image)


def _reward(text: str) -> float | None:
    if not text:
        return None
    try:
        reward = float(text)
    except ValueError:
        reward = math.nan
    if not math.isfinite(reward):
        raise BadData(f"{text[:40]!r} is not a finite number", field="reward")
    return reward


def _format_line(number: int, message: dict[str, Any]) -> str:
    columns = [message.get("text"), message.get("labels")]
    columns += [message.get("reward") or None, message.get("label_candidates")]
    columns.append(message.get("image"))
    return f"{number} " + "\t".join(map(_column, columns)).rstrip("\t")


def _column(value: Any) -> str:
    if value is None:
        return ""
    text = "|".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return text.replace("\n", "\\n")


class FbDialogData(msgspec.Struct, frozen=True, kw_only=True):
    """A file in FbDialog format."""

    suffix: ClassVar[str] = ".txt"
    cloze: Annotated[bool, about("Whether the words of cloze tasks come first.")] = False

    def build(self, place: DataPlace) -> FbDialog:
        """Return the data set."""
        return FbDialog(place.file(self.suffix), cloze=self.cloze, on_fault=place.on_fault)
