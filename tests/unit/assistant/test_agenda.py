"""What is said unasked: when it is due, once, and not while something is asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from prolocutor.assistant.agenda import permission_request
from prolocutor.assistant.agenda_scheduler import MAX_CONCURRENT, MAX_KEYS
from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.programs import ProgramRun, ProgramStart
from prolocutor.contracts.store import MAX_AGENDA_ENTRIES, AgendaEntry, Delivery
from prolocutor.dialog import plain, schedules
from prolocutor.dialog.inputs import DirectReply
from prolocutor.dialog.schedules import Notice
from prolocutor.errors import BadInput, Conflict, StoreFull
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from prolocutor.testing.fake_service import FakeService
from tests.model_store import ModelStore
from tests.unit.assistant.talks import assistant, echo, last_text
from tests.unit.pipeline.talk import hypothesis


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def entry(
    said: str, *, user: str = "ann", key: str = "t", ago: float = 0.0, **more: Any
) -> AgendaEntry:
    """Make an entry of the echo's that was due so many seconds ago."""
    names = {name: more.pop(name) for name in ("dropped", "dialog_name") if name in more}
    body = schedules.encode(Notice(messages=[text(said)], skill="echo", **more))
    return AgendaEntry(user=user, skill="echo", key=key, due=time.time() - ago, body=body, **names)


def answer(request: Any) -> Any:
    """Ask on "ask", put on the agenda what is said after "ring", else repeat."""
    said, came = last_text(request), request.get("answer")
    if came is not None:
        return {"text": f"got {plain.encode(came).decode()}", "confidence": 1.0}
    if said == "ask":
        return {"text": "Sure?", "confidence": 1.0, "ask": "yesno"}
    if said.startswith("ring "):
        line = {"key": "r", "in": 0, "messages": [text(said)]}
        return {"text": "I shall.", "confidence": 1.0, "schedule": [line]}
    return hypothesis("re: " + said)


def asker() -> Service:
    return Service("echo", FakeService(answer), timeout=60.0)


async def told(it: Assistant, number: int, user: str = "ann") -> list[str]:
    """Wait for so many messages in a person's feed, and give the texts of all."""
    said: list[str] = []
    async for row in it.feed(user):
        if row.message is not None:
            said.append(row.message.get("text") or row.message.get("command") or "")
        if len(said) >= number:
            break
    return said


async def heard(it: Assistant, text: str) -> None:
    """Wait until a text was said to Ann."""
    async for row in it.feed("ann"):
        if row.message is not None and row.message.get("text") == text:
            break


async def texts_of(it: Assistant, user: str = "ann") -> list[str]:
    rows = await it.store.feed(user, 0, 10_000)
    return [plain.decode(row.message).get("text", "") for row in rows if row.message is not None]


@asynccontextmanager
async def after(*entries: AgendaEntry, **options: Any) -> AsyncIterator[Assistant]:
    """Run an assistant that finds these entries on its agenda."""
    store = options.pop("store", None) or ModelStore()
    await store.open()
    for one in entries:
        await store.schedule(one)
    async with assistant(asker(), store=store, **options) as it:
        yield it


# -- timers -------------------------------------------------------------------------------------


async def test_a_skills_scheduled_message_is_said_after_its_reply() -> None:
    async with assistant(asker()) as it:
        await it.turn("ring softly", user="ann")
        said = await told(it, 3)
        left = await it.store.entries("ann")
    assert said == ["ring softly", "I shall.", "ring softly"]
    assert left == []


async def test_a_composed_reply_keeps_the_schedules_of_all_its_hypotheses() -> None:
    def at(key: str, seconds: float) -> dict[str, Any]:
        line = {"key": key, "in": seconds, "messages": [text(f"{key} rings")]}
        return {"text": f"{key} set.", "confidence": 0.9, "schedule": [line]}

    def both(request: Any) -> dict[str, Any]:
        ids = [one["hypothesis_id"] for one in request["hypotheses"]]
        return {"skill_name": "b", "text": "Both set.", "confidence": 0.9, "hypotheses": ids}

    skills = [
        Service(name, FakeService(lambda request, name=name, s=s: at(name, s)), timeout=60.0)
        for name, s in (("a", 0.01), ("b", 0.02))
    ]
    pipeline = Pipeline(skills=skills, response_selector=Service("both", FakeService(both)))
    async with assistant(pipeline=pipeline) as it:
        await it.turn("set both", user="ann")
        assert await told(it, 4) == ["set both", "Both set.", "a rings", "b rings"]


async def test_an_unasked_message_ends_with_a_closing_and_shows_its_skill() -> None:
    async with after(entry("Ring!")) as it:
        await told(it, 1)
        [row] = await it.store.feed("ann", 0)
    assert plain.decode(row.message or b"") == {**text("Ring!"), "icon": "echo"}
    assert row.id == 0
    assert row.closing == b'{"ask":null}'


async def test_an_entry_that_is_due_later_is_waited_for() -> None:
    async with after(entry("later", ago=-0.05, key="b"), entry("sooner", ago=-0.02)) as it:
        said = await told(it, 2)
        left = await it.store.entries("ann")
    assert said == ["sooner", "later"]
    assert left == []


async def test_an_earlier_entry_wakes_who_sleeps_for_a_later_one() -> None:
    async with after(entry("tomorrow", ago=-86_400, key="b")) as it:
        await it.turn("ring now", user="ann")
        said = await told(it, 3)
    assert said[2] == "ring now"


@pytest.mark.parametrize(
    ("ago", "says"),
    [
        (30, "Ring!"),
        (61, "Ring! (1 minute late)"),
        (7300, "Ring! (2 hours late)"),
        (90_000, "Ring! (1 day late)"),
    ],
)
async def test_a_late_message_says_that_it_is_late(ago: float, says: str) -> None:
    async with after(entry("Ring!", ago=ago)) as it:
        assert await told(it, 1) == [says]


async def test_how_late_it_is_stands_before_messages_without_text() -> None:
    picture = {"type": "picture", "url": "https://a.example/b.png"}
    body = schedules.encode(Notice(messages=[picture]))
    late = AgendaEntry(user="ann", skill="echo", key="t", due=time.time() - 7300, body=body)
    async with after(late) as it:
        assert (await told(it, 2))[0] == "(2 hours late)"


async def test_how_many_had_to_go_is_told() -> None:
    async with after(entry("Ring!", dropped=3)) as it:
        assert await told(it, 2) == ["(3 earlier messages were dropped)", "Ring!"]


async def test_who_is_away_for_long_is_told_how_much_had_to_go() -> None:
    async with assistant(asker(), digressions="keep") as it:
        await it.turn("ask", user="ann")
        for number in range(MAX_AGENDA_ENTRIES + 2):
            await it.store.schedule(entry(str(number), key=str(number), ago=5))
        await it.notify("ann", "news")
        await it.turn("yes", user="ann")
        said = await told(it, MAX_AGENDA_ENTRIES + 5)
    assert said[4:6] == ["(3 earlier messages were dropped)", "3"]
    assert said[-1] == "news"


async def test_a_repeated_entry_is_on_the_agenda_again() -> None:
    first = time.time() - 3 * 86_400
    async with after(entry("Ring!", ago=3 * 86_400, every="day", first=first)) as it:
        said = await told(it, 1)
        [again] = await it.store.entries("ann")
    assert said == ["Ring! (3 days late)"]
    assert 0 < again.due - time.time() <= 86_400


# -- rounds -------------------------------------------------------------------------------------


async def test_entries_wait_for_the_end_of_a_round_and_come_in_order() -> None:
    async with assistant(asker()) as it:
        await it.turn("ask", user="ann")
        for number in range(3):
            assert await it.notify("ann", f"news {number}") is False
        waiting = await texts_of(it)
        await it.turn("yes", user="ann")
        said = await told(it, 7)
    assert waiting == ["", "Sure?"]
    assert said[4:] == ["news 0", "news 1", "news 2"]


class Looked(ModelStore):
    """A store that counts how often its agenda is looked at."""

    looks = 0

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        self.looks += 1
        return await super().due(now, limit)


async def test_the_agenda_is_not_looked_at_again_and_again_while_something_waits() -> None:
    store = Looked()
    async with assistant(asker(), store=store) as it:
        await it.turn("ask", user="ann")
        await it.notify("ann", "news")
        for _ in range(300):
            await asyncio.sleep(0)
        assert store.looks < 10


async def test_a_round_of_one_dialog_holds_up_no_other() -> None:
    async with assistant(asker()) as it:
        await it.turn("ask", user="ann", dialog="work")
        held = await it.notify("ann", "held", dialog="work")
        free = await it.notify("ann", "free")
    assert held is False
    assert free is True


async def test_a_closed_dialog_holds_up_nothing() -> None:
    async with assistant(asker()) as it:
        await it.turn("ask", user="ann")
        await it.notify("ann", "news")
        await it.archive.close("ann")
        assert (await told(it, 3))[2] == "news"


async def test_a_round_of_a_skill_that_is_gone_holds_up_nothing() -> None:
    store = ModelStore()
    async with assistant(asker(), store=store) as it:
        await it.turn("ask", user="ann")
        await it.notify("ann", "news")
    async with assistant(Service("other", FakeService(answer)), store=store) as it:
        assert (await told(it, 3))[2] == "news"


async def test_a_question_opens_a_round_and_its_skill_gets_the_answer() -> None:
    async with assistant(asker()) as it:
        await it.notify("ann", "Did it ring?", "yesno", skill="echo", context={"about": 5})
        second = await it.notify("ann", "Something else")
        waiting = await it.archive.waiting("ann")
        turn = await it.turn("yes", user="ann")
        said = await told(it, 4)
    assert waiting is not None
    assert waiting.ask == "yesno"
    assert waiting.skill == "echo"
    assert second is False
    answered = plain.decode(turn.reply.text.removeprefix("got ").encode())
    assert answered == {"kind": "yesno", "value": True, "raw": "yes", "context": {"about": 5}}
    assert said[3] == "Something else"


@pytest.mark.parametrize(
    ("pressed", "value"),
    [
        ({"text": "yes"}, True),
        ({"text": "no"}, False),
        ({"parsed": {"code": ["bookkeeping", "special", "special:maybe"]}}, "maybe"),
        ("anyone", {"allow": "anyone", "person": "bob"}),
    ],
)
async def test_a_permission_is_asked_for_with_six_buttons(pressed: Any, value: Any) -> None:
    async with assistant(asker()) as it:
        asked = permission_request("bob", "open the door")
        await it.notify("ann", asked, "generic", skill="echo")
        rows = await it.store.feed("ann", 0)
        shown = [plain.decode(row.message or b"") for row in rows]
        if pressed == "anyone":
            pressed = {"parsed": shown[4]["json"]}
        turn = await it.turn(pressed.get("text", ""), user="ann", parsed=pressed.get("parsed"))
    assert [one["type"] for one in shown] == ["text", *["button"] * 6]
    assert plain.decode(turn.reply.text.removeprefix("got ").encode())["value"] == value


async def test_a_question_of_a_skill_that_is_gone_asks_nothing() -> None:
    body = schedules.encode(Notice(messages=[text("Well?")], skill="gone", ask="yesno"))
    one = AgendaEntry(user="ann", skill="gone", key="t", due=time.time(), body=body)
    async with after(one) as it:
        await told(it, 1)
        assert await it.archive.waiting("ann") is None


# -- notify -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"type": "smell"}]}, "messages"),
        ({"messages": 5}, "messages"),
        ({"messages": "\ud800"}, "messages"),
        ({"messages": "x", "ask": "colour", "skill": "echo"}, "ask"),
        ({"messages": "x", "ask": "yesno"}, "skill"),
        ({"messages": "x", "skill": "nobody"}, "skill"),
        ({"messages": "x", "key": ""}, "key"),
        ({"messages": "x", "context": float("nan")}, "context"),
        ({"messages": "x", "user": ""}, "user"),
    ],
)
async def test_a_notification_that_is_none_is_refused_by_its_field(
    wrong: dict[str, Any], field: str
) -> None:
    async with assistant(asker()) as it:
        with pytest.raises(BadInput) as caught:
            await it.notify(**{"user": "ann", **wrong})
    assert caught.value.field == field


async def test_an_unknown_skill_is_told_which_there_are() -> None:
    async with assistant(asker()) as it:
        with pytest.raises(BadInput, match="there are echo"):
            await it.notify("ann", "x", skill="ecko")


async def test_the_same_key_says_the_same_thing_once() -> None:
    async with assistant(asker()) as it:
        both = [await it.notify("ann", "news", key="1") for _ in range(2)]
        with pytest.raises(Conflict):
            await it.notify("ann", "other news", key="1")
        assert await texts_of(it) == ["news"]
    assert both == [True, True]


async def test_the_same_key_waits_once() -> None:
    async with assistant(asker()) as it:
        await it.turn("ask", user="ann")
        both = [await it.notify("ann", "news", key="1") for _ in range(2)]
        await it.turn("yes", user="ann")
        await told(it, 5)
        again = await it.notify("ann", "news", key="1")
        assert (await texts_of(it)).count("news") == 1
    assert both == [False, False]
    assert again is True


async def test_only_so_many_keys_are_kept() -> None:
    async with assistant(asker()) as it:
        for number in range(MAX_KEYS + 5):
            await it.notify("ann", "news", key=str(number))
        assert len(await it.store.entries("ann")) == MAX_KEYS


async def test_the_mark_of_a_key_is_taken_off_without_a_word() -> None:
    mark = AgendaEntry(
        user="ann",
        skill="@notify",
        key="1",
        due=time.time() - 9999,
        body=schedules.encode(Notice(digest="x", said=True)),
    )
    async with after(mark, entry("Ring!", key="b")) as it:
        assert await told(it, 1) == ["Ring!"]
        assert await it.store.entries("ann") == []


# -- what goes wrong ----------------------------------------------------------------------------


class Failing(ModelStore):
    """A store that fails to read the agenda, or to deliver, as often as it is told to."""

    def __init__(self, *, due: int = 0, deliver: int = 0) -> None:
        super().__init__()
        self.left = {"due": due, "deliver": deliver}

    def fail(self, what: str) -> None:
        if self.left[what]:
            self.left[what] -= 1
            raise StoreFull("the disk is full")

    async def due(self, now: float, limit: int = 100) -> list[AgendaEntry]:
        self.fail("due")
        return await super().due(now, limit)

    async def deliver(self, delivery: Delivery) -> bool:
        self.fail("deliver")
        return await super().deliver(delivery)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prolocutor.assistant.agenda_scheduler.FIRST_PAUSE", 0.001)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("what", ["due", "deliver"])
async def test_a_store_that_fails_is_tried_again(what: str) -> None:
    async with after(entry("Ring!"), store=Failing(**{what: 3})) as it:
        assert await told(it, 1) == ["Ring!"]
        assert await it.store.entries("ann") == []


@pytest.mark.usefixtures("impatient")
async def test_a_notification_that_cannot_be_delivered_is_kept() -> None:
    async with after(store=Failing(deliver=1)) as it:
        said = await it.notify("ann", "news")
        assert await told(it, 1) == ["news"]
    assert said is False


@pytest.mark.parametrize("body", [b"junk", b'{"messages":[{}]}', b'{"messages":5}', b"\xff"])
async def test_an_entry_that_cannot_be_read_stops_no_other(body: bytes) -> None:
    bad = AgendaEntry(user="ann", skill="echo", key="bad", due=time.time() - 5, body=body)
    async with after(bad, entry("Ring!", ago=3)) as it:
        assert await told(it, 1) == ["Ring!"]
        assert await it.store.entries("ann") == []


class Monitors:
    """Programs that tell which entry is due and want it again, unless they break."""

    def __init__(self, *, broken: bool = False) -> None:
        self.broken = broken

    def find_wish(self, text: str) -> None:
        """Find none."""

    async def run(self, start: ProgramStart) -> ProgramRun:
        raise NotImplementedError

    async def due(self, entry: AgendaEntry) -> ProgramRun:
        if self.broken:
            raise RuntimeError("broken")
        words = DirectReply(messages=[text(f"Notification from {entry.key}")])
        return ProgramRun(words=words, entries=[replace(entry, due=time.time() + 30)])


@pytest.mark.parametrize(
    ("programs", "says"),
    [(Monitors(), ["Notification from p", "news"]), (Monitors(broken=True), ["news"])],
)
async def test_a_program_does_what_its_entry_is_for_and_one_that_breaks_is_put_off(
    programs: Monitors, says: list[str]
) -> None:
    body = schedules.encode(Notice(program={"id": "p"}))
    async with assistant(asker(), programs=programs) as it:
        await it.store.schedule(
            AgendaEntry(user="ann", skill="", key="p", due=time.time(), body=body)
        )
        await it.notify("ann", "news")
        said = await told(it, len(says))
        [left] = await it.store.entries("ann")
    assert said == says
    assert left.due > time.time() + 20


# -- many, and ends -----------------------------------------------------------------------------


class Counting(ModelStore):
    """A store that tells how many deliveries were under way at the same time."""

    def __init__(self) -> None:
        super().__init__()
        self.running = self.most = 0

    async def deliver(self, delivery: Delivery) -> bool:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0)
        self.running -= 1
        return await super().deliver(delivery)


async def test_many_people_are_told_a_few_at_a_time() -> None:
    store = Counting()
    people = [f"p{number}" for number in range(1000)]
    async with after(*(entry("Ring!", user=one) for one in people), store=store) as it:
        turn = await it.turn("hi", user="ann")
        for one in people:
            assert await told(it, 1, one) == ["Ring!"]
    assert turn.reply.text == "re: hi"
    assert 1 < store.most <= MAX_CONCURRENT


async def test_a_person_with_many_entries_is_told_all_of_them_in_order() -> None:
    entries = [entry(str(number), key=str(number), ago=50 - number) for number in range(50)]
    async with after(*entries) as it:
        assert await told(it, 50) == [str(number) for number in range(50)]


async def test_entries_that_wait_for_an_answer_hold_up_nobody_behind_them() -> None:
    held = [entry("held", key=str(number), ago=40) for number in range(150)]
    async with assistant(asker()) as it:
        await it.turn("ask", user="ann")
        for one in held:
            await it.store.schedule(one)
        await it.notify("ann", "wakes")
        assert await it.notify("bob", "news") is True
        await it.store.schedule(entry("Ring!", user="eve"))
        await it.turn("ring too", user="eve")
        assert sorted(await told(it, 4, "eve")) == ["I shall.", "Ring!", "ring too", "ring too"]


async def test_a_message_cut_off_by_a_stop_is_said_after_the_start(tmp_path: Path) -> None:
    path = tmp_path / "d.db"
    async with assistant(asker(), store=SqliteStore(path)) as it:
        await it.turn("ask", user="ann")
        await it.notify("ann", "news")
    async with assistant(asker(), store=SqliteStore(path)) as it:
        await it.turn("yes", user="ann")
        said = await told(it, 5)
    async with assistant(asker(), store=SqliteStore(path)) as it:
        assert await texts_of(it) == ["", "Sure?", "", said[3], "news"]


class Cut(SqliteStore):
    """A store that is cut off in its first delivery: before it is durable, or right after."""

    def __init__(self, path: Path, *, durable: bool) -> None:
        super().__init__(path)
        self.durable = durable
        self.cut = asyncio.Event()

    async def deliver(self, delivery: Delivery) -> bool:
        if self.durable:
            await super().deliver(delivery)
        self.cut.set()
        await asyncio.Event().wait()
        return False


@pytest.mark.parametrize("durable", [False, True])
async def test_a_due_message_is_said_once_also_after_a_kill(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "d.db"
    store = Cut(path, durable=durable)
    async with assistant(asker(), store=store) as it:
        await it.turn("ring twice", user="ann")
        await store.cut.wait()
        await it.aclose(grace=0.01)
    for _ in range(2):
        async with assistant(asker(), store=SqliteStore(path)) as it:
            assert await told(it, 3) == ["ring twice", "I shall.", "ring twice"]
            assert await it.store.entries("ann") == []


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["ask", "yes", "tell", "tell", "restart", "fail"]), max_size=14))
def test_whatever_happens_everything_is_said_once_and_in_order(happens: list[str]) -> None:
    async def happen() -> tuple[list[str], int]:
        store, number = Failing(), 0
        steps = iter([*happens, "yes"])
        step: str | None = "restart"
        while step is not None:
            async with assistant(asker(), store=store) as it:
                while (step := next(steps, None)) not in (None, "restart"):
                    if step == "fail":
                        store.left["deliver"] += 1
                    elif step == "tell":
                        await it.notify("ann", f"news {number}")
                        number += 1
                    else:
                        await it.turn(step, user="ann")
                if step is None and number:
                    await heard(it, f"news {number - 1}")
        return [one for one in await texts_of(it) if one.startswith("news")], number

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("prolocutor.assistant.agenda_scheduler.FIRST_PAUSE", 0.001)
        said, number = asyncio.run(happen())
    assert said == [f"news {n}" for n in range(number)]


async def test_an_assistant_that_stops_takes_no_notifications() -> None:
    async with assistant(echo()) as it:
        pass
    with pytest.raises(Exception, match="shutting down"):
        await it.notify("ann", "x")


async def test_a_deleted_person_is_told_nothing() -> None:
    async with assistant(asker()) as it:
        await it.turn("ask", user="ann")
        await it.notify("ann", "news")
        await it.archive.delete_person("ann")
        assert await texts_of(it) == []
        await it.store.schedule(entry("hello again"))
        assert await it.notify("bob", "hello") is True
        await it.turn("ring too", user="bob")
        assert await told(it, 1) == ["hello again"]
