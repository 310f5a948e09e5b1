"""Requests that an agent once answered wrongly or not at all, one agent at a time."""

from typing import Any

import pytest

from tests.demo.test_personal_agents import Talk, reply_of


@pytest.fixture
def both() -> Talk:
    """Somebody with two todos and a reminder between them."""
    talk = Talk("todo")
    talk.say("add milk to my todo list")
    talk.say("remind me to call mum tomorrow at 9")
    talk.say("add buy stamps to my list")
    return talk


def test_to_clear_the_todo_list_leaves_the_reminders(both: Talk) -> None:
    assert both.say("clear my todo list").startswith("Done: 2 entries removed")
    assert "call mum" in both.say("show my reminders")


def test_to_clear_the_reminders_leaves_the_todo_list(both: Talk) -> None:
    both.say("clear my reminders")
    assert both.say("show my reminders") == "You have no reminders."
    assert both.say("show my todo list") == "Your todo list:\n1. milk\n3. buy stamps"


@pytest.mark.parametrize("words", ["clear everything", "clear my todo list and my reminders"])
def test_to_clear_everything_clears_both(both: Talk, words: str) -> None:
    assert both.say(words) == "Done: 2 entries and 1 reminder removed."


def test_reminders_stand_apart_from_the_list_and_no_number_is_given_twice(both: Talk) -> None:
    assert both.say("what's on my todo list?").endswith("You have 1 reminder.")
    assert both.say("what do I have to do?").endswith(
        "Your reminders:\n2. call mum (tomorrow at 09:00)"
    )
    assert both.say("remove task 2").startswith("I do not find that on your todo list")


def test_of_several_lists_the_one_to_clear_is_asked_for() -> None:
    talk = Talk("todo")
    talk.say("add milk to my shopping list")
    talk.say("add call Tom to my todo list")
    assert talk.say("clear my list") == "Which list: shopping, todo?"


@pytest.mark.parametrize(
    ("words", "entries"),
    [
        ("add eggs and bread to my list", ["eggs", "bread"]),
        ("add milk, eggs and bread to my list", ["milk", "eggs", "bread"]),
        ("add call mum and dad to my list", ["call mum and dad"]),
        ("add milk and add eggs to my todo list", ["milk", "eggs"]),
    ],
)
def test_things_named_together_are_entries_of_their_own(words: str, entries: list[str]) -> None:
    talk = Talk("todo")
    talk.say(words)
    assert [item["text"] for item in talk.attributes["todo"]["items"]] == entries


def test_two_commands_at_once_are_both_done() -> None:
    talk = Talk("todo")
    talk.say("add milk to my list and remind me to call Tom at 5")
    items = [(item["text"], "reminder" in item) for item in talk.attributes["todo"]["items"]]
    assert items == [("milk", False), ("call Tom", True)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("set a timer for -5 minutes", "runs forwards"),
        ("set a timer for minus ten minutes", "runs forwards"),
        ("set a timer for 0 seconds", "runs forwards"),
        ("set a timer for 1000000 years", "too long"),
        ("set a timer for 99999999 minutes", "too long"),
    ],
)
def test_an_impossible_timer_is_refused(words: str, says: str) -> None:
    reply = reply_of("timer", words)
    assert says in reply["text"]
    assert "human_attributes" not in reply


@pytest.mark.parametrize(
    ("agent", "words", "says"),
    [
        ("calculator", "what do you get if you divide 144 by 12", "= 12"),
        ("calculator", "what is 7.5 minus a half", "= 7"),
        ("clock", "what is the time and date", "13:00 on Friday, 20 November 2026"),
        ("clock", "what's the date and time in Tokyo", "In Tokyo it is 21:00"),
        ("currency", "100 usd in eur and gbp", "euros.*British pounds"),
        ("currency", "use 20 dollars in euros", "20 US dollars"),
        ("units", "convert 5 feet 11 to cm", "180.34"),
    ],
)
def test_what_nobody_understood_is_understood(agent: str, words: str, says: str) -> None:
    reply: dict[str, Any] = reply_of(agent, words)
    assert reply["confidence"] > 0.9
    for one in says.split(".*"):
        assert one in reply["text"]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        ("small_talk", "translate hello to french"),
        ("small_talk", "how do you say hello in french"),
        ("dictionary", "use it in a sentence"),
        ("dictionary", "what does it mean"),
    ],
)
def test_what_an_agent_cannot_do_it_declines(agent: str, words: str) -> None:
    assert reply_of(agent, words)["confidence"] <= 0.1


def test_a_question_to_the_assistant_is_no_answer_in_a_script() -> None:
    talk = Talk("small_talk")
    talk.say("let's talk about travelling")
    assert "you like music, I see" not in talk.say("do you like music")
    assert talk.say("Lisbon").startswith("Lisbon, I see.")


def test_what_follows_billions_by_and_is_part_of_the_number() -> None:
    assert Talk("calculator").say("what is two billion and five plus one") == (
        "2,000,000,005 + 1 = 2,000,000,006"
    )
