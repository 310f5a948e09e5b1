"""Each of the fifteen asks, whatever comes: the table of the Almond dialog API."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor.asks.answers import NOT_ASKED, NOT_UNDERSTOOD
from prolocutor.asks.kinds import hint_for
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.rounds import own_words
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.dialog import plain
from tests.unit.assistant.askers import (
    CHOICES,
    KINDS,
    RAW,
    TIME,
    WRONG,
    Asker,
    answer,
    asking_skills,
    closings,
    said,
    special,
)
from tests.unit.assistant.talks import assistant

ANY = [*KINDS]
TYPED = [kind for kind in KINDS if kind not in RAW and kind != "command"]
STEERED = [kind for kind in KINDS if kind not in RAW]
SOME_RAW = sorted(RAW)
NO_DEVICE = (
    "Sorry, I cannot run “now => @a.b();”: line 1, column 8: @a is not known; "
    "classes: org.prolocutor.asker, org.prolocutor.clock."
)


class Asked:
    """An assistant that has just asked for a value of a kind."""

    def __init__(self, it: Assistant, asker: Asker) -> None:
        self.it = it
        self.asker = asker

    async def ask(self, kind: str) -> TurnResult:
        return await self.it.turn(f"ask {kind}", user="ann")

    async def after(self, kind: str, text: str = "", **came: Any) -> TurnResult:
        """Ask for a value, and give the turn of what came then."""
        await self.ask(kind)
        return await self.it.turn(text, user="ann", **came)


@pytest.fixture
async def asked() -> AsyncIterator[Asked]:
    asker = Asker()
    async with assistant(*asking_skills(asker), fallback="Pardon?") as it:
        yield Asked(it, asker)


def got(value: Any) -> list[str]:
    return [f"got {plain.encode(value).decode()}"]


def asks_again(kind: str) -> list[str]:
    return ["Which one?", *(CHOICES if kind == "choice" else ())]


@pytest.mark.parametrize("kind", ANY)
async def test_an_ask_is_told_to_whoever_is_to_answer(asked: Asked, kind: str) -> None:
    turn = await asked.ask(kind)
    assert turn.ask == kind
    assert turn.state["attributes"]["ask"] == kind
    assert await closings(asked.it) == [kind]


@pytest.mark.parametrize("kind", ANY)
async def test_a_right_answer_goes_to_the_skill_that_waits(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, KINDS[kind].right)
    assert said(turn) == got(KINDS[kind].value)
    assert turn.ask is None
    assert asked.asker.told == [
        {"kind": kind, "value": KINDS[kind].value, "raw": KINDS[kind].right}
    ]
    assert await closings(asked.it) == [kind, None]


@pytest.mark.parametrize("kind", ANY)
async def test_a_right_answer_that_comes_parsed_does_too(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, "title", parsed=KINDS[kind].parsed)
    assert said(turn) == got(KINDS[kind].when_parsed)
    assert turn.ask is None


@pytest.mark.parametrize("kind", TYPED)
async def test_a_text_that_is_no_answer_is_not_understood(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, WRONG)
    assert said(turn)[0] == NOT_UNDERSTOOD
    assert said(turn)[1].startswith(hint_for(kind)[:20])  # type: ignore[arg-type]
    assert said(turn)[2:] == asks_again(kind)
    assert turn.ask == kind
    assert asked.asker.told == []


@pytest.mark.parametrize("kind", ["date", "picture", "phone_number", "time", "yesno"])
async def test_a_value_of_another_kind_is_no_answer(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, "5000")
    assert said(turn)[0] == NOT_ASKED
    assert said(turn)[-1] == "Which one?"
    assert turn.ask == kind


@pytest.mark.parametrize("kind", [kind for kind in ANY if kind not in ("number", "generic")])
async def test_a_parsed_value_of_another_kind_is_no_answer(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, parsed=answer("NUMBER_0", 77_000))
    if kind == "command":
        assert said(turn) == got(77_000)
    else:
        assert said(turn)[0] == NOT_ASKED
        assert turn.ask == kind
        assert asked.asker.told == []


@pytest.mark.parametrize("words", ["never mind", "cancel", "no"])
@pytest.mark.parametrize("kind", STEERED)
async def test_who_does_not_want_any_more_is_let_go(asked: Asked, kind: str, words: str) -> None:
    turn = await asked.after(kind, words)
    if (kind, words) == ("yesno", "no"):
        assert said(turn) == got(False)
    else:
        assert said(turn) == ["dropped"]
        assert asked.asker.told == [{"kind": "cancelled"}]
    assert turn.ask is None
    assert await asked.it.archive.waiting("ann") is None


@pytest.mark.parametrize("text", ["never mind", "cancel", "no", "yes", "stop", "help", "more"])
@pytest.mark.parametrize("kind", SOME_RAW)
async def test_where_any_text_is_wanted_every_text_is_an_answer(
    asked: Asked, kind: str, text: str
) -> None:
    assert said(await asked.after(kind, text)) == got(text)


@pytest.mark.parametrize("kind", ANY)
async def test_a_parsed_cancel_ends_every_ask(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, "never mind", parsed=special("nevermind"))
    assert said(turn) == ["dropped"]
    assert turn.ask is None


@pytest.mark.parametrize("parsed", [None, special("stop")])
@pytest.mark.parametrize("kind", STEERED)
async def test_stop_ends_the_round_without_a_word(
    asked: Asked, kind: str, parsed: dict[str, Any] | None
) -> None:
    turn = await asked.after(kind, "stop", parsed=parsed)
    assert said(turn) == []
    assert turn.ask is None
    assert asked.asker.told == [{"kind": "cancelled"}]
    assert await closings(asked.it) == [kind, None]


@pytest.mark.parametrize("kind", STEERED)
async def test_help_says_what_is_looked_for(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, "help")
    assert said(turn)[0].startswith(hint_for(kind))  # type: ignore[arg-type]
    assert said(turn)[1:] == asks_again(kind)
    assert turn.ask == kind


@pytest.mark.parametrize("kind", STEERED)
async def test_a_yes_out_of_place_is_wondered_at(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, "yes")
    if kind == "yesno":
        assert said(turn) == got(True)
    else:
        assert said(turn) == [own_words.YES_WHAT, *asks_again(kind)]
        assert turn.ask == kind


@pytest.mark.parametrize("kind", [*TYPED, "raw_string", "command"])
async def test_a_new_command_is_answered_and_the_question_stands_again(
    asked: Asked, kind: str
) -> None:
    turn = await asked.after(kind, TIME)
    assert said(turn) == ["noon", *asks_again(kind)]
    assert turn.ask == kind
    assert asked.asker.told == []


async def test_a_password_may_look_like_a_command(asked: Asked) -> None:
    assert said(await asked.after("password", TIME)) == got(TIME)


@pytest.mark.parametrize("kind", [kind for kind in ANY if kind != "command"])
async def test_a_program_ends_the_round_and_is_run(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, program="now => @a.b();")
    assert said(turn) == [NO_DEVICE]
    assert turn.ask is None
    assert asked.asker.told == [{"kind": "cancelled"}]


@pytest.mark.parametrize("kind", ANY)
async def test_who_says_nothing_is_asked_again(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, " ")
    assert said(turn) == asks_again(kind)
    assert turn.ask == kind
    assert asked.asker.told == []


@pytest.mark.parametrize("kind", ANY)
async def test_a_wake_up_changes_nothing(asked: Asked, kind: str) -> None:
    turn = await asked.after(kind, parsed=special("wakeup"))
    assert said(turn) == []
    assert turn.ask == kind
    assert await closings(asked.it) == [kind, kind]


@pytest.mark.parametrize("kind", ANY)
async def test_another_client_may_answer(asked: Asked, kind: str) -> None:
    await asked.it.turn(f"ask {kind}", user="ann", channel="page")
    turn = await asked.it.turn(KINDS[kind].right, user="ann", channel="phone")
    assert said(turn) == got(KINDS[kind].value)
    assert await closings(asked.it) == [kind, None]


@pytest.mark.parametrize("kind", ANY)
async def test_another_dialog_of_the_person_was_asked_nothing(asked: Asked, kind: str) -> None:
    await asked.ask(kind)
    turn = await asked.it.turn("yes", user="ann", dialog="other")
    assert said(turn) == [own_words.AGREE]
    assert (await asked.it.archive.waiting("ann")).ask == kind  # type: ignore[union-attr]


@pytest.mark.parametrize("kind", ANY)
async def test_an_ask_survives_a_restart(kind: str, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/dialogs.db"
    async with assistant(*asking_skills(Asker()), store=store) as it:
        before = (await it.turn(f"ask {kind}", user="ann")).waiting
    async with assistant(*asking_skills(Asker()), store=store) as it:
        assert await it.archive.waiting("ann") == before
        assert said(await it.turn(KINDS[kind].right, user="ann")) == got(KINDS[kind].value)
        assert await it.archive.waiting("ann") is None


# -- null: nothing is asked for ---------------------------------------------------------------

UNASKED = [
    ("right", {"text": "5"}, ["tick"]),
    ("wrong", {"text": WRONG}, ["tick"]),
    ("cancel", {"text": "never mind"}, [own_words.CANNOT_HELP]),
    ("cancel parsed", {"parsed": special("cancel")}, [own_words.CANNOT_HELP]),
    ("stop", {"text": "stop"}, []),
    ("stop parsed", {"parsed": special("stop")}, []),
    ("help", {"text": "help"}, ["tick"]),
    ("help parsed", {"parsed": special("help")}, [own_words.menu([("asker", ""), ("clock", "")])]),
    ("yes", {"text": "Yes!"}, [own_words.AGREE]),
    ("yes parsed", {"parsed": special("yes")}, [own_words.AGREE]),
    ("no", {"text": "no"}, [own_words.NO_WAY]),
    ("no parsed", {"parsed": special("no")}, [own_words.NO_WAY]),
    ("maybe", {"parsed": special("maybe")}, [own_words.MAYBE_WHAT]),
    ("new command", {"text": TIME}, ["noon"]),
    ("parsed", {"parsed": answer("NUMBER_0", 5)}, [own_words.NOTHING_ASKED]),
    ("choice", {"parsed": KINDS["choice"].parsed}, [own_words.NO_CHOICES]),
    ("blank", {"text": " "}, ["tick"]),
    ("wakeup", {"parsed": special("wakeup")}, []),
    ("hello", {"parsed": special("hello")}, [own_words.HELLO]),
    ("failed", {"parsed": special("failed")}, [NOT_UNDERSTOOD]),
    ("train", {"parsed": special("train")}, [own_words.NO_TRAINING]),
    ("more", {"parsed": special("more")}, [own_words.NO_MORE]),
    ("source", {"program": "bookkeeping(yes);"}, [own_words.AGREE]),
    ("prefixed", {"text": "\\r bookkeeping special special:no"}, [own_words.NO_WAY]),
    ("program", {"text": "\\t now => @a.b();"}, [NO_DEVICE]),
]


@pytest.mark.parametrize(
    ("came", "says"), [row[1:] for row in UNASKED], ids=[r[0] for r in UNASKED]
)
async def test_where_nothing_is_asked_for(
    asked: Asked, came: dict[str, Any], says: list[str]
) -> None:
    turn = await asked.after("null", **came)
    assert said(turn) == says
    assert turn.ask is None
    assert asked.asker.told == []
    assert await closings(asked.it) == [None, None]
