"""Mutators: changes of the data on its way out of a teacher, by ParlAI's names.

Source: ParlAI 1.7.2, `parlai.core.mutators` and `parlai.mutators`. A mutator is called with the
messages of one episode and returns the messages of any number of episodes, each with its
`episode_done`. Several are written `flatten+word_shuffle`, applied from left to right.

Random choices are ParlAI's: `flatten` picks among several labels with the given generator;
shuffling mutators use generators of their own, seeded with 42 when they are made.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from typing import Any, Final, Protocol, TypeVar

import msgspec

from prolocutor.errors import BadInput
from prolocutor.names import suggest
from prolocutor.plugins.evaluation.parlai.message import Message

T = TypeVar("T")

Mutator = Callable[[Iterable[Message]], Iterable[Message]]

SEED: Final = 42


class Chance(Protocol):
    """A source of chance: a `random.Random`, or the module `random` itself."""

    def choice(self, seq: Sequence[T]) -> T:
        """Pick an item."""

    def choices(self, population: Sequence[T], *, cum_weights: Sequence[float]) -> list[T]:
        """Pick an item by weight; return it in a list."""

    def randrange(self, start: int) -> int:
        """Pick a number from 0 up to `start`, not included."""

    def shuffle(self, x: MutableSequence[Any]) -> None:
        """Put in another order."""


class MutatorOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of mutators.

    `preserve_context`: all lines of the first text but its last are context, which stays in front
    (`episode_reverse`, `episode_shuffle`) or goes before every text (`last_turn`).
    `noise_level`: the part of the labels that `flip_classification_label` exchanges, 0 to 1, and
    `classes` the two labels.
    """

    preserve_context: bool = False
    noise_level: float = 1.0
    classes: tuple[str, str] = ("__ok__", "__notok__")


def make_mutators(
    names: str | Iterable[str | Mutator],
    options: MutatorOptions | None = None,
    chance: Chance = random,
) -> list[Mutator]:
    """Make the mutators of these names, with `+` or commas between them; `BadInput` if unknown.

    A mutator of one's own may stand among the names.
    """
    if isinstance(names, str):
        names = [name for name in names.replace("+", ",").split(",") if name]
    options = options or MutatorOptions()
    return [_made(one, options, chance) if isinstance(one, str) else one for one in names]


def mutate(messages: Iterable[Message], mutators: Iterable[Mutator]) -> list[Message]:
    """Send an episode through all mutators."""
    for mutator in mutators:
        messages = mutator(messages)
    return list(messages)


def each_message(change: Callable[[Message], Message]) -> Mutator:
    """Make a mutator that changes each message without regard to the others."""

    def mutator(messages: Iterable[Message]) -> Iterator[Message]:
        for message in messages:
            if message.is_padding():
                yield message
                continue
            done = message.pop("episode_done", False)
            message = change(message)
            if "episode_done" in message:
                raise ValueError("what changes messages must not set episode_done")
            message["episode_done"] = done
            yield message

    return mutator


def each_episode(change: Callable[[list[Message]], Iterable[list[Message]]]) -> Mutator:
    """Make a mutator that returns any number of episodes for each episode.

    Messages passed to and returned by `change` have no `episode_done`.
    """

    def mutator(messages: Iterable[Message]) -> Iterator[Message]:
        for episode in _group_episodes(messages):
            if episode[0].is_padding():
                yield from episode
                continue
            for changed in change(episode):
                for place, message in enumerate(changed):
                    message["episode_done"] = place == len(changed) - 1
                    yield message

    return mutator


def _group_episodes(messages: Iterable[Message]) -> Iterator[list[Message]]:
    episode: list[Message] = []
    for message in messages:
        if message.is_padding():
            yield [message]
            continue
        done = message.pop("episode_done", False)
        episode.append(message)
        if done:
            yield episode
            episode = []
    if episode:
        yield episode


def _flatten(options: MutatorOptions, chance: Chance) -> Mutator:
    """Make each turn an episode; its text is the whole dialog so far, labels included."""

    def change(episode: list[Message]) -> Iterator[list[Message]]:
        history: list[str] = []
        for message in episode:
            history.append(message.pop("text"))
            message["text"] = "\n".join(history)
            labels = message.get("labels")
            yield [message]
            if labels:
                history.append(chance.choice(labels))

    return each_episode(change)


def _last_turn(options: MutatorOptions, chance: Chance) -> Mutator:
    """Make each turn an episode without the turns before it."""

    def change(episode: list[Message]) -> Iterator[list[Message]]:
        context: list[str] = []
        for place, message in enumerate(episode):
            text = message.pop("text")
            if place == 0 and options.preserve_context:
                *context, text = text.split("\n")
            message["text"] = "\n".join([*context, text])
            yield [message]

    return each_episode(change)


def _episode_reverse(options: MutatorOptions, chance: Chance) -> Mutator:
    """Turn the order of the texts round; labels stay where they are."""

    def reorder(texts: list[str]) -> None:
        texts.reverse()

    return _reordering(reorder, options)


def _episode_shuffle(options: MutatorOptions, chance: Chance) -> Mutator:
    """Shuffle the texts; labels stay where they are."""
    return _reordering(random.Random(SEED).shuffle, options)


def _reordering(reorder: Callable[[list[str]], None], options: MutatorOptions) -> Mutator:
    def change(episode: list[Message]) -> Iterator[list[Message]]:
        texts = [message.pop("text") for message in episode]
        context: list[str] = []
        if options.preserve_context:
            *context, texts[0] = texts[0].split("\n")
        reorder(texts)
        texts[0] = "\n".join([*context, texts[0]])
        for message, text in zip(episode, texts, strict=True):
            message["text"] = text
        yield episode

    return each_episode(change)


def _context_shuffle(options: MutatorOptions, chance: Chance) -> Mutator:
    """Shuffle all lines of a text but its last."""
    own = random.Random(SEED)

    def change(message: Message) -> Message:
        *context, text = message.pop("text").split("\n")
        own.shuffle(context)
        message["text"] = "\n".join([*context, text])
        return message

    return each_message(change)


def _word_reverse(options: MutatorOptions, chance: Chance) -> Mutator:
    """Turn the order of the words of each line round."""
    return _rewording(list.reverse)


def _word_shuffle(options: MutatorOptions, chance: Chance) -> Mutator:
    """Shuffle the words of each line."""
    return _rewording(random.Random(SEED).shuffle)


def _rewording(reorder: Callable[[list[str]], None]) -> Mutator:
    def change(message: Message) -> Message:
        lines = [line.split(" ") for line in message.pop("text").split("\n")]
        for words in lines:
            reorder(words)
        message["text"] = "\n".join(map(" ".join, lines))
        return message

    return each_message(change)


def _flip_classification_label(options: MutatorOptions, chance: Chance) -> Mutator:
    """Exchange the two classes of some examples, chosen by a hash of the text."""
    if not 0 <= options.noise_level <= 1:
        raise BadInput("the noise level is between 0 and 1", field="noise_level")
    one, other = options.classes
    flipped = {one: other, other: one}

    def change(message: Message) -> Message:
        if "labels" not in message:
            return message
        labels = message["labels"]
        if len(labels) != 1:
            raise BadInput("labels can be flipped only where there is one", field="labels")
        if hashlib.md5(message["text"].encode()).digest()[0] < options.noise_level * 256:
            if labels[0] not in flipped:
                raise BadInput(f"{labels[0]!r} is neither {one} nor {other}", field="labels")
            message.force_set("labels", [flipped[labels[0]]])
        return message

    return each_message(change)


MUTATORS: Final[dict[str, Callable[[MutatorOptions, Chance], Mutator]]] = {
    "flatten": _flatten,
    "last_turn": _last_turn,
    "context_shuffle": _context_shuffle,
    "episode_reverse": _episode_reverse,
    "episode_shuffle": _episode_shuffle,
    "word_reverse": _word_reverse,
    "word_shuffle": _word_shuffle,
    "flip_classification_label": _flip_classification_label,
}


def _made(name: str, options: MutatorOptions, chance: Chance) -> Mutator:
    if name not in MUTATORS:
        hint = suggest(name, MUTATORS)
        raise BadInput(f"there is no mutator {name!r}; {hint}", field="mutators")
    return MUTATORS[name](options, chance)
