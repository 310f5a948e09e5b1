"""The questions for measuring pairing: to learn from, to be tested with, and the cards."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any, Final

import msgspec

from prolocutor.config.store_location import Dialogs, dialog_opener
from prolocutor.contracts.pairing import Card, LabelledQuestion, UserQuestion
from prolocutor.data_sets import file_suffix, open_source, split
from prolocutor.dialog.dialog import BotUtterance, Dialog, HumanUtterance, Hypothesis, read_thumb
from prolocutor.errors import BadData, BadInput, NotFound
from prolocutor.names import suggest
from prolocutor.plugins.pairing.measuring.bbai import Bbai
from prolocutor.plugins.pairing.question_agent.router_label import DOWN, UP, answer_shares

_WHOLE_DIALOG: Final = 0.2
_GOOD: Final = 0.6
_BAD: Final = 0.4
_MOST_UNRATED: Final = 2000

BBAI: Final = "bbai"
STORE: Final = "store"
Message = Mapping[str, Any]

_APART: Final = re.compile(r"\s*[|;,]\s*")
_ANSWER: Final = "answer_"
_NOBODY: Final = "nobody"
_CARDS: Final = "cards.json"


class QuestionTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A question with a reply; `spoke` is the selected agent, if it is one of `answers`.

    `rating` rates the reply, `dialog_rating` the whole dialog; None without a rating.
    """

    question: UserQuestion
    answers: dict[str, str]
    spoke: str | None
    rating: Any = None
    dialog_rating: Any = None


def labelled_of_store(dialogs: Dialogs) -> list[LabelledQuestion]:
    """Read the questions of a store; call it in a thread without an event loop."""

    async def read() -> list[QuestionTurn]:
        async with dialogs() as opened:
            return await read_question_turns(opened)

    return label_turns(asyncio.run(read()))


async def read_question_turns(dialogs: AsyncIterator[Dialog]) -> list[QuestionTurn]:
    """Read the turns of dialogs: all rated turns, and the latest unrated turns."""
    rated: list[QuestionTurn] = []
    unrated: deque[QuestionTurn] = deque(maxlen=_MOST_UNRATED)
    async for dialog in dialogs:
        for turn in _turns(dialog):
            plain = turn.rating is None and turn.dialog_rating is None
            (unrated if plain else rated).append(turn)
    return [*rated, *unrated]


def label_turns(turns: Sequence[QuestionTurn]) -> list[LabelledQuestion]:
    """Return labelled questions of turns; ratings are read on their common scale.

    A rating is of one answer by one user, so its label is soft and has less weight. Thumbs up: the
    selected skill is right, nearly surely, with half the weight of a label. Thumbs down: it is
    wrong, and any of the others may be right, with a quarter. A rating of a whole dialog says
    little of each of its answers, and has a fifth of that weight. Without a rating a question has
    weight 0: rankers learn from it what agents say, not what is right.
    """
    own = _RatingScale(turn.rating for turn in turns)
    whole = _RatingScale(turn.dialog_rating for turn in turns)
    found = []
    for turn in turns:
        share, weight = own.share(turn.rating), 1.0
        if share is None:
            share, weight = whole.share(turn.dialog_rating), _WHOLE_DIALOG
        found.append(_label_turn(turn, share, weight))
    return found


def _label_turn(turn: QuestionTurn, share: float | None, weight: float) -> LabelledQuestion:
    bare = LabelledQuestion(question=turn.question, agents={}, answers=turn.answers, weight=0.0)
    if share is None or turn.spoke is None or _BAD < share < _GOOD:
        return bare
    right = share >= _GOOD
    return msgspec.structs.replace(
        bare,
        agents=answer_shares(turn.spoke, right, turn.answers),
        gold=frozenset({turn.spoke} if right else ()),
        weight=(UP if right else DOWN) * weight,
    )


class _RatingScale:
    """The scale of ratings: thumbs (positive is good), or stars, 1 to 5 or to 10."""

    def __init__(self, ratings: Iterable[Any]) -> None:
        numbers = [one for one in ratings if _is_number(one)]
        most = max(numbers, default=0)
        self._stars = (5 if most <= 5 else 10) if most > 1 and min(numbers) > 0 else None

    def share(self, rating: Any) -> float | None:
        """Return a rating as a share, 0 (bad) to 1 (good); None for an unknown form of rating."""
        if isinstance(rating, str):
            up = read_thumb(rating)
            return None if up is None else float(up)
        if isinstance(rating, bool):
            return float(rating)
        if not _is_number(rating):
            return None
        if self._stars is None:
            return float(rating > 0)
        return min(1.0, float(rating - 1) / (self._stars - 1))


def _is_number(rating: Any) -> bool:
    return isinstance(rating, int | float) and not isinstance(rating, bool) and isfinite(rating)


def _turns(dialog: Dialog) -> Iterator[QuestionTurn]:
    before: tuple[HumanUtterance, BotUtterance] | None = None
    said: HumanUtterance | None = None
    for utterance in dialog.utterances:
        if isinstance(utterance, HumanUtterance):
            said = utterance
        elif said is not None:
            if answers := _stored_answers(said, utterance):
                spoke, texts = answers
                rating = _rating(utterance)
                yield QuestionTurn(
                    question=_question(said, before),
                    answers=texts,
                    spoke=spoke,
                    rating=_rating(said) if rating is None else rating,
                    dialog_rating=dialog.rating,
                )
            before, said = (said, utterance), None


def _question(
    said: HumanUtterance, before: tuple[HumanUtterance, BotUtterance] | None
) -> UserQuestion:
    if before is None:
        return UserQuestion(text=said.text)
    asked, replied = before
    return UserQuestion(
        text=said.text,
        said_before=asked.text,
        answered_before=replied.text,
        agent_before=replied.active_skill,
    )


def _stored_answers(
    said: HumanUtterance, reply: BotUtterance
) -> tuple[str | None, dict[str, str]] | None:
    """Return the selected skill, and by skill the text of its most confident hypothesis.

    For the selected skill it is the chosen text.
    """
    texts: dict[str, str] = {}
    for one in sorted(said.hypotheses, key=lambda one: -one.confidence):
        texts.setdefault(_skill(one), one.text)
    own = [one for one in said.hypotheses if reply.active_skill in (_skill(one), one.skill_name)]
    if not own:
        return (None, texts) if texts else None
    chosen = next((one for one in own if one.text in (reply.orig_text, reply.text)), own[0])
    return _skill(chosen), {**texts, _skill(chosen): chosen.text}


def _skill(hypothesis: Hypothesis) -> str:
    return hypothesis.hypothesis_id.rpartition(".")[0] or hypothesis.skill_name


def _rating(utterance: HumanUtterance | BotUtterance) -> Any:
    """Return the last rating, which replaces earlier ratings."""
    ratings = utterance.attributes.get("ratings") or [{}]
    return ratings[-1].get("rating")


class PairingData(msgspec.Struct, frozen=True, kw_only=True):
    """Agents with cards; questions to `learn` from; questions to `test` with.

    Where no questions are set apart to learn from, `test` serves for both, by folds; not so where
    `apart`: then `learn` is all that routers learn from, even if it is empty.
    """

    name: str
    cards: list[Card]
    learn: list[LabelledQuestion]
    test: list[LabelledQuestion]
    apart: bool = False

    @property
    def sets_apart(self) -> bool:
        """Whether routers learn from other questions than they are measured on."""
        return self.apart or bool(self.learn)

    @property
    def agents(self) -> list[str]:
        """The names of the agents, in the order of the cards."""
        return [card.name for card in self.cards]

    @property
    def has_answers(self) -> bool:
        """Whether it is known what the agents answer to questions of the test."""
        return any(one.answers for one in self.test)


def load_pairing_data(spec: str, cards: Sequence[Card] = ()) -> PairingData:
    """Read the data `KIND:PATH`.

    A folder of BBAI has descriptions of its own, for cards without one. In other data a message is
    a question: `agents` (or its labels) are the right ones, a list, a text with `|`, `;` or `,`
    between, or shares by name; `answers`, an object or fields `answer_<agent>`, is what they
    answered; `domain` is the subject. The right agent `nobody`, unless an agent has this name,
    stands for no right agent. A fold to train on is learned from. In a store ratings are the
    labels. Raise `BadData` for what cannot be read.
    """
    kind, path = split(spec)
    if kind == STORE:
        return _make_data(spec, cards, [], labelled_of_store(dialog_opener(path)))
    if kind == BBAI:
        test, learn = Bbai(path), Bbai(path, fold="train")
        described = test.descriptions()
        given = {card.name: card for card in cards}
        own = [
            _add_description(given.get(name, Card(name=name)), described.get(name, ""))
            for name in test.agents
        ]
        read = [list(_messages(one)) for one in (learn, test)]
    else:
        own, read = list(cards), read_messages(spec)
    most = max((_most_votes(one) for one in chain(*read)), default=0.0)
    learned, tests = ([_label_question(one, most) for one in messages] for messages in read)
    return _make_data(spec, own, learned, tests)


def cards_of_data(data: str) -> list[Card]:
    """Return the cards in the file `cards.json` beside data `KIND:PATH`."""
    kind, path = split(data)
    beside = Path(path, _CARDS)
    return read_cards(beside) if file_suffix(kind) is not None and beside.is_file() else []


def read_cards(file: Path) -> list[Card]:
    """Read a JSON list of cards; raise `BadInput` for another content."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=list[Card])
    except OSError as error:
        raise BadInput(f"{file}: {error.strerror}", field="cards") from None
    except msgspec.MsgspecError as error:
        raise BadInput(f"{file}: {error}", field="cards") from None


def _add_description(card: Card, description: str) -> Card:
    """Return a card with this description, where it has none of its own."""
    return card if card.description else msgspec.structs.replace(card, description=description)


def read_messages(spec: str) -> list[list[Message]]:
    """Read the messages to be learned from, and those to be tested with, of files."""
    tested = open_source(spec, "test")
    return [_read_learning_part(spec, tested.id), list(_messages(tested))]


def message_question(message: Message) -> UserQuestion:
    """Return the question of a message, with the turn before; raise `BadData` if it has none."""
    text = message.get("text")
    if not isinstance(text, str):
        raise BadData("a question has no text", field="text")
    return UserQuestion(
        text=text,
        said_before=str(message.get("said_before") or ""),
        answered_before=str(message.get("answered_before") or ""),
        agent_before=message.get("agent_before") or None,
    )


def _make_data(
    spec: str,
    own: Sequence[Card],
    learned: Sequence[LabelledQuestion],
    tests: list[LabelledQuestion],
) -> PairingData:
    known = dict.fromkeys(card.name for card in own)
    for one in (*learned, *tests):
        known.update(dict.fromkeys((*one.agents, *one.answers)))
    have = {card.name: card for card in own}
    if _NOBODY in known and _NOBODY not in have:
        del known[_NOBODY]
        learned, tests = ([_label_nobody(one, known) for one in part] for part in (learned, tests))
    return PairingData(
        name=spec,
        cards=[have.get(name, Card(name=name)) for name in known],
        learn=[one for one in learned if one.agents],
        test=tests,
    )


def _label_nobody(one: LabelledQuestion, agents: Iterable[str]) -> LabelledQuestion:
    """Return a question labelled `nobody` as a question without a right agent."""
    if _NOBODY not in one.agents:
        return one
    return msgspec.structs.replace(one, agents=dict.fromkeys(agents, 0.0), gold=frozenset())


def few_shots(data: PairingData, shots: int, seed: int) -> PairingData:
    """Return the data with so many questions of each agent to learn from, drawn by chance.

    Where none are set apart they are taken out of those to be tested with.
    """
    chance = random.Random(seed)
    source = data.learn or data.test
    order = chance.sample(range(len(source)), len(source))
    drawn: set[int] = set()
    counts: Counter[str] = Counter()
    for place in order:
        if (first := min(source[place].gold, default=None)) is not None and counts[first] < shots:
            counts[first] += 1
            drawn.add(place)
    learn = [source[place] for place in sorted(drawn)]
    test = data.test
    if not data.learn:
        test = [one for place, one in enumerate(data.test) if place not in drawn]
    return msgspec.structs.replace(data, learn=learn, test=test, apart=True)


def some_agents(data: PairingData, number: int, seed: int) -> PairingData:
    """Return the data restricted to so many agents, drawn by chance.

    Questions to learn from without an answer of these agents are left out; those to be tested with
    stay, and nobody is right for them.
    """
    names = random.Random(seed).sample(data.agents, min(number, len(data.agents)))
    return only_agents(data, names)


def check_data(data: PairingData) -> PairingData:
    """Return data on which methods can be measured; raise `BadInput` for other data."""
    if len(data.cards) < 2:
        raise BadInput(
            f"{data.name} knows {len(data.cards)} agents, and a choice needs two", field="data"
        )
    if not any(one.gold for one in data.test):
        what = "no question has a right agent (agents, labels): label some first"
        raise BadInput(f"{data.name}: {what}", field="data")
    return data


def only_agents(data: PairingData, agents: Sequence[str]) -> PairingData:
    """Return the data restricted to these agents; raise `NotFound` for unknown ones."""
    if unknown := [name for name in agents if name not in data.agents]:
        what = f"there is no agent {unknown[0]!r}; {suggest(unknown[0], data.agents)}"
        raise NotFound(what, field="agents")
    chosen = frozenset(agents)
    return msgspec.structs.replace(
        data,
        cards=[card for card in data.cards if card.name in chosen],
        learn=[one for one in _only(data.learn, chosen) if one.gold],
        test=list(_only(data.test, chosen)),
    )


def _only(
    labelled: Iterable[LabelledQuestion], chosen: frozenset[str]
) -> Iterator[LabelledQuestion]:
    for one in labelled:
        yield msgspec.structs.replace(
            one,
            agents={name: share for name, share in one.agents.items() if name in chosen},
            answers={name: text for name, text in one.answers.items() if name in chosen},
            gold=one.gold & chosen,
        )


def _messages(source: Any) -> Iterator[Message]:
    """Read messages; each is checked while its file and line are known."""
    for episode in source.episodes():
        for message in episode:
            try:
                _label_question(message, 0.0)
            except BadData as fault:
                place = getattr(source, "place", None)
                raise fault.at(*place) if place else fault from None
            yield message


def _read_learning_part(spec: str, tested: str) -> list[Message]:
    """Read what is to be learned from; nothing, where it is the test itself."""
    try:
        source = open_source(spec, "train")
    except NotFound:
        return []
    return [] if source.id == tested else list(_messages(source))


def _most_votes(message: Message) -> float:
    votes = message.get("votes")
    return float(max(votes.values(), default=0)) if isinstance(votes, Mapping) else 0.0


def _label_question(message: Message, most: float) -> LabelledQuestion:
    """Return a labelled question; votes become shares of the largest number of votes."""
    question = message_question(message)
    found = message.get("gold", message.get("agents", message.get("labels", ())))
    shares = _shares(found)
    gold = frozenset(name for name, share in shares.items() if share >= 0.5)
    answers = _answers(message)
    votes = message.get("votes")
    if isinstance(votes, Mapping) and most:
        shares = {name: votes.get(name, 0) / most for name in answers or shares}
    known = found if isinstance(found, Mapping) and votes is None else gold  # 0 was said there
    return LabelledQuestion(
        question=question,
        agents={name: share for name, share in shares.items() if share > 0 or name in known},
        gold=gold,
        answers=answers,
        domain=str(message.get("domain") or message.get("intent") or ""),
        weight=float(message.get("weight") or 1.0),
    )


def _shares(found: Any) -> dict[str, float]:
    if isinstance(found, str):
        return dict.fromkeys(filter(None, _APART.split(found.strip())), 1.0)
    if isinstance(found, Mapping):
        try:
            return msgspec.convert(found, dict[str, float])
        except msgspec.ValidationError as error:
            raise BadData(str(error), field="agents") from None
    if not isinstance(found, list | tuple) or not all(isinstance(name, str) for name in found):
        raise BadData(f"{found!r:.80} are not the names of agents", field="agents")
    return dict.fromkeys(found, 1.0)


def _answers(message: Message) -> dict[str, str]:
    found = message.get("responses", message.get("answers"))
    if found is None:
        found = {
            name.removeprefix(_ANSWER): text
            for name, text in message.items()
            if name.startswith(_ANSWER) and text is not None
        }
    try:
        if isinstance(found, str):
            return msgspec.json.decode(found, type=dict[str, str])
        return msgspec.convert(found, dict[str, str])
    except msgspec.MsgspecError as error:
        raise BadData(f"are not answers by agent: {error}", field="answers") from None
