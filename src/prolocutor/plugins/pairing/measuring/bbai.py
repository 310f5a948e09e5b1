"""BBAI: questions put to a number of agents, their responses, and which of them were right.

Source: the public data of "One Agent To Rule Them All" (Findings of ACL 2022) and its description.
A folder with `train.json` and `test.json` (question -> votes, responses, intent, `human`: the gold
agents), `train_classifier.json` and `test_classifier.json` (`[question, gold agents]`) and
`descriptions.json`. Traps: `human` may hold "none", which is not an answer, also beside an agent;
`human_vote` has the keys `none` and `intent` too; responses may be empty; `descriptions.json` may
spell a name otherwise than all else does. Who the agents are is read from the folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import msgspec

from prolocutor.bounds import about
from prolocutor.contracts.teacher import Example
from prolocutor.data_sets import DataPlace, OnFault, refuse
from prolocutor.errors import BadData, BadInput, NotFound
from prolocutor.names import closest

NONE: Final = "none"
VOTES: Final = "human_vote"
GOLD: Final = "human"
INTENT: Final = "intent"
_CLOSE: Final = 0.8
LABELS: Final = ("agents", "responses")

_decode: Final = msgspec.json.Decoder().decode


class BbaiData(msgspec.Struct, frozen=True, kw_only=True):
    """A folder of BBAI's questions."""

    labels: Annotated[
        Literal["agents", "responses"], about("What the labels are: the right agents, or answers.")
    ] = "agents"

    def build(self, place: DataPlace) -> Bbai:
        """Return the data set."""
        return Bbai(place.path, fold=place.fold, labels=self.labels, on_fault=place.on_fault)


class BbaiCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the data's own description counts, of one fold or all."""

    fold: str
    questions: int
    with_gold: int
    pairs: int
    agents: int
    domains: int


class Bbai:
    """One fold of a BBAI folder; every question is an episode.

    `labels="agents"`: the labels are the gold agents, the candidates all agents.
    `labels="responses"`: the gold agents' responses, and all responses. Questions without a gold
    agent have no labels. Further fields: `intent`, `votes`, `responses`, `gold`. Where a fold's
    responses are not to be had, its questions come from the classifier's file.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        fold: str = "test",
        labels: str = "agents",
        on_fault: OnFault = refuse,
    ) -> None:
        if labels not in LABELS:
            raise BadInput(f"{labels!r} is neither agents nor responses", field="labels")
        self._folder = Path(folder)
        self._fold = "train" if fold == "train" else "test"
        self._labels = labels
        self._on_fault = on_fault
        self._share: float | None = None
        self._agents: list[str] | None = None

    @property
    def id(self) -> str:
        """The folder and the fold."""
        return f"{self._folder.absolute().name}/{self._fold}"

    @property
    def portion(self) -> float | None:
        """The part of the questions read in the latest pass."""
        return self._share

    @property
    def has_responses(self) -> bool:
        """Whether the responses of this fold are there."""
        return (self._folder / f"{self._fold}.json").is_file()

    @property
    def agents(self) -> list[str]:
        """The agents of the folder, in the order of its files.

        They are the agents with responses or votes; without responses, those of the classifier's
        files.
        """
        if self._agents is None:
            self._agents = _read_agents(self._folder)
        return list(self._agents)

    def episodes(self) -> Iterator[list[Example]]:
        """Read the fold's file."""
        agents = self.agents
        name = f"{self._fold}.json" if self.has_responses else f"{self._fold}_classifier.json"
        file = self._folder / name
        found = _read(file)
        questions = list(found.items() if isinstance(found, dict) else found)
        for place, question in enumerate(questions, 1):
            try:
                message = self._message(*_parts(question, agents), agents)
            except BadData as fault:
                what = f"question {place}: {fault.what}"
                self._on_fault(BadData(what, file=str(file), field=fault.field))
                continue
            self._share = place / len(questions)
            yield [message]

    def descriptions(self) -> dict[str, str]:
        """Return the description of each agent, under the names of the other files."""
        found = _read(self._folder / "descriptions.json")
        if not isinstance(found, dict):
            raise BadData("not an object", file=str(self._folder / "descriptions.json"))
        return _match_names({str(name): str(text) for name, text in found.items()}, self.agents)

    def counts(self) -> list[BbaiCounts]:
        """Count each existing fold, and all folds together."""
        folds: dict[str, list[Example]] = {}
        for fold in ("train", "test"):
            with suppress(NotFound):
                folds[fold] = [one for (one,) in Bbai(self._folder, fold=fold).episodes()]
        if not folds:
            raise NotFound(f"{self._folder}: there is no BBAI data here", field="data")
        every = [message for messages in folds.values() for message in messages]
        return [_count_fold(fold, messages) for fold, messages in {**folds, "all": every}.items()]

    def _message(self, text: str, entry: dict[str, Any], agents: Sequence[str]) -> Example:
        named = entry.get(GOLD, [])
        gold = [] if NONE in named else list(named)
        message: Example = {"text": text}
        responses = {name: entry[name] for name in agents if name in entry}
        if self._labels == "agents":
            labels, candidates = gold, list(agents)
        else:
            labels = [responses[name] for name in gold if name in responses]
            candidates = list(dict.fromkeys(responses.values()))
        if labels:
            message["labels"] = labels
        if candidates:
            message["label_candidates"] = candidates
        message["gold"] = gold
        if INTENT in entry:
            message[INTENT] = entry[INTENT]
        if VOTES in entry:
            message["votes"] = {name: entry[VOTES].get(name, 0) for name in (*agents, NONE)}
        if responses:
            message["responses"] = responses
        return message


def _count_fold(fold: str, messages: Sequence[Example]) -> BbaiCounts:
    return BbaiCounts(
        fold=fold,
        questions=len(messages),
        with_gold=sum(bool(one["gold"]) for one in messages),
        pairs=sum(len(one.get("responses", ())) for one in messages),
        agents=len({name for one in messages for name in one.get("responses") or one["gold"]}),
        domains=len({one[INTENT] for one in messages if INTENT in one}),
    )


def _read_agents(folder: Path) -> list[str]:
    named: dict[str, None] = {}
    for file in ("test.json", "train.json"):
        found = _read(folder / file) if (folder / file).is_file() else {}
        for entry in found.values() if isinstance(found, dict) else ():
            if isinstance(entry, dict):
                votes = entry.get(VOTES)
                named.update(dict.fromkeys(votes if isinstance(votes, dict) else ()))
                named.update(dict.fromkeys(entry))
    for key in (VOTES, GOLD, INTENT, NONE):
        named.pop(key, None)
    if named:
        return list(named)
    for file in ("train_classifier.json", "test_classifier.json"):
        found = _read(folder / file) if (folder / file).is_file() else []
        for question in found if isinstance(found, list) else ():
            if isinstance(question, list) and len(question) == 2 and isinstance(question[1], list):
                named.update(dict.fromkeys(map(str, question[1])))
    named.pop(NONE, None)
    return list(named)


def _match_names(descriptions: dict[str, str], agents: Sequence[str]) -> dict[str, str]:
    """Give a description with an unknown name to the agent without, if their names are close."""
    found = {}
    for name, text in descriptions.items():
        without = [] if name in agents else [one for one in agents if one not in descriptions]
        found[closest(name, without, cutoff=_CLOSE) or name] = text
    return found


def _read(file: Path) -> Any:
    if not file.is_file():
        raise NotFound(f"{file}: there is no such file", field="data")
    try:
        return _decode(file.read_bytes())
    except ValueError as error:
        raise BadData(f"not JSON: {error}", file=str(file)) from None


def _parts(question: Any, agents: Sequence[str]) -> tuple[str, dict[str, Any]]:
    """Return a question's text and entry, of either kind of file, checked."""
    if not isinstance(question, list | tuple) or len(question) != 2:
        raise BadData("is not a pair of text and agents")
    text, entry = question
    if isinstance(entry, list):
        entry = {GOLD: entry}
    if not isinstance(text, str) or not isinstance(entry, dict):
        raise BadData("is not a text with an object or a list of agents")
    human, votes = entry.get(GOLD, []), entry.get(VOTES, {})
    if not isinstance(human, list) or not {*map(str, human)} <= {*agents, NONE}:
        raise BadData(f"{human!r:.80} are not agents", field=GOLD)
    if not isinstance(votes, dict):
        raise BadData("is not an object", field=VOTES)
    if wrong := [name for name in agents if not isinstance(entry.get(name, ""), str)]:
        raise BadData("the response is not a text", field=wrong[0])
    return text, entry
