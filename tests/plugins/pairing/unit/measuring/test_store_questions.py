"""Ratings of stored dialogs as labels."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from prolocutor.contracts.pairing import LabelledQuestion
from prolocutor.dialog.dialog import Bot, BotUtterance, Dialog, Human, HumanUtterance, Hypothesis
from prolocutor.plugins.pairing.measuring.pairing_data import (
    label_turns,
    labelled_of_store,
    read_question_turns,
)


def dialog(*turns: tuple[str, str, Any], rating: Any = None) -> Dialog:
    human, bot = Human(id="h", user_external_id="ann"), Bot(id="b")
    utterances: list[HumanUtterance | BotUtterance] = []
    for number, (text, agent, rated) in enumerate(turns):
        found = [
            Hypothesis(
                skill_name="its own name",
                hypothesis_id=f"{name}.0",
                text=f"{name} to {text}",
                confidence=0.5,
            )
            for name in ("ann", "bob", "eve")
        ]
        utterances.append(
            HumanUtterance(
                utt_id=f"h{number}", text=text, user=human, date_time="", hypotheses=found
            )
        )
        attributes = {} if rated is None else {"ratings": [{"rating": 0}, {"rating": rated}]}
        utterances.append(
            BotUtterance(
                utt_id=f"b{number}",
                text=f"{agent} to {text}",
                orig_text=None,
                active_skill=agent,
                confidence=0.5,
                user=bot,
                date_time="",
                attributes=attributes,
            )
        )
    return Dialog(
        dialog_id="d",
        id="d",
        utterances=utterances,
        human=human,
        bot=bot,
        channel_type="",
        date_start=None,
        rating=rating,
    )


async def stored(*dialogs: Dialog) -> AsyncIterator[Dialog]:
    for one in dialogs:
        yield one


async def labelled(*dialogs: Dialog) -> list[LabelledQuestion]:
    return label_turns(await read_question_turns(stored(*dialogs)))


async def test_a_thumb_up_is_half_a_label_and_nearly_sure() -> None:
    (up,) = await labelled(dialog(("a", "ann", "up")))

    assert up.agents == {"ann": 0.9}
    assert up.gold == {"ann"}
    assert up.weight == 0.5
    assert up.answers == {"ann": "ann to a", "bob": "bob to a", "eve": "eve to a"}


async def test_a_thumb_down_speaks_for_any_of_the_others() -> None:
    (down,) = await labelled(dialog(("a", "bob", -1)))

    assert down.agents == {"bob": 0.0, "ann": 0.25, "eve": 0.25}
    assert down.gold == frozenset()
    assert down.weight == 0.25


async def test_what_nobody_rated_teaches_what_agents_say_and_not_what_is_right() -> None:
    (none,) = await labelled(dialog(("a", "ann", None)))

    assert none.agents == {}
    assert none.gold == frozenset()
    assert none.weight == 0.0
    assert none.answers["bob"] == "bob to a"


async def test_a_rating_of_the_dialog_says_little_of_each_answer() -> None:
    own, others = await labelled(dialog(("a", "ann", -1), ("b", "bob", None), rating=5))

    assert own.agents["ann"] == 0.0
    assert others.gold == {"bob"}
    assert others.weight == pytest.approx(0.1)


async def test_a_reply_by_nobody_who_was_asked_is_no_label() -> None:
    (fallback,) = await labelled(dialog(("a", "the fallback", "up")))

    assert fallback.gold == frozenset()
    assert fallback.weight == 0.0


async def test_the_turn_before_is_told() -> None:
    first, second = await labelled(dialog(("a", "ann", None), ("b", "bob", None)))

    assert first.question.agent_before is None
    assert second.question.said_before == "a"
    assert second.question.answered_before == "ann to a"
    assert second.question.agent_before == "ann"


@pytest.mark.parametrize(
    ("rating", "others", "right"),
    [
        (True, [], True), (False, [], False), ("👍", [], True), ("Down", [], False),
        ("maybe", [], None), ({}, [], None), (None, [], None),
        (1, [-1], True), (1, [], True), (0, [1], False), (-1, [], False),
        (1, [5], False), (5, [1], True), (3, [5], None), (4, [5], True),
        (5, [9], None), (8, [10], True), (5, [-1], True), (float("nan"), [], None),
    ],
)  # fmt: skip
async def test_a_rating_means_what_it_means_among_all(
    rating: Any, others: list[Any], right: bool | None
) -> None:
    rest = [dialog(("b", "ann", one)) for one in others]

    first, *_ = await labelled(dialog(("a", "ann", rating)), *rest)

    assert (first.weight > 0) == (right is not None)
    assert bool(first.gold) == bool(right)


def test_a_store_is_opened_and_closed_again() -> None:
    seen = []

    @asynccontextmanager
    async def opened() -> AsyncIterator[AsyncIterator[Dialog]]:
        yield stored(dialog(("a", "ann", 1)))
        seen.append("closed")

    assert [one.gold for one in labelled_of_store(opened)] == [{"ann"}]
    assert seen == ["closed"]
