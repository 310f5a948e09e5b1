"""Simulated people: they follow goals and talk as people do, by a seed.

Their words are made from templates: examples on the cards of skills, and texts of people in logs.
Numbers, names and quoted words are exchanged between templates.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from prolocutor.dialog.agent_state import decode_dialog
from prolocutor.dialog.dialog import HumanUtterance
from prolocutor.errors import BadReply, ServiceError
from prolocutor.plan.pipeline import Pipeline, Stage
from prolocutor.plugins.cassettes.cassette import SUFFIX, find_files, read_cassette
from prolocutor.plugins.cassettes.expectations import is_dialogs, read_dialogs
from prolocutor.plugins.cassettes.judging import ChatPartner

TURNS: Final = (2, 8)
"""The least and the largest number of wishes of a person."""

MAX_WRONG_ANSWERS: Final = 3
"""Wrong answers to one ask, after which a person answers rightly."""

MAX_RIGHT_ANSWERS: Final = 3
"""Right answers to one ask, after which a person gives up."""

GIVE_UP: Final = "never mind"

_NUMBER: Final = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)?(?![\w.,])")
_NAME: Final = re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]{2,}\b")

RIGHT: Final[dict[str, Sequence[str]]] = {
    "yesno": ("yes", "no", "yes please", "nope"),
    "number": ("7", "42", "three"),
    "date": ("tomorrow", "2026-12-24", "next Friday"),
    "time": ("5 pm", "17:30", "noon"),
    "location": ("Paris", "here", "home"),
    "choice": ("1", "the first one", "2"),
    "phone_number": ("+14155550132",),
    "email_address": ("ann@example.org",),
    "contact": ("Ann", "ann@example.org"),
    "password": ("open sesame",),
    "picture": ("https://example.org/cat.png",),
}
WRONG: Final = ("banana", "what?", "I do not know", "42 bananas", "why do you ask", "…")
_MARK: Final = re.compile(r"\bQ[a-z]{6}x\b")

LAWS: Final = {
    "no reply": "every turn has a reply",
    "echo": "a reply is not what the person said",
    "same words": "the same is not said three times in a row to different words",
    "endless ask": "an ask ends when it is answered, or given up",
    "wrong person": "nobody hears the words of another person",
    "late": "a reply is there within the deadline",
}
MOST_ASKED: Final = MAX_WRONG_ANSWERS + MAX_RIGHT_ANSWERS
"""So often the same kind of value is asked for in a row where an ask is without end."""


class Templates:
    """The texts that people may say, and the values to exchange in them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(dict.fromkeys(text.strip() for text in texts if text.strip()))
        self._numbers = sorted({found for text in self.texts for found in _NUMBER.findall(text)})
        self._names = sorted({found for text in self.texts for found in _NAME.findall(text)})

    def text(self, chance: random.Random) -> str:
        """Return a text to say."""
        if not self.texts:
            return chance.choice(("hello", "what can you do?", "help"))
        said = chance.choice(self.texts)
        if self._numbers and chance.random() < 0.3:
            said = _NUMBER.sub(lambda _: chance.choice(self._numbers), said)
        if self._names and chance.random() < 0.3:
            said = _NAME.sub(lambda _: chance.choice(self._names), said)
        return said


def collect_templates(pipeline: Pipeline, paths: Sequence[Path] = ()) -> Templates:
    """Return the templates of an assistant's cards, and of logs.

    Logs are cassettes, dialogs in YAML, and JSON lines as `prolocutor dialogs export` writes them.
    """
    texts: list[str] = []
    for skill in pipeline.services_at(Stage.SKILL):
        examples = skill.card_members.get("examples")
        texts += [example for example in examples or () if isinstance(example, str)]
    for file in find_files(paths, (SUFFIX, ".yaml", ".yml", ".jsonl")):
        texts += _read_texts(file)
    return Templates(texts)


def _read_texts(file: Path) -> Iterator[str]:
    if file.suffix == SUFFIX:
        yield from (turn.says for turn in read_cassette(file).turns)
    elif file.suffix == ".jsonl":
        for line in file.read_bytes().splitlines():
            try:
                utterances = decode_dialog(line).utterances
            except (BadReply, KeyError, TypeError, AttributeError):
                continue  # another file of JSON lines
            yield from (
                utterance.text for utterance in utterances if isinstance(utterance, HumanUtterance)
            )
    elif is_dialogs(file):
        for dialog in read_dialogs(file).dialogs.values():
            yield from (step.say for step in dialog.turns)


class SaidTurn(msgspec.Struct, kw_only=True):
    """A person's words, their intent (`how`), the reply, and the ask that is open after it."""

    says: str
    how: str = "goal"
    reply: str = ""
    agent: str = ""
    asks: str | None = None
    seconds: float = 0.0
    error: str | None = None
    silent: bool = False


class RulePerson:
    """A simulated person: their goals, their moods, and a word of their own.

    Their words depend on the seed and on the assistant's asks.
    """

    def __init__(self, name: str, templates: Templates, seed: int) -> None:
        self.name = name
        self.chance = random.Random(f"{seed} {name}")
        letters = self.chance.choices("abcdefghijklmnopqrstuvwyz", k=6)
        self.word = f"Q{''.join(letters)}x"
        """A word that nobody else says."""
        self._templates = templates
        self._goals = [templates.text(self.chance) for _ in range(self.chance.randint(*TURNS))]
        self._wrong = 0
        self._tried = 0

    def next(self, said: Sequence[SaidTurn]) -> SaidTurn | None:
        """Return the person's next words, None at the end."""
        last = said[-1] if said else None
        if last is not None and last.asks is not None:
            return self._answer(last.asks)
        self._wrong, self._tried = 0, 0
        if not self._goals:
            return None
        chance, words = self.chance, self._goals.pop(0)
        draw = chance.random()
        if draw < 0.12:
            return SaidTurn(says=add_typo(words, chance), how="typo")
        if draw < 0.18:
            return SaidTurn(says=f"{words}, no wait, {self._text()}", how="correction")
        if draw < 0.24:
            return SaidTurn(says=words[: max(1, len(words) // 2)], how="interrupted")
        if draw < 0.30:
            return SaidTurn(says=f"my name is {self.word}", how="own word")
        if draw < 0.34:
            return SaidTurn(says=f"{words} for {self.word}", how="own word")
        if draw < 0.40:
            return SaidTurn(says=f"by the way, {self._text()}", how="change of subject")
        return SaidTurn(says=words)

    def _answer(self, kind: str) -> SaidTurn:
        chance = self.chance
        if self._tried >= MAX_RIGHT_ANSWERS:
            return SaidTurn(says=GIVE_UP, how="gives up")
        draw = chance.random()
        if self._wrong < MAX_WRONG_ANSWERS and draw < 0.35:
            self._wrong += 1
            return SaidTurn(says=chance.choice(WRONG), how="wrong answer")
        if self._wrong < MAX_WRONG_ANSWERS and draw < 0.5:
            self._wrong += 1
            return SaidTurn(says=self._text(), how="change of subject")
        self._tried += 1
        return SaidTurn(says=chance.choice(RIGHT.get(kind, ("this one", "yes"))), how="answer")

    def _text(self) -> str:
        return self._templates.text(self.chance)


class ModelPerson(RulePerson):
    """A simulated person whose words a chat model rephrases."""

    def __init__(self, name: str, templates: Templates, seed: int, model: ChatPartner) -> None:
        super().__init__(name, templates, seed)
        self._model = model
        self.failures: list[str] = []
        """Why the model gave no words, each time that it did not."""

    async def rephrase(self, turn: SaidTurn, said: Sequence[SaidTurn]) -> SaidTurn:
        """Return the turn in the words of the model; unchanged if the model fails."""
        task = (
            "You play a person who talks to an assistant. Say the given line in your own words, as"
            f" one short message, in the same mood ({turn.how}). Reply with the message alone."
        )
        past = "\n".join(f"person: {one.says}\nassistant: {one.reply}" for one in said[-3:])
        try:
            words = await self._model.say(("system", task), ("user", f"{past}\nline: {turn.says}"))
        except ServiceError as error:
            self.failures.append(str(error))
            return turn
        return msgspec.structs.replace(turn, says=words.strip().strip('"')[:500] or turn.says)


def add_typo(words: str, chance: random.Random) -> str:
    """Return words with a typing mistake."""
    if len(words) < 3:
        return words
    at = chance.randrange(1, len(words) - 1)
    slips: Sequence[Callable[[], str]] = (
        lambda: words[:at] + words[at + 1 :],
        lambda: words[:at] + words[at] + words[at:],
        lambda: words[: at - 1] + words[at] + words[at - 1] + words[at + 1 :],
        lambda: words.lower(),
        lambda: words.upper(),
    )
    return chance.choice(slips)()


class BrokenLaw(msgspec.Struct, frozen=True, kw_only=True):
    """A broken law: its name, the turn (from 1), and a description."""

    law: str
    turn: int
    what: str


def broken_laws(
    said: Sequence[SaidTurn], word: str, words: frozenset[str], deadline: float
) -> Iterator[BrokenLaw]:
    """Return the laws that a dialog breaks; `word` is the person's own word, `words` all words."""
    asked, given_up = 0, False
    for number, turn in enumerate(said, 1):
        reply = _bare(turn.reply)
        if turn.error is not None:
            yield BrokenLaw(law="no reply", turn=number, what=turn.error)
            continue
        if turn.silent:
            yield BrokenLaw(law="no reply", turn=number, what="nothing was said")
        if reply and len(reply) > 3 and reply == _bare(turn.says):
            yield BrokenLaw(law="echo", turn=number, what=turn.reply)
        three = said[number - 3 : number]
        same = number >= 3 and reply and len({_bare(one.reply) for one in three}) == 1
        if same and len({_bare(one.says) for one in three}) == 3:
            yield BrokenLaw(law="same words", turn=number, what=turn.reply)
        if given_up and turn.asks is not None and said[number - 2].asks == turn.asks:
            what = f"it still asks for {turn.asks} after {turn.says!r}"
            yield BrokenLaw(law="endless ask", turn=number, what=what)
        again = number > 1 and turn.asks == said[number - 2].asks
        asked = 0 if turn.asks is None else asked + 1 if again else 1
        if asked == MOST_ASKED:
            what = f"it has asked for {turn.asks} {asked} times"
            yield BrokenLaw(law="endless ask", turn=number, what=what)
        given_up = number < len(said) and said[number].says == GIVE_UP
        foreign = {one for one in _MARK.findall(turn.reply) if one in words and one != word}
        if foreign:
            yield BrokenLaw(law="wrong person", turn=number, what=f"{turn.reply} ({foreign})")
        if turn.seconds > deadline + 1.0:
            what = f"{turn.seconds:.1f} s, where {deadline:g} s are allowed"
            yield BrokenLaw(law="late", turn=number, what=what)


def _bare(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()


def said_lines(said: Sequence[SaidTurn]) -> list[str]:
    """Return a dialog as lines of a dialog in YAML."""
    return [f"- say: {msgspec.json.encode(one.says).decode()}" for one in said]
