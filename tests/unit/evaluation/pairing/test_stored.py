"""Ratings of stored dialogs as labels."""

from typing import Any

import pytest

from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.profiles import Bot, Human
from prolocutor.dialog.utterances import BotUtterance, HumanUtterance, Hypothesis
from prolocutor.evaluation.pairing.stored import labelled_of, share_of


def dialog(*turns: tuple[str, str, Any]) -> Dialog:
    human, bot = Human(id="h", user_external_id="ann"), Bot(id="b")
    utterances: list[HumanUtterance | BotUtterance] = []
    for number, (text, agent, rating) in enumerate(turns):
        found = [
            Hypothesis(skill_name=name, text=f"{name} to {text}", confidence=0.5)
            for name in ("ann", "bob")
        ]
        utterances.append(
            HumanUtterance(
                utt_id=f"h{number}", text=text, user=human, date_time="", hypotheses=found
            )
        )
        attributes = {} if rating is None else {"ratings": [{"rating": rating}]}
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
    )


def test_thumbs_are_labels_of_half_the_weight() -> None:
    up, down, none = labelled_of(dialog(("a", "ann", "up"), ("b", "bob", -1), ("c", "ann", None)))

    assert (up.agents, up.gold, up.weight) == ({"ann": 1.0}, {"ann"}, 0.5)
    assert (down.agents, down.gold) == ({"bob": 0.0}, frozenset())
    assert (none.agents, none.gold) == ({}, frozenset())
    assert none.answers == {"ann": "ann to c", "bob": "bob to c"}


def test_the_turn_before_is_told() -> None:
    first, second = labelled_of(dialog(("a", "ann", None), ("b", "bob", None)))

    assert first.question.agent_before is None
    assert second.question.said_before == "a"
    assert second.question.answered_before == "ann to a"
    assert second.question.agent_before == "ann"


@pytest.mark.parametrize(
    ("rating", "share"),
    [
        (True, 1), (False, 0), (1, 1), (-1, 0), (0, 0), (5, 1), (3, 0.5), (2, 0.25),
        ("👍", 1), ("Down", 0), ("maybe", None), (17, None), ({}, None), (None, None),
    ],
)  # fmt: skip
def test_ratings_are_shares(rating: Any, share: float | None) -> None:
    assert share_of(rating) == share
