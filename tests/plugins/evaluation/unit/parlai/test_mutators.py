"""Mutators change episodes as ParlAI's of the same names do."""

import random
from typing import Any

import pytest

from prolocutor.errors import BadInput
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.mutators import (
    MUTATORS,
    MutatorOptions,
    each_message,
    make_mutators,
    mutate,
)


def episode(*texts: str, labels: tuple[str, ...] = ("l",)) -> list[Message]:
    last = len(texts) - 1
    return [
        Message(text=text, labels=[f"{one}{place}" for one in labels], episode_done=place == last)
        for place, text in enumerate(texts)
    ]


def mutated(names: Any, messages: list[Message], **options: Any) -> list[tuple[str, bool]]:
    mutators = make_mutators(names, MutatorOptions(**options), random.Random(1))
    return [(one["text"], one["episode_done"]) for one in mutate(messages, mutators)]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("flatten", [("c\na b", True), ("c\na b\nl0\nd", True)]),
        ("last_turn", [("c\na b", True), ("d", True)]),
        ("episode_reverse", [("d", False), ("c\na b", True)]),
        ("word_reverse", [("c\nb a", False), ("d", True)]),
        ("last_turn+word_reverse", [("c\nb a", True), ("d", True)]),
        ("word_reverse,flatten", [("c\nb a", True), ("c\nb a\nl0\nd", True)]),
        ("", [("c\na b", False), ("d", True)]),
    ],
)
def test_texts_and_ends_of_episodes(names: str, expected: list[tuple[str, bool]]) -> None:
    assert mutated(names, episode("c\na b", "d")) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("last_turn", [("c\na", True), ("c\nd", True)]),
        ("episode_reverse", [("c\nd", False), ("a", True)]),
    ],
)
def test_context_can_be_kept(name: str, expected: list[tuple[str, bool]]) -> None:
    assert mutated(name, episode("c\na", "d"), preserve_context=True) == expected


def test_shuffling_uses_a_stream_of_its_own_begun_with_42() -> None:
    own = random.Random(42)
    words = [list("abcde"), list("fgh")]
    for one in words:
        own.shuffle(one)

    shuffled = mutated("word_shuffle", episode("a b c d e", "f g h"))

    assert [text for text, _ in shuffled] == [" ".join(one) for one in words]


def test_a_shuffled_context_ends_with_the_same_line() -> None:
    lines = [str(number) for number in range(9)]

    [(text, _)] = mutated("context_shuffle", episode("\n".join(lines)))

    assert sorted(text.split("\n")) == lines
    assert text.endswith("\n8")
    assert text.split("\n") != lines


def test_a_shuffled_episode_has_the_same_texts() -> None:
    texts = [str(number) for number in range(9)]

    shuffled = mutated("episode_shuffle", episode(*texts))

    assert sorted(text for text, _ in shuffled) == texts
    assert [done for _, done in shuffled] == [False] * 8 + [True]


def test_flattening_picks_labels_by_the_given_chance() -> None:
    picks = random.Random(1)

    flat = mutated("flatten", episode("a", "b", labels=("x", "y", "z")))

    assert flat[1][0] == f"a\n{picks.choice(['x0', 'y0', 'z0'])}\nb"


@pytest.mark.parametrize(("noise", "expected"), [(0.0, "__ok__"), (1.0, "__notok__")])
def test_classes_are_exchanged_by_the_noise_level(noise: float, expected: str) -> None:
    [mutator] = make_mutators("flip_classification_label", MutatorOptions(noise_level=noise))

    [message] = mutator([Message(text="t", labels=["__ok__"], episode_done=True)])

    assert message["labels"] == [expected]


@pytest.mark.parametrize("labels", [["a"], ["__ok__", "__notok__"]])
def test_only_one_of_two_classes_can_be_exchanged(labels: list[str]) -> None:
    [mutator] = make_mutators("flip_classification_label")

    with pytest.raises(BadInput, match=r"labels can be flipped|is neither __ok__ nor"):
        list(mutator([Message(text="t", labels=labels)]))


def test_padding_passes_untouched() -> None:
    for name in MUTATORS:
        assert mutate([Message.padding_example()], make_mutators(name)) == [
            {"batch_padding": True, "episode_done": True}
        ]


def test_a_mutator_of_ones_own_stands_among_the_others() -> None:
    def shout(message: Message) -> Message:
        message.force_set("text", message["text"].upper())
        return message

    assert mutated(["last_turn", each_message(shout)], episode("a", "b")) == [
        ("A", True),
        ("B", True),
    ]


def test_what_changes_messages_must_leave_the_episode_alone() -> None:
    def end(message: Message) -> Message:
        message["episode_done"] = True
        return message

    with pytest.raises(ValueError, match="episode_done"):
        list(each_message(end)(episode("a")))


def test_an_unknown_mutator_is_refused_with_a_suggestion() -> None:
    with pytest.raises(BadInput, match="did you mean 'flatten'"):
        make_mutators("flaten")
