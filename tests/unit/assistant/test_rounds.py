"""Rounds: who keeps the floor, who takes it over, what is kept from one turn to the next."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from prolocutor.asks.answers import NOT_ASKED, NOT_UNDERSTOOD
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.wiring import NONE, NoPrograms
from prolocutor.contracts.programs import ProgramRun, ProgramStart
from prolocutor.contracts.store import AgendaEntry, OpenedTurn
from prolocutor.dialog import plain, rounds
from prolocutor.dialog.inputs import DirectReply
from prolocutor.dialog.messages import ASK_KINDS
from prolocutor.dialog.rounds import Round
from prolocutor.errors import BadInput, Conflict, StoreFull
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.sample_turns import a_delivery, an_opening
from tests.model_store import ModelStore
from tests.unit.assistant.askers import (
    KINDS,
    TIME,
    WRONG,
    Asker,
    answer,
    asking_skills,
    closings,
    said,
    special,
)
from tests.unit.assistant.talks import FaultyStore, assistant, last_text
from tests.unit.pipeline.talk import Gate, asked, hypothesis, says, settle_down


async def attributes(it: Assistant, user: str = "ann") -> dict[str, Any]:
    """Return what is known of a person."""
    dialog = await it.store.dialog(await it.store.active_dialog_id(user) or "")
    assert dialog is not None
    return dialog.human.attributes


def asks(*answers: Any, kind: str = "number") -> Service:
    """Make a skill that asks, and then gives these replies."""
    return says("asks", [{"text": "How many?", "ask": kind, "confidence": 1.0}], *answers)


# -- the skill that waits ---------------------------------------------------------------------


BOBS = [
    {"value": "phone:+4930111111", "display": "Bob Smith"},
    {"value": "phone:+4930222222", "display": "Bob Jones"},
    {"value": "phone:+4930333333", "display": "Ann"},
    {"value": "email:ann@example.org", "display": "Ann"},
]


@pytest.mark.parametrize(
    ("kind", "words", "value"),
    [
        ("phone_number", ["Ann"], "+4930333333"),
        ("phone_number", ["to Ann, please"], "+4930333333"),
        ("email_address", ["Ann"], "ann@example.org"),
        ("phone_number", ["Bob", "the second one"], "+4930222222"),
        ("phone_number", ["Bob", "Bob Smith (+4930111111)"], "+4930111111"),
        ("contact", ["Bob Jones"], "+4930222222"),
    ],
)
async def test_a_known_name_answers_and_among_several_one_is_chosen(
    kind: str, words: list[str], value: str
) -> None:
    waits = asks(hypothesis("thanks"), kind=kind)
    sent = {"platformData": {"contacts": BOBS}}
    async with assistant(waits) as it:
        await it.turn("hi", user="ann")
        turns = [await it.turn(text, user="ann", attributes=sent) for text in words]
    assert [turn.ask for turn in turns] == ["choice"] * (len(words) - 1) + [None]
    given = asked(waits)[-1]["answer"]
    assert given["kind"] == kind
    assert given["value"] == value


async def test_home_is_asked_for_once_and_remembered() -> None:
    waits = asks(
        hypothesis("thanks"),
        [{"text": "Where?", "ask": "location", "confidence": 1.0}],
        hypothesis("again"),
        kind="location",
    )
    home = {"code": ["bookkeeping", "answer", "location:home"], "entities": {}}
    async with assistant(waits) as it:
        await it.turn("hi", user="ann")
        first = await it.turn("", user="ann", parsed=home)
        second = await it.turn("1, 2", user="ann")
        await it.turn("hi", user="ann")
        third = await it.turn("at home", user="ann")
        known = await attributes(it)
    place = {"latitude": 1.0, "longitude": 2.0, "display": "1, 2"}
    assert first.ask == "location"
    assert first.reply.text == "What is your home location?"
    assert second.ask is None
    assert third.ask is None
    answers = [one["answer"] for one in asked(waits) if "answer" in one]
    assert [one["value"] for one in answers] == [place, place]
    assert known["locations"] == {"home": place}


async def test_only_the_skill_that_waits_gets_the_answer() -> None:
    waits, other = asks(hypothesis("thanks")), says("other", hypothesis("me!", 0.9))
    async with assistant(waits, other) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn("5", user="ann")
    assert turn.reply.text == "thanks"
    assert len(asked(other)) == 1


async def test_a_skill_that_fails_is_given_another_chance_once() -> None:
    asker = Asker()
    asker.failures = 2
    async with assistant(*asking_skills(asker)) as it:
        await it.turn("ask number", user="ann")
        first = await it.turn("5", user="ann")
        assert said(first) == [own_words.NOT_WORKING, "Which one?"]
        assert first.ask == "number"
        second = await it.turn("6", user="ann")
    assert said(second) == [own_words.CANNOT_HELP]
    assert second.ask is None


async def test_a_skill_that_is_late_with_its_reply_has_failed() -> None:
    gate = Gate()

    async def hangs(request: Any) -> Any:
        return await gate(request) if "answer" in request else {**one, "ask": "number"}

    one = hypothesis("How many?")
    async with assistant(Service("hangs", hangs, timeout=0.5)) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn("5", user="ann")
    assert said(turn)[0] == own_words.NOT_WORKING
    assert turn.ask == "number"
    assert gate.cancelled == 1


async def test_a_skill_that_recovers_gets_the_answer_given_again() -> None:
    asker = Asker()
    asker.failures = 1
    async with assistant(*asking_skills(asker)) as it:
        for text in ("ask number", "5", "5"):
            turn = await it.turn(text, user="ann")
    assert said(turn) == ["got 5"]


async def test_a_skill_that_has_nothing_to_say_to_an_answer_has_failed() -> None:
    async with assistant(asks([])) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn("5", user="ann")
    assert said(turn)[0] == own_words.NOT_WORKING
    assert turn.ask == "number"


async def test_a_skill_may_ask_on() -> None:
    more = {"text": "Which day?", "ask": "date", "confidence": 1.0}
    async with assistant(asks(more, hypothesis("fine"))) as it:
        await it.turn("hi", user="ann")
        assert (await it.turn("5", user="ann")).ask == "date"
        assert (await it.turn("2026-12-24", user="ann")).ask is None


async def test_a_skill_that_is_gone_asks_nothing_any_more() -> None:
    store = ModelStore()
    async with assistant(asks(), store=store) as it:
        await it.turn("hi", user="ann")
    async with assistant(store=store) as it:
        turn = await it.turn("5", user="ann")
    assert turn.reply.text == "re: 5"
    assert turn.ask is None
    assert await store.round("ann", "main") == b"{}"


async def test_the_ask_of_a_skill_that_was_cancelled_is_not_heard() -> None:
    again = {"text": "Really?", "ask": "yesno", "confidence": 1.0}
    async with assistant(asks(again)) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn("cancel", user="ann")
    assert turn.reply.text == "Really?"
    assert turn.ask is None
    assert "ask" not in turn.state["attributes"]


@pytest.mark.parametrize("reply", [[], "", 5, hypothesis("")])
async def test_a_skill_that_says_nothing_to_a_cancel_has_words_put_in_its_mouth(reply: Any) -> None:
    async with assistant(asks(reply)) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn("never mind", user="ann")
    assert said(turn) == [own_words.CANNOT_HELP]
    assert turn.ask is None


async def test_a_dialog_that_is_closed_asks_nothing_any_more() -> None:
    async with assistant(*asking_skills(Asker())) as it:
        await it.turn("ask number", user="ann")
        await it.archive.close("ann")
        assert await it.archive.waiting("ann") is None
        assert said(await it.turn("yes", user="ann")) == [own_words.AGREE]


# -- changing the subject ---------------------------------------------------------------------


@pytest.mark.parametrize("words", [TIME, "stop"])
async def test_attributes_of_a_skill_told_that_its_ask_is_over_count(words: str) -> None:
    async with assistant(*asking_skills(Asker()), digressions="drop") as it:
        await it.turn("ask number", user="ann")
        turn = await it.turn(words, user="ann")
        assert await attributes(it) == {"told": 1}
        assert "dropped" not in said(turn)


@pytest.mark.parametrize(
    ("words", "kind"), [("5", "number"), ("no", "cancelled"), (TIME, "cancelled")]
)
async def test_the_context_of_an_ask_comes_back_with_its_outcome(words: str, kind: str) -> None:
    store, asker = ModelStore(), Asker()
    async with assistant(*asking_skills(asker), store=store, digressions="drop") as it:
        await it.turn("ask number", user="ann")
        waiting = await it.archive.waiting("ann")
        assert waiting is not None
        kept = rounds.encode(Round(waiting=replace(waiting, context={"of": "Bob"})))
        await store.deliver(a_delivery("ann", round=kept))
        await it.turn(words, user="ann")
    assert [(one["kind"], one["context"]) for one in asker.told] == [(kind, {"of": "Bob"})]


async def test_a_state_that_cannot_be_read_is_none(caplog: pytest.LogCaptureFixture) -> None:
    store = ModelStore()
    async with assistant(*asking_skills(Asker()), store=store) as it:
        await it.turn("ask number", user="ann")
        await store.deliver(a_delivery("ann", round=b'{"waiting":5}'))
        turn = await it.turn("5", user="ann")
        assert await store.round("ann", "main") == b"{}"
    assert said(turn) == ["tick"]
    assert "cannot be read" in caplog.text


async def test_a_skill_that_cannot_be_told_breaks_nothing() -> None:
    async with assistant(asks("nonsense"), Service("clock", _noon), digressions="drop") as it:
        await it.turn("hi", user="ann")
        turn = await it.turn(TIME, user="ann")
    assert turn.reply.text == "noon"
    assert turn.ask is None


async def test_a_skill_that_hangs_when_it_is_told_does_not_hold_up_the_reply() -> None:
    gate = Gate(hypothesis("late"))

    async def asks_then_hangs(request: Any) -> Any:
        if "answer" in request:
            return await gate(request)
        return [{"text": "How many?", "ask": "number", "confidence": 0.5}]

    skills = [Service("hangs", asks_then_hangs, timeout=0.5), Service("clock", _noon)]
    async with assistant(*skills, digressions="drop") as it:
        await it.turn("hi", user="ann")
        turn = await it.turn(TIME, user="ann")
    assert turn.reply.text == "noon"
    assert gate.cancelled == 1


def _noon(request: Any) -> list[dict[str, Any]]:
    return [hypothesis("noon", 0.9)] if last_text(request) == TIME else []


@pytest.mark.parametrize(("confidence", "switches"), [(0.8, True), (0.79, False)])
async def test_who_changes_the_subject_must_be_sure(confidence: float, switches: bool) -> None:
    sure = says("sure", hypothesis("me", 0.1), hypothesis("me", confidence))
    async with assistant(asks(), sure, digressions="drop") as it:
        await it.turn("hi", user="ann")
        turn = await it.turn("no number", user="ann")
    assert (said(turn)[0] == "me") == switches
    assert (turn.ask is None) == switches


async def test_how_sure_is_a_setting_of_the_assistant() -> None:
    sure = says("sure", hypothesis("me", 0.1), hypothesis("me", 0.4))
    async with assistant(asks(), sure, switch_confidence=0.3, digressions="drop") as it:
        await it.turn("hi", user="ann")
        assert said(await it.turn("no number", user="ann")) == ["me"]


async def test_a_last_chance_does_not_stand_in_for_an_answer() -> None:
    last = says("last", "the last words")
    pipeline = Pipeline(skills=[asks()], last_chance=last)
    async with assistant(pipeline=pipeline) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn(WRONG, user="ann")
    assert said(turn)[0] == NOT_UNDERSTOOD
    assert asked(last) == []


async def test_who_waits_is_not_asked_whether_the_subject_is_to_be_changed() -> None:
    waits = asks()
    pipeline = Pipeline(
        skill_selector=says("selector", ["asks", "clock"]), skills=[waits, Service("clock", _noon)]
    )
    async with assistant(pipeline=pipeline) as it:
        await it.turn("hi", user="ann")
        await it.turn(WRONG, user="ann")
    assert len(asked(waits)) == 1


# -- buttons ----------------------------------------------------------------------------------


def buttons(*jsons: Any) -> list[dict[str, Any]]:
    """Return a hypothesis with these buttons."""
    made = [{"type": "button", "title": str(n), "json": json} for n, json in enumerate(jsons)]
    return [{"text": "Well?", "messages": made, "confidence": 1.0}]


@pytest.mark.parametrize(
    ("json", "value"),
    [
        ({"payload": "/affirm"}, "/affirm"),
        ({"payload": {"intent": "affirm", "n": [1]}}, {"intent": "affirm", "n": [1]}),
        ("/affirm", "/affirm"),
        ('{"payload":"/affirm"}', "/affirm"),
        (
            {"code": ["order", "pizza"], "entities": {}},
            {"code": ["order", "pizza"], "entities": {}},
        ),
        ({"size": 5}, {"size": 5}),
    ],
)
async def test_the_json_of_a_button_comes_back_to_its_skill(json: Any, value: Any) -> None:
    shop = says("shop", buttons(json), hypothesis("done"))
    other = says("other", hypothesis("me!", 0.1))
    async with assistant(shop, other) as it:
        shown = (await it.turn("hi", user="ann")).state["attributes"]["messages"][1]
        turn = await it.turn(shown["title"], user="ann", parsed=shown["json"])
    assert turn.reply.text == "done"
    assert len(asked(other)) == 1
    assert asked(shop)[1]["answer"] == {"kind": "button", "value": value, "raw": "0"}


@pytest.mark.parametrize(
    "json", [special("yes"), {"program": "now => @a.b();"}, {"code": ["$yes"]}]
)
async def test_a_button_that_carries_a_command_of_the_assistants_stays_as_it_is(json: Any) -> None:
    async with assistant(says("shop", buttons(json))) as it:
        turn = await it.turn("hi", user="ann")
    assert turn.state["attributes"]["messages"][1]["json"] == json


async def test_a_button_of_another_skill_ends_the_ask() -> None:
    asker, shop = Asker(), says("shop", [], hypothesis("done"))
    async with assistant(*asking_skills(asker), shop) as it:
        await it.turn("ask number", user="ann")
        turn = await it.turn("x", user="ann", parsed={"payload": 1, "skill": "shop"})
    assert turn.reply.text == "done"
    assert turn.ask is None
    assert asker.told == [{"kind": "cancelled"}]


async def test_a_button_of_the_skill_that_waits_answers_it() -> None:
    asker = Asker()
    async with assistant(*asking_skills(asker)) as it:
        await it.turn("ask number", user="ann")
        turn = await it.turn("x", user="ann", parsed={"payload": 7, "skill": "asker"})
    assert said(turn) == ["got 7"]
    assert len(asker.told) == 1


async def test_yes_and_no_are_in_place_where_buttons_offer_them() -> None:
    made = [{"type": "button", "title": w, "json": special(w)} for w in ("yes", "no", "maybe")]
    wants = [{"text": "May Bob?", "messages": made, "ask": "generic", "confidence": 1.0}]
    door = says("door", wants, hypothesis("so"), wants, hypothesis("so"))
    async with assistant(door) as it:
        for text, parsed in (("hi", None), ("no", None), ("hi", None), ("m", special("maybe"))):
            await it.turn(text, user="ann", parsed=parsed)
    assert [one["answer"]["value"] for one in asked(door) if "answer" in one] == [False, "maybe"]


@pytest.mark.parametrize("text", ["Always", "always", "[Always]"])
async def test_a_button_can_be_typed_where_it_cannot_be_pressed(text: str) -> None:
    always = {"type": "button", "title": "Always", "json": {"payload": "for ever"}}
    wants = [{"text": "May Bob?", "messages": [always], "ask": "generic", "confidence": 1.0}]
    door = says("door", wants, hypothesis("so"))
    async with assistant(door) as it:
        await it.turn("hi", user="ann")
        await it.turn(text, user="ann")
    assert asked(door)[1]["answer"] == {"kind": "button", "value": "for ever", "raw": text}


@pytest.mark.parametrize("ask", ["raw_string", "choice"])
async def test_a_typed_button_is_none_where_the_words_are_an_answer(ask: str) -> None:
    messages = [
        {"type": "choice", "title": "Always"},
        {"type": "button", "title": "Always", "json": {"payload": 1}},
    ]
    wants = [{"text": "When?", "messages": messages, "ask": ask, "confidence": 1.0}]
    door = says("door", wants, hypothesis("so"))
    async with assistant(door) as it:
        await it.turn("hi", user="ann")
        await it.turn("always", user="ann")
    assert asked(door)[1]["answer"]["kind"] == ask


# -- long lists -------------------------------------------------------------------------------


def list_of(number: int) -> list[dict[str, Any]]:
    """Return a hypothesis with so many choices."""
    choices = [{"type": "choice", "title": f"city {n}"} for n in range(number)]
    messages = [{"type": "text", "text": "Where?"}, *choices]
    return [{"messages": messages, "ask": "choice", "confidence": 1.0}]


async def test_a_long_list_is_shown_page_by_page() -> None:
    async with assistant(says("cities", list_of(20), hypothesis("fine"))) as it:
        texts = ["hi", "more", "show more", "back"]
        pages_seen = [said(await it.turn(text, user="ann")) for text in texts]
    titles = [f"city {n}" for n in range(20)]
    assert pages_seen == [
        ["Where?", *titles[:9], "More"],
        [*titles[9:18], "More", "Back"],
        [*titles[18:], "Back"],
        [*titles[9:18], "More", "Back"],
    ]


async def test_a_choice_of_any_page_can_be_made() -> None:
    cities = says("cities", list_of(20), hypothesis("fine"))
    async with assistant(cities) as it:
        await it.turn("hi", user="ann")
        await it.turn("city 17", user="ann")
    assert asked(cities)[1]["answer"]["value"] == {"idx": 17, "title": "city 17"}


async def test_after_the_last_page_there_is_nothing_more() -> None:
    async with assistant(says("cities", list_of(10))) as it:
        for text in ("hi", "more"):
            await it.turn(text, user="ann")
        turn = await it.turn("", user="ann", parsed=special("more"))
    assert said(turn) == [own_words.NO_MORE, "city 9", "Back"]


async def test_a_list_that_fits_has_no_pages() -> None:
    async with assistant(says("cities", list_of(own_words.PAGE_CHOICES))) as it:
        assert "More" not in said(await it.turn("hi", user="ann"))


async def test_a_choice_that_is_not_offered_is_not_taken() -> None:
    parsed = {"code": ["bookkeeping", "choice", "3"], "entities": {}}
    async with assistant(says("cities", list_of(3))) as it:
        await it.turn("hi", user="ann")
        turn = await it.turn("x", user="ann", parsed=parsed)
    assert said(turn) == [own_words.CLICK, "city 0", "city 1", "city 2"]
    assert turn.ask == "choice"


async def test_where_there_is_nothing_to_choose_from_any_words_will_do() -> None:
    async with assistant(asks(hypothesis("fine"), kind="choice")) as it:
        await it.turn("hi", user="ann")
        assert said(await it.turn("the red one", user="ann")) == ["fine"]


# -- follow-ups -------------------------------------------------------------------------------


def going_on(confidence: float = 0.5, can_continue: Any = True) -> dict[str, Any]:
    """Return a hypothesis of a skill that can go on."""
    return hypothesis("weather", confidence, can_continue=can_continue)


@pytest.mark.parametrize(
    ("can_continue", "follows"),
    [(True, True), ("must", True), ("can", True), ("no", False), (False, False), (["x"], False)],
)
async def test_a_skill_that_can_go_on_is_preferred(can_continue: Any, follows: bool) -> None:
    weather = says("weather", going_on(0.7, can_continue), going_on(0.5))
    chat = says("chat", hypothesis("hm", 0.6))
    async with assistant(weather, chat) as it:
        await it.turn("weather in Rome?", user="ann")
        turn = await it.turn("what about Texas?", user="ann")
    assert turn.reply.text == ("weather" if follows else "hm")


async def test_who_is_clearly_better_takes_over_and_stays() -> None:
    weather = says("weather", going_on(0.7), going_on(0.5))
    chat = says("chat", hypothesis("hm", 0.6), hypothesis("sure", 0.9), hypothesis("hm", 0.6))
    async with assistant(weather, chat) as it:
        texts = [(await it.turn("hi", user="ann")).reply.text for _ in range(3)]
    assert texts == ["weather", "sure", "hm"]


async def test_who_says_stop_has_nobody_preferred_any_more() -> None:
    weather = says("weather", going_on(0.7), [], going_on(0.5))
    chat = says("chat", hypothesis("hm", 0.6), [], hypothesis("hm", 0.6))
    async with assistant(weather, chat) as it:
        for text in ("hi", "stop"):
            await it.turn(text, user="ann")
        assert await it.store.round("ann", "main") == b"{}"
        assert (await it.turn("hi", user="ann")).reply.text == "hm"


async def test_nobody_is_preferred_for_ever() -> None:
    weather = says("weather", going_on(0.7), going_on(0.5))
    chat = says("chat", hypothesis("hm", 0.6))
    async with assistant(weather, chat) as it:
        texts = [(await it.turn("hi", user="ann")).reply.text for _ in range(7)]
    assert texts == ["weather"] * 6 + ["hm"]


async def test_who_wins_without_being_preferred_may_go_on_as_long_as_that() -> None:
    async with assistant(says("weather", going_on(0.7)), says("chat", hypothesis("hm"))) as it:
        texts = {(await it.turn("hi", user="ann")).reply.text for _ in range(9)}
    assert texts == {"weather"}


async def test_who_is_preferred_stays_so_when_nobody_has_an_answer() -> None:
    weather = says("weather", going_on(0.7), ValueError("oh"), going_on(0.5))
    chat = says("chat", hypothesis("hm", 0.6), [], hypothesis("hm", 0.6))
    async with assistant(weather, chat, fallback="Pardon?") as it:
        texts = [(await it.turn("hi", user="ann")).reply.text for _ in range(3)]
    assert texts == ["weather", "Pardon?", "weather"]


async def test_a_response_selector_is_told_who_is_preferred() -> None:
    picks = says("picks", {"skill_name": "weather", "text": "weather", "confidence": 0.5})
    pipeline = Pipeline(skills=[says("weather", going_on())], response_selector=picks)
    async with assistant(pipeline=pipeline) as it:
        for _ in range(2):
            await it.turn("hi", user="ann")
    assert [one.get("preferred") for one in asked(picks)] == [None, "weather"]


async def test_yes_goes_to_the_skill_that_can_go_on() -> None:
    weather = says("weather", going_on(), hypothesis("more weather", 0.4))
    async with assistant(weather) as it:
        await it.turn("hi", user="ann")
        assert said(await it.turn("yes", user="ann", parsed=special("yes"))) == ["more weather"]


# -- what comes parsed ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "came",
    [
        {"parsed": {"code": ["bookkeeping", "nonsense"], "entities": {}}},
        {"parsed": {"code": ["bookkeeping", "answer", "NUMBER_0"], "entities": {}}},
        {"parsed": {"code": [5, None], "entities": {}}},
        {"parsed": {"code": ["bookkeeping"], "entities": 7}},
        {"parsed": {"program": 5}},
        {"parsed": {"payload": 5, "skill": "nobody"}},
        {"text": "\\r {broken"},
    ],
)
async def test_an_unreadable_button_is_told_as_wrong(came: dict[str, Any]) -> None:
    async with assistant(*asking_skills(Asker())) as it:
        alone = await it.turn(**{"text": "x", "user": "ann", **came})
        await it.turn("ask number", user="ann")
        within = await it.turn(**{"text": "x", "user": "ann", **came})
        assert await closings(it) == [None, "number", "number"]
    assert said(alone)[0] == NOT_UNDERSTOOD
    assert said(within)[0] == NOT_UNDERSTOOD
    assert within.ask == "number"
    assert len(said(alone)) == 2


@pytest.mark.parametrize(
    "came", [{"parsed": ["no object"]}, {"program": 5}, {"parsed": {"a": float("nan")}}]
)
async def test_an_invalid_command_is_refused_before_anything_is_stored(came: Any) -> None:
    async with assistant() as it:
        with pytest.raises(BadInput):
            await it.turn("x", user="ann", **came)
        assert await it.store.feed_end("ann") == 0


async def test_another_button_with_the_same_request_id_is_a_conflict() -> None:
    async with assistant(*asking_skills(Asker())) as it:
        await it.turn("x", user="ann", parsed=special("yes"), request_id="r")
        with pytest.raises(Conflict):
            await it.turn("x", user="ann", parsed=special("no"), request_id="r")


async def test_a_repeated_request_gets_the_open_ask() -> None:
    async with assistant(*asking_skills(Asker())) as it:
        first = await it.turn("ask number", user="ann", request_id="r")
        again = await it.turn("ask number", user="ann", request_id="r")
    assert again.repeated is True
    assert again.waiting == first.waiting
    assert again.n == first.n


async def test_the_feed_shows_the_pressed_button() -> None:
    async with assistant() as it:
        turn = await it.turn("Yes", user="ann", parsed=special("yes"))
        [row, _] = await it.store.feed("ann", 0)
    shown = {"type": "command", "command": "Yes", "json": special("yes")}
    assert row.n == turn.n
    assert plain.decode(row.message or b"") == shown


async def test_an_input_without_a_title_is_shown_as_its_source() -> None:
    async with assistant() as it:
        await it.turn("", user="ann", program="now => @a.b();")
        await it.turn("", user="ann", parsed=special("yes"))
        rows = [plain.decode(row.message or b"") for row in await it.store.feed("ann", 0)]
    shown = [row["command"] for row in rows if row["type"] == "command"]
    assert shown == ["\\t now => @a.b();", "\\r " + plain.encode(special("yes")).decode()]


# -- programs ---------------------------------------------------------------------------------


class Adds:
    """Runs every program the same way: asks for a number, then says it."""

    def __init__(self) -> None:
        self.started: list[ProgramStart] = []

    def find_wish(self, text: str) -> None:
        """Find none."""

    async def run(self, start: ProgramStart) -> ProgramRun:
        self.started.append(start)
        if start.answer is not None:
            return ProgramRun(words=own_words.says(f"{start.context} {start.answer}"))
        asks = DirectReply(messages=[{"type": "text", "text": "How many?"}], ask="number")
        return ProgramRun(words=asks, context="so many:", code=["$x"], entities={"X": 1})

    async def due(self, entry: AgendaEntry) -> ProgramRun:
        raise NotImplementedError


async def test_a_program_asks_for_its_missing_values() -> None:
    async with assistant(programs=Adds()) as it:
        first = await it.turn("", user="ann", program="now => @a.b();")
        second = await it.turn("5", user="ann")
        rows = await it.store.feed("ann", 0)
    assert first.ask == "number"
    assert said(second) == ["so many: 5"]
    assert second.ask is None
    closing = {"ask": "number", "code": ["$x"], "entities": {"X": 1}}
    assert plain.decode(rows[1].closing or b"") == closing


async def test_the_answer_goes_to_a_program_even_if_it_speaks_for_a_skill() -> None:
    class Speaks(Adds):
        async def run(self, start: ProgramStart) -> ProgramRun:
            run = await super().run(start)
            return replace(run, words=replace(run.words, skill="echo"))

    async with assistant(programs=Speaks()) as it:
        first = await it.turn("", user="ann", program="now => @a.b();")
        second = await it.turn("5", user="ann")
    assert first.reply.active_skill == "echo"
    assert said(second) == ["so many: 5"]


async def test_a_program_that_waits_is_cancelled_without_asking_anybody() -> None:
    adds = Adds()
    async with assistant(programs=adds) as it:
        await it.turn("", user="ann", program="now => @a.b();")
        turn = await it.turn("never mind", user="ann")
    assert said(turn) == [own_words.CANNOT_HELP]
    assert turn.ask is None
    assert len(adds.started) == 1


@pytest.mark.parametrize(
    "came",
    [
        {"program": 'now =>"lol");'},
        {"parsed": {"code": ["now", "=>", "=>"], "entities": {}}},
        {"parsed": {"code": ["now", "=>", "@a.b", "(", ")", ";"], "slots": [[]]}},
    ],
)
async def test_an_invalid_program_leaves_the_ask_open(came: dict[str, Any]) -> None:
    asker = Asker()
    async with assistant(*asking_skills(asker)) as it:
        await it.turn("ask number", user="ann")
        broken = await it.turn("", user="ann", **came)
        await it.turn("5", user="ann")
        assert await closings(it) == ["number", "number", None]
    assert broken.ask == "number"
    assert broken.reply.active_skill == ""
    assert [answer["value"] for answer in asker.told] == [5]


async def test_where_no_language_is_installed_programs_are_refused_and_the_ask_stays() -> None:
    asker = Asker()
    async with assistant(*asking_skills(asker), programs=NoPrograms()) as it:
        await it.turn("ask number", user="ann")
        refused = await it.turn("", user="ann", program="now => @a.b();")
        await it.turn("5", user="ann")
    assert said(refused)[0] == NONE
    assert refused.ask == "number"
    assert [answer["value"] for answer in asker.told] == [5]


async def test_a_program_that_takes_too_long_ends_with_the_turn() -> None:
    class Hangs:
        def find_wish(self, text: str) -> None:
            """Find none."""

        async def run(self, start: ProgramStart) -> ProgramRun:
            await asyncio.Event().wait()
            raise AssertionError

    async with assistant(deadline=0.05, programs=Hangs()) as it:
        turn = await it.turn("", user="ann", program="now => @a.b();")
    assert said(turn) == [own_words.TOO_LONG]


async def test_a_failing_program_leaves_the_ask_open(caplog: Any) -> None:
    class Breaks:
        def find_wish(self, text: str) -> None:
            """Find none."""

        async def run(self, start: ProgramStart) -> ProgramRun:
            raise RuntimeError("oh")

    async with assistant(*asking_skills(Asker()), fallback="Pardon?", programs=Breaks()) as it:
        await it.turn("ask number", user="ann")
        turn = await it.turn("", user="ann", program="now => @a.b();")
        assert await closings(it) == ["number", "number"]
    assert said(turn) == ["Pardon?"]
    assert turn.ask == "number"


# -- the agenda -------------------------------------------------------------------------------


async def test_agenda_entries_of_a_reply_are_stored_with_it() -> None:
    ring = [{"type": "text", "text": "Ring!"}]
    timer = says(
        "timer",
        hypothesis("set", schedule=[{"key": "t", "in": 60, "messages": ring, "ask": "yesno"}]),
        hypothesis("off", unschedule=["t"]),
    )
    async with assistant(timer) as it:
        turn = await it.turn("hi", user="ann")
        [entry] = await it.store.entries("ann")
        await it.turn("off", user="ann")
        assert await it.store.entries("ann") == []
    body = {"messages": ring, "ask": "yesno", "skill": "timer"}
    assert entry.skill == "timer"
    assert entry.key == "t"
    assert plain.decode(entry.body) == body
    assert 0 < entry.due - 60 - _started(turn) < 60


def _started(turn: Any) -> float:
    begun: OpenedTurn = turn.turn.draft.opened
    return begun.opening.started - 1


async def test_schedules_of_other_skills_are_dropped() -> None:
    line = {"key": "t", "at": 5, "messages": [{"type": "text", "text": "Ring!"}]}
    async with assistant(
        says("a", hypothesis("a", 0.9)), says("b", hypothesis("b", 0.1, schedule=[line]))
    ) as it:
        await it.turn("hi", user="ann")
        assert await it.store.entries("ann") == []


# -- a second run -----------------------------------------------------------------------------


async def begun_and_left(store: ModelStore, text: str, **opening: Any) -> None:
    """Begin a turn that nobody ends."""
    assert isinstance(await store.open_turn(an_opening(text=text, window=4, **opening)), OpenedTurn)


@pytest.mark.parametrize(
    ("text", "start", "reply"),
    [
        ("5", b"{}", ["got 5"]),
        ("x", plain.encode({"parsed": answer("NUMBER_0", 7)}), ["got 7"]),
        ("never mind", b"{}", ["dropped"]),
        ("stop", b"{}", []),
        (TIME, b"{}", ["noon"]),
        ("tomorrow", b"{}", [NOT_ASKED]),
    ],
)
async def test_a_turn_that_was_cut_off_in_a_round_decides_the_same(
    text: str, start: bytes, reply: list[str]
) -> None:
    store = ModelStore()
    async with assistant(*asking_skills(Asker()), store=store) as it:
        await it.turn("ask number", user="ann")
        before = await store.feed_end("ann")
    await begun_and_left(store, text, start=start)
    async with assistant(*asking_skills(Asker()), store=store) as it:
        while it.turns.busy:  # noqa: ASYNC110 - nothing tells when the last one has gone
            await asyncio.sleep(0)
        rows = await store.feed("ann", before + 1)
        texts = [plain.decode(row.message)["text"] for row in rows if row.message]
        assert texts[: len(reply)] == reply
        assert len(await closings(it)) == 2


async def test_a_closed_turn_leaves_the_ask_open() -> None:
    store = ModelStore()
    async with assistant(*asking_skills(Asker()), store=store) as it:
        await it.turn("ask number", user="ann")
    await begun_and_left(store, "5", started=1000.0)
    async with assistant(*asking_skills(Asker()), store=store) as it:
        while it.turns.busy:  # noqa: ASYNC110 - nothing tells when the last one has gone
            await asyncio.sleep(0)
        assert await closings(it) == ["number", "number"]
        assert said(await it.turn("5", user="ann")) == ["got 5"]


async def test_a_question_that_could_not_be_stored_is_stored_before_its_answer_is_read() -> None:
    store = FaultyStore()
    async with assistant(*asking_skills(Asker()), store=store) as it:
        store.finishes_to_fail = 1
        with pytest.raises(StoreFull):
            await it.turn("ask number", user="ann")
        assert said(await it.turn("5", user="ann")) == ["got 5"]
        assert await closings(it) == ["number", None]


async def test_an_answer_that_was_cut_off_on_disk_is_given_once(tmp_path: Path) -> None:
    url, asker = f"sqlite:///{tmp_path}/dialogs.db", Asker()
    async with assistant(*asking_skills(asker), store=url) as it:
        await it.turn("ask date", user="ann")
        await it.store.open_turn(an_opening(text="2026-12-24", window=4))
    async with assistant(*asking_skills(asker), store=url) as it:
        while it.turns.busy:  # noqa: ASYNC110 - nothing tells when the last one has gone
            await asyncio.sleep(0)
        assert await closings(it) == ["date", None]
        assert await it.archive.waiting("ann") is None
    assert [one["value"] for one in asker.told] == ["2026-12-24"]


async def test_an_answer_that_comes_while_the_question_is_thought_of_waits() -> None:
    gate = Gate([{"text": "How many?", "ask": "number", "confidence": 1.0}])

    async def waits(request: Any) -> Any:
        if "answer" in request:
            return hypothesis(f"got {request['answer']['value']}")
        return await gate(request)

    async with assistant(Service("waits", waits, timeout=60.0)) as it:
        first = asyncio.create_task(it.turn("hi", user="ann"))
        second = asyncio.create_task(it.turn("5", user="ann"))
        await settle_down()
        gate.opened.set()
        assert [(await one).reply.text for one in (first, second)] == ["How many?", "got 5"]


async def test_the_time_zone_that_a_client_tells_is_kept() -> None:
    chat = says("chat", hypothesis(human_attributes={"mood": "good"}))
    told = {"platformData": {"timezone": "Asia/Tokyo"}}
    async with assistant(chat) as it:
        await it.turn("hi", user="ann", attributes=told)
        assert await attributes(it) == {"timezone": "Asia/Tokyo", "mood": "good"}
        await it.turn("", user="ann", attributes={"platformData": {"timezone": "Mars/Olympus"}})
        assert (await attributes(it))["timezone"] == "Asia/Tokyo"
    assert asked(chat)[0]["human"]["attributes"] == {"timezone": "Asia/Tokyo"}


@pytest.mark.parametrize("data", [None, 5, {"timezone": 5}, {"timezone": "../etc/passwd"}, {}])
async def test_a_time_zone_that_is_none_is_left_out(data: Any) -> None:
    async with assistant() as it:
        await it.turn("hi", user="ann", attributes={"platformData": data})
        assert await attributes(it) == {}


async def test_contacts_that_a_client_sends_can_be_named() -> None:
    who = asks(hypothesis("so"), kind="contact")
    bob = {"value": "phone:+4930901820", "principal": "p", "display": "Bob"}
    async with assistant(who) as it:
        await it.turn("hi", user="ann")
        await it.turn("Bob", user="ann", attributes={"platformData": {"contacts": [bob, 5]}})
    assert asked(who)[1]["answer"]["value"] == "+4930901820"


async def test_the_time_zone_of_the_person_counts() -> None:
    knows = {"human_attributes": {"timezone": "Pacific/Kiritimati"}}
    day = says(
        "day", [{"text": "When?", "ask": "date", "confidence": 1.0, **knows}], hypothesis("so")
    )
    started = 1_767_268_800.0  # 2026-01-01 12:00 UTC, which is 2 a.m. of the second there
    store = ModelStore()
    async with assistant(day, store=store) as it:
        await it.turn("hi", user="ann")
    await begun_and_left(store, "today", started=started)
    async with assistant(day, store=store, recover_within=1e12) as it:
        while it.turns.busy:  # noqa: ASYNC110 - nothing tells when the last one has gone
            await asyncio.sleep(0)
    assert asked(day)[1]["answer"]["value"] == "2026-01-02"


def test_the_table_knows_all_asks() -> None:
    assert set(KINDS) == set(ASK_KINDS.names())
