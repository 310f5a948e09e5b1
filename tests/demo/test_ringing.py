"""What the demo's timers and reminders put on the agenda, and take off it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from prolocutor.dialog import schedules
from prolocutor_demo import timer, todo
from tests.demo.agent_requests import NOW, answer_to, request

AGENTS = {"timer": timer.answer, "todo": todo.answer}


class Talk:
    """One person's talk with one agent; an agenda that does as the assistant's does."""

    def __init__(self, agent: str) -> None:
        self.agent = AGENTS[agent]
        self.name = agent
        self.attributes: dict[str, Any] = {}
        self.agenda: dict[str, dict[str, Any]] = {}
        self.now = NOW
        self.before: list[dict[str, Any]] = []
        self.reply: dict[str, Any] = {}

    def say(self, text: str, minutes: float = 1) -> str:
        """Say something, so many minutes after the last time, and give the answer."""
        self.now += dt.timedelta(minutes=minutes)
        asked = request(text, self.attributes, self.now)
        asked["human_utterances"][0]["utt_id"] = f"u{self.now.timestamp():.0f}"
        asked["utterances"] = [*self.before, *asked["utterances"]]
        [hypothesis] = self.agent(asked | answer_to(self.reply, text))
        self.reply = hypothesis
        schedules.check(hypothesis, "$")
        self.attributes |= hypothesis.get("human_attributes", {})
        for key in hypothesis.get("unschedule", ()):
            self.agenda.pop(key, None)
        self.agenda |= {line["key"]: line for line in hypothesis.get("schedule", ())}
        self.before = [{"text": hypothesis["text"], "active_skill": self.name}]
        return str(hypothesis["text"])

    def rings(self) -> list[tuple[str, str]]:
        """Tell when what rings, as hours and minutes in Berlin, earliest first."""
        lines = sorted(self.agenda.values(), key=lambda line: str(line["at"]))
        return [(line["at"][5:16], line["messages"][0]["text"]) for line in lines]


def test_a_timer_rings_at_its_end_with_a_sound() -> None:
    talk = Talk("timer")
    assert "ring" not in talk.say("set a pasta timer for 10 minutes")
    assert talk.rings() == [("11-20T13:11", "Your pasta timer is over: 10 minutes.")]
    [line] = talk.agenda.values()
    assert line["messages"][1]["type"] == "sound"


def test_an_alarm_tells_the_time() -> None:
    talk = Talk("timer")
    talk.say("wake me at 7")
    assert talk.rings() == [("11-21T07:00", "It is 07:00: your alarm.")]


def test_a_timer_of_seconds_is_not_cut_short() -> None:
    talk = Talk("timer")
    talk.now += dt.timedelta(seconds=0.9)
    talk.say("timer 2 seconds")
    [line] = talk.agenda.values()
    assert dt.datetime.fromisoformat(line["at"]) == talk.now + dt.timedelta(seconds=2)


@pytest.mark.parametrize(
    ("said", "ends"),
    [
        (["cancel the timer"], []),
        (["pause the timer"], []),
        (["pause the timer", "resume the timer"], ["11-20T13:12"]),
        (["add 5 minutes to the timer"], ["11-20T13:16"]),
        (["take 5 minutes off the timer"], ["11-20T13:06"]),
        (["restart the timer"], ["11-20T13:12"]),
        (["how long is left?"], ["11-20T13:11"]),
        (["set a tea timer for 3 minutes"], ["11-20T13:05", "11-20T13:11"]),
    ],
)
def test_what_is_done_to_a_timer_moves_its_ringing(said: list[str], ends: list[str]) -> None:
    talk = Talk("timer")
    talk.say("set a timer for 10 minutes")
    for one in said:
        talk.say(one)
    assert [when for when, _ in talk.rings()] == ends


def test_a_timer_that_is_cut_below_nothing_rings_at_once() -> None:
    talk = Talk("timer")
    talk.say("set a timer for 5 minutes")
    talk.say("take 10 minutes off the timer")
    assert [when for when, _ in talk.rings()] == ["11-20T13:02"]


def test_a_reminder_rings_when_it_is_due() -> None:
    talk = Talk("todo")
    said = talk.say("remind me at 6 pm to call mom")
    assert said == "Noted as reminder 1: call mom, today at 18:00."
    assert talk.rings() == [("11-20T18:00", "Reminder 1: call mom.")]


def test_what_stands_on_a_list_with_a_time_rings_too() -> None:
    talk = Talk("todo")
    talk.say("add buy milk to my shopping list for tomorrow at 9")
    assert talk.rings() == [("11-21T09:00", "Due now on your shopping list, 1: buy milk.")]


def test_what_comes_again_rings_again_by_the_persons_clock() -> None:
    talk = Talk("todo")
    talk.say("remind me every day at 8 am to stretch")
    [line] = talk.agenda.values()
    assert line["every"] == "day"
    assert line["timezone"] == "Europe/Berlin"
    assert talk.rings() == [("11-21T08:00", "Reminder 1: stretch.")]


@pytest.mark.parametrize(
    ("said", "due"),
    [
        ("delete the reminder to call mom", []),
        ("i have called mom", []),
        ("clear my reminders", []),
        ("move the reminder to tomorrow at 9", ["11-21T09:00"]),
        ("show my reminders", ["11-20T18:00"]),
    ],
)
def test_what_is_done_to_a_reminder_moves_its_ringing(said: str, due: list[str]) -> None:
    talk = Talk("todo")
    talk.say("remind me at 6 pm to call mom")
    talk.say(said)
    assert [when for when, _ in talk.rings()] == due


def test_a_reminder_rings_from_when_its_time_is_told() -> None:
    talk = Talk("todo")
    talk.say("remind me to call mom")
    assert talk.rings() == []
    talk.say("tomorrow at 9")
    assert [when for when, _ in talk.rings()] == ["11-21T09:00"]
