"""Data sets that are a function, written as for ParlAI's `DialogTeacher.setup_data`.

Source: ParlAI 1.7.2's `DialogTeacher` and `DialogData`. The function is given the name of a file
(or fold) and yields `(entry, new_episode)`; an entry is a dictionary of fields, or a tuple
`(text, labels, reward, label_candidates, image)` of which only the text is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from prolocutor.data_sets import OnFault, refuse
from prolocutor.errors import BadData
from prolocutor.plugins.evaluation.parlai.message import Message

Entry = Mapping[str, Any] | Sequence[Any]
SetupData = Callable[[str], Iterable[tuple[Entry, bool]]]

COLUMNS: Final = ("text", "labels", "reward", "label_candidates", "image")


class FunctionData:
    """The data returned by a function for a file or fold."""

    def __init__(
        self, setup_data: SetupData, datafile: str, *, id: str, on_fault: OnFault = refuse
    ) -> None:
        self._setup_data = setup_data
        self._datafile = datafile
        self._id = id
        self._on_fault = on_fault

    @property
    def id(self) -> str:
        """The given name."""
        return self._id

    @property
    def portion(self) -> float | None:
        """Not known."""
        return None

    def episodes(self) -> Iterator[list[Message]]:
        """Call the function once."""
        episode: list[Message] = []
        for place, (entry, new) in enumerate(self._setup_data(self._datafile), 1):
            if new and episode:
                yield episode
                episode = []
            try:
                episode.append(make_message(entry))
            except BadData as fault:
                self._on_fault(fault.at(f"{self._id}: entry", place))
        if episode:
            yield episode


def make_message(entry: Entry) -> Message:
    """Make a message of an entry of `setup_data`; `BadData` names the field at fault."""
    if isinstance(entry, Mapping):
        message = Message(entry)
    elif isinstance(entry, list | tuple):
        given = zip(COLUMNS, entry, strict=False)
        message = Message((key, value) for key, value in given if value is not None)
    else:
        raise BadData(f"a {type(entry).__name__} is not a dictionary, list or tuple")
    for field in ("eval_labels", "eval_label", "episode_done"):
        if field in message:
            raise BadData("is set by the teacher, never in setup_data", field=field)
    if "label" in message:
        message.force_set("labels", (message.pop("label"),))
    if isinstance(message.get("labels"), str):
        message.force_set("labels", (message["labels"],))
    labels, candidates = message.get("labels"), message.get("label_candidates")
    if labels and candidates is not None and labels[0] not in candidates:
        raise BadData("the true label is not among them", field="label_candidates")
    return message
