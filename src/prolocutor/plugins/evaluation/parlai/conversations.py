"""Conversations: ParlAI's logs of dialogs, one JSON object a line.

Source: ParlAI 1.7.2's `Conversations` and `ConversationTeacher`. `{"dialog": [[{"id", "text", ...},
...], ...], "context": [...], "metadata_path": ...}`; beside `F.jsonl` stands `F.metadata`. The
inner lists are flattened; turns whose id is `context` and the context at the top are left out.
`label_turns` names the speaker whose turns are the labels: the second, the first (who then answers
`__SILENCE__` first), or both, with an episode each.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec

from prolocutor.bounds import about
from prolocutor.data_sets import DataPlace, OnFault, refuse
from prolocutor.errors import BadData, BadInput
from prolocutor.plugins.evaluation.parlai.line_reader import LineSource
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.text_writer import TextWriter, check_lossless

LabelTurns = Literal["secondspeaker", "firstspeaker", "both"]
Turn = dict[str, Any]

SUFFIX: Final = ".jsonl"
LABEL_TURNS: Final = ("secondspeaker", "firstspeaker", "both")
SILENCE: Final = "__SILENCE__"
CONTEXT: Final = "context"
VERSION: Final = "0.1"

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode


class Conversations(LineSource):
    """A file of conversations."""

    def __init__(
        self,
        file: str | Path,
        *,
        label_turns: str = "secondspeaker",
        on_fault: OnFault = refuse,
    ) -> None:
        if label_turns not in LABEL_TURNS:
            what = f"{label_turns!r} is none of {', '.join(LABEL_TURNS)}"
            raise BadInput(what, field="label_turns")
        super().__init__(file, on_fault)
        self._label_turns = label_turns

    def episodes(self) -> Iterator[list[Message]]:
        """Read the file once."""
        for turns in self._parse_lines(lambda line: read_turns(line) if line.strip() else None):
            yield from make_episodes(turns, self._label_turns)


def read_turns(line: str) -> list[Turn]:
    """Read one line as the turns of its dialog, without context; raise `BadData` with the field."""
    try:
        conversation = _decode(line)
    except (ValueError, RecursionError) as error:
        raise BadData(f"not JSON: {error}") from None
    if not isinstance(conversation, dict) or not isinstance(conversation.get("dialog"), list):
        raise BadData(
            "is missing; a line is an object with a list of lists of turns", field="dialog"
        )
    turns: list[Turn] = []
    for place, acts in enumerate(conversation["dialog"]):
        if not isinstance(acts, list):
            raise BadData("is not a list of turns", field=f"dialog[{place}]")
        for inner, act in enumerate(acts):
            _check_act(act, f"dialog[{place}][{inner}]")
            turns.append({"id": None, "text": None} | act)
    return [turn for turn in turns if turn["id"] != CONTEXT]


def make_episodes(turns: list[Turn], label_turns: str = "secondspeaker") -> Iterator[list[Message]]:
    """Yield the episodes of a dialog: two at most, none if a pair of turns is missing."""
    spoken: list[Turn] = [{"text": SILENCE}, *turns]
    first, second = label_turns != "secondspeaker", label_turns != "firstspeaker"
    if first and (episode := _pairs(spoken[::2], spoken[1::2])):
        yield episode
    if second and (episode := _pairs(spoken[1::2], spoken[2::2])):
        yield episode


class ConversationsWriter(TextWriter):
    """Writes a file of conversations, and at the end its metadata file if the file has a name.

    Examples may have `text`, one label, the speaker's `id`, and `x_turn` and `y_turn`, as examples
    read from conversations do.
    """

    def __init__(self, file: Any, *, opt: dict[str, Any] | None = None) -> None:
        super().__init__(file)
        self._metadata = (
            Path(file).with_suffix(".metadata") if isinstance(file, str | Path) else None
        )
        self._opt = opt or {}
        self._speakers: dict[str, None] = {}

    def write(self, episode: Sequence[dict[str, Any]]) -> None:
        """Write an episode; raise `BadData` where something would be lost."""
        dialog = [list(_example_turns(message)) for message in episode]
        conversation: dict[str, Any] = {"dialog": dialog, "context": []}
        if self._metadata is not None:
            conversation["metadata_path"] = str(self._metadata)
        try:
            line = _encode(conversation).decode()
        except (TypeError, ValueError) as error:
            raise BadData(f"cannot be written as JSON: {error}") from None
        again = next(make_episodes(read_turns(line)), [])
        if len(again) != len(episode):
            raise BadData(f"a speaker called {CONTEXT!r} is not read again", field="id")
        for message, read in zip(episode, again, strict=True):
            _check_example(message, read)
        self._speakers.update((str(one.get("id")), None) for pair in dialog for one in pair)
        self.put(f"{line}\n")

    def finish(self) -> None:
        """Write the metadata, as ParlAI's tools expect them beside the file."""
        if self._metadata is None:
            return
        metadata = {
            "date": str(datetime.datetime.now(datetime.UTC).replace(tzinfo=None)),
            "opt": self._opt,
            "self_chat": False,
            "speakers": list(self._speakers),
            "version": VERSION,
        }
        self._metadata.write_text(json.dumps(metadata) + "\n", encoding="utf-8")


def _check_act(act: Any, place: str) -> None:
    if not isinstance(act, dict):
        raise BadData("is not an object with id and text", field=place)
    if not isinstance(act.get("text"), str):
        raise BadData("is not a text", field=f"{place}.text")


def _pairs(xs: list[Turn], ys: list[Turn]) -> list[Message]:
    return [
        Message(text=x["text"], labels=[y["text"]], x_turn=dict(x), y_turn=dict(y))
        for x, y in zip(xs, ys, strict=False)
    ]


def _example_turns(message: dict[str, Any]) -> tuple[Turn, Turn]:
    """Return the turns of the two speakers in an example."""
    labels = message.get("labels")
    if not isinstance(labels, list | tuple) or len(labels) != 1:
        raise BadData("a conversation has exactly one answer to a text", field="labels")
    if "x_turn" in message and "y_turn" in message:
        return message["x_turn"], message["y_turn"]
    x = {"id": message.get("id", "user"), "text": message.get("text")}
    return x, {"id": "assistant", "text": labels[0]}


def _check_example(message: dict[str, Any], read: dict[str, Any]) -> None:
    kept = {**read, "id": read["x_turn"].get("id")} if "id" in message else dict(read)
    for added in {"x_turn", "y_turn"} - message.keys():
        del kept[added]
    check_lossless(message, kept, "conversations")


class ConversationsData(msgspec.Struct, frozen=True, kw_only=True):
    """A file of conversations, as ParlAI logs them."""

    suffix: ClassVar[str] = ".jsonl"
    label_turns: Annotated[str, about("The speaker whose turns are labels.")] = "secondspeaker"

    def build(self, place: DataPlace) -> Conversations:
        """Return the data set."""
        file = place.file(self.suffix)
        return Conversations(file, label_turns=self.label_turns, on_fault=place.on_fault)
