"""The readings of words that no agent has answered."""

from typing import Any, NamedTuple

import pytest

from prolocutor.contracts.connector import AgentProfile
from prolocutor.plugins.language.follow_up.annotator import FollowUps
from prolocutor.plugins.language.follow_up.grammar import grammar_or_english
from prolocutor.plugins.language.follow_up.rereading import inner_requests

annotate = FollowUps()


def readings(*texts: str, of: FollowUps = annotate) -> list[str]:
    """Return the readings of the last of these texts, each asked for after the one before."""
    utterances: list[dict[str, Any]] = [
        {"text": text, "attributes": {}, "annotations": {}}
        | ({"active_skill": "agent"} if place % 2 else {})
        for place, text in enumerate(texts)
    ]
    noted: dict[str, Any] = {}
    found = []
    while True:
        utterances[-1]["annotations"] = {"follow_up": noted}
        noted = of({"utterances": utterances, "human_utterances": utterances[::2]})
        if not noted:
            return found
        found.append(noted["text"])


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ("long week. so, how many ounces are in a stone", "how many ounces are in a stone"),
        ("we are baking all day, will you tell me what a gill is in litres? no hurry at all!",
         "will you tell me what a gill is in litres?"),
        ("could you do me a favour and halve 187.50", "halve 187.50"),
        ("what is the how many days are left until easter", "how many days are left until easter"),
        ("i would be glad if you could please convert 9 stone to kilograms",
         "convert 9 stone to kilograms"),
        ("wo ist meine brille bloß. wie spät ist es in oslo", "wie spät ist es in oslo"),
    ],
)  # fmt: skip
def test_the_request_is_found_among_chat(said: str, part: str) -> None:
    code = "de" if "wie " in said else "en"

    assert part in list(inner_requests(said, grammar_or_english(code)))


@pytest.mark.parametrize(
    "said",
    [
        "i never swam before i was thirty",
        "how do i say what time is it in japanese",
        "put nails and glue on my list, then tell me a story",
        "the train that was late cost 40 pounds",
    ],
)
def test_words_that_tell_more_of_a_request_are_not_left_out(said: str) -> None:
    assert list(inner_requests(said, grammar_or_english("en"))) == []


def test_a_follow_up_among_chat_goes_on_from_the_turn_before() -> None:
    found = readings("what time is it in Rome", "Noon.", "aw bless you. and in Manila, if I may?")

    assert found[0] == "what time is it in Manila"


def test_a_question_that_leans_on_the_turn_before_gets_its_topic() -> None:
    asked = "Is there a pottery class on Tuesday?"

    assert readings(asked, "Yes, there is.", "do I have to book") == [
        "the pottery class on Tuesday: do I have to book"
    ]


def test_unknown_words_become_the_nearest_words_that_agents_tell() -> None:
    class Words(NamedTuple):
        words: frozenset[str] = frozenset({"hauptstadt", "norwegen"})
        complete: bool = False

        def knows(self, word: str) -> bool:
            return word in self.words

    agents = FollowUps([AgentProfile(name="lands", vocabulary=lambda code: Words())])

    assert readings("was ist die haupstadt von norwgen", of=agents) == [
        "was ist die hauptstadt von norwegen"
    ]
    assert readings("was ist die haupstadt von norwgen") == []


def test_a_remark_gets_no_topic() -> None:
    assert readings("Is there a pottery class?", "Yes.", "my sister made a vase once") == []


def test_an_order_is_not_given_again_as_a_topic() -> None:
    assert readings("add a lamp to my list", "Added.", "is that expensive") == []
