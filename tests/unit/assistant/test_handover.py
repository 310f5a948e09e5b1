"""A person takes a dialog over, between turns; agents are silent meanwhile, and it goes back."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.assistant_settings import HandoverSettings
from prolocutor.assistant.handovers import HANDOVER_RECORDS
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import OperatorAct, TurnInput
from prolocutor.errors import BadInput, HandoverConflict, NotFound, StoreFull
from prolocutor.plan.pipeline import Pipeline, Service
from prolocutor.testing.fake_service import FakeService
from tests.unit.assistant.talks import FaultyStore, assistant, echo, last_text
from tests.unit.pipeline.talk import Gate, hypothesis, says

TAKEN, GIVEN = HandoverSettings().taken, HandoverSettings().given
MISSED = HandoverSettings().missed


async def shown_to(it: Assistant, user: str = "ann") -> list[str]:
    """Return the texts that a person's feed shows."""
    rows = await it.store.feed(user, 0, 1000)
    messages = [plain.decode(row.message) for row in rows if row.message is not None]
    return [one["command"] if one["type"] == "command" else one["text"] for one in messages]


async def dialog_of(it: Assistant, user: str = "ann") -> list[tuple[str, Any]]:
    """Return text and handover mark of each stored utterance."""
    dialog = await it.store.dialog(str(await it.store.active_dialog_id(user)))
    assert dialog is not None
    return [(one.text, one.attributes.get("handover")) for one in dialog.utterances]


async def shows(it: Assistant, text: str, user: str = "ann") -> None:
    """Wait until a person is shown a text."""
    with it.feeds.listening(user) as news:
        while text not in await shown_to(it, user):
            await news.wait()
            news.clear()


def caller(service: Service) -> FakeService:
    assert isinstance(service.target, FakeService)
    return service.target


def wants(reason: Any = True) -> Service:
    """Make a skill that wants a person where it is asked for one, and repeats all else."""

    def answer(request: Any) -> Any:
        text = last_text(request)
        marked = {"attributes": {"wants_person": reason}} if "person" in text else {}
        return hypothesis(f"re: {text}", **marked)

    return says("wants", answer, timeout=60.0)


async def test_a_dialog_is_taken_over_and_goes_back() -> None:
    service = echo()
    async with assistant(service) as it:
        await it.reply("hi", user="ann")
        taken = await it.desk.take("ann", by="eve")
        held = await it.turn("help", user="ann", request_id="k")
        spoken = await it.desk.say("I am here.", "ann", by="eve")
        again = await it.turn("help", user="ann", request_id="k")
        await it.desk.give("ann", by="eve", note="solved")
        await it.reply("bye", user="ann")
        stored = await dialog_of(it)

        assert taken.by == "eve"
        assert held.reply.text == ""
        assert again.reply.utt_id == held.reply.utt_id
        assert held.reply.attributes == {"handover": {"by": "eve", "state": "taken"}}
        assert spoken.reply.active_skill == "operator"
        assert stored == [
            ("hi", None),
            ("re: hi", None),
            (TAKEN, {"by": "eve", "state": "taken"}),
            ("help", None),
            ("I am here.", {"by": "eve", "state": "said"}),
            (GIVEN, {"by": "eve", "state": "given", "note": "solved"}),
            ("bye", None),
            ("re: bye", None),
        ]
        assert await shown_to(it) == [text for text, _ in stored]
        assert await it.desk.handover("ann") is None
    assert caller(service).calls == 2
    before = caller(service).requests[-1]["bot_utterances"][-1]
    assert before["attributes"]["handover"]["note"] == "solved"


async def test_the_turn_that_runs_is_finished_first() -> None:
    gate = Gate(hypothesis("at last"))
    async with assistant(Service("slow", gate, timeout=60.0)) as it:
        running = asyncio.ensure_future(it.turn("hi", user="ann"))
        await gate.started.wait()
        taking = asyncio.ensure_future(it.desk.take("ann", by="eve"))
        gate.opened.set()
        await asyncio.gather(running, taking)
        await it.turn("anybody?", user="ann")
        assert await shown_to(it) == ["hi", "at last", TAKEN, "anybody?"]
    assert gate.calls == 1


async def test_one_operator_has_a_dialog() -> None:
    async with assistant() as it:
        with pytest.raises(NotFound):
            await it.desk.take("ann", by="eve")
        await it.reply("hi", user="ann")
        for act in (it.desk.say("x", "ann", by="eve"), it.desk.give("ann", by="eve")):
            with pytest.raises(HandoverConflict):
                await act
        first = await it.desk.take("ann", by="eve")
        assert (await it.desk.take("ann", by="eve")).since == first.since
        for act in (
            it.desk.take("ann", by="bob"),
            it.desk.say("x", "ann", by="bob"),
            it.desk.give("ann", by="bob"),
        ):
            with pytest.raises(HandoverConflict, match="eve has this dialog"):
                await act
        for text in ("", "x" * 200_000):
            with pytest.raises(BadInput):
                await it.desk.say(text, "ann", by="eve")


async def test_a_restart_keeps_it_and_the_list(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/dialogs.db"
    async with assistant(store=store) as it:
        id_ = (await it.turn("hi", user="ann", dialog="shop")).dialog_id
        await it.desk.take("ann", "shop", by="eve")
    service = echo()
    async with assistant(service, store=store) as it:
        (listed,) = await it.desk.list_handovers()
        assert listed.dialog_id == id_
        assert listed.user == "ann"
        assert listed.dialog == "shop"
        assert listed.handover.by == "eve"
        assert await it.desk.find(id_) == ("ann", "shop")
        assert (await it.reply("hi", user="ann", dialog="shop")).text == ""
        await it.desk.give("ann", "shop", by="eve")
        assert await it.desk.list_handovers() == []
    assert caller(service).calls == 0


@pytest.mark.parametrize("takes", [True, False])
async def test_without_a_word_it_goes_back(takes: bool) -> None:
    settings = HandoverSettings(idle=0.05, given="{by} is gone.")
    async with assistant(wants("it is hard"), handover=settings) as it:
        await it.reply("a person please", user="ann")
        if takes:
            await it.desk.take("ann", by="eve")
        await shows(it, "eve is gone." if takes else MISSED)
        await it.archive.delete_person("nobody")  # the list is kept after the delivery
        assert await it.desk.handover("ann") is None
        assert (await it.reply("hi", user="ann")).text == "re: hi"
        await it.reply("bye", user="ann")
        assert await it.store.records("", HANDOVER_RECORDS) == {}
        *_, hi, _, bye, _ = await dialog_of(it)
    mark = {"by": "eve", "state": "given", "note": "idle"} if takes else None
    assert hi == ("hi", mark)
    assert bye == ("bye", None)


async def test_a_skill_wants_a_person_and_agents_answer_until_one_comes() -> None:
    async with assistant(wants("too hard")) as it:
        await it.reply("a person please", user="ann")
        now = await it.desk.handover("ann")
        assert now is not None
        assert now.by == ""
        assert now.reason == "too hard"
        assert (await it.reply("hi", user="ann")).text == "re: hi"
        assert [one.handover.reason for one in await it.desk.list_handovers()] == ["too hard"]
        await it.desk.take("ann", by="eve")
        assert (await it.reply("hi", user="ann")).text == ""


async def test_agents_may_be_silent_while_a_person_is_waited_for() -> None:
    async with assistant(wants(), handover=HandoverSettings(waiting="silent")) as it:
        await it.reply("a person please", user="ann")
        held = await it.reply("hello?", user="ann")
        assert held.text == ""
        assert held.attributes["handover"]["state"] == "waits"


async def test_notices_wait_and_an_open_ask_is_over() -> None:
    asks = says("asks", hypothesis("Which?", ask="password"), timeout=60.0)
    async with assistant(asks) as it:
        await it.reply("hi", user="ann")
        await it.desk.take("ann", by="eve")
        assert await it.archive.waiting("ann") is None
        assert not await it.notify("ann", "It rings.")
        await it.desk.say("What was it?", "ann", by="eve")
        assert (await it.turn("secret?", user="ann")).reply.text == ""
        assert "It rings." not in await shown_to(it)
        await it.desk.give("ann", by="eve")
        await shows(it, "It rings.")
        assert "secret?" in await shown_to(it)


async def test_an_operators_unstored_words_are_stored_before_the_next() -> None:
    store = FaultyStore()
    async with assistant(store=store) as it:
        await it.reply("hi", user="ann")
        await it.desk.take("ann", by="eve")
        store.finishes_to_fail = 1
        with pytest.raises(StoreFull):
            await it.desk.say("one", "ann", by="eve")
        await it.desk.say("two", "ann", by="eve")
        assert (await shown_to(it))[-2:] == ["one", "two"]


@pytest.mark.parametrize("recover_within", [0.0, 300.0])
async def test_a_turn_interrupted_within_a_handover_is_finished_at_the_next_start(
    tmp_path: Path, recover_within: float
) -> None:
    path = f"sqlite:///{tmp_path}/dialogs.db"
    async with assistant(store=path) as it:
        await it.reply("hi", user="ann")
        await it.reply("hi", user="bob")
        await it.desk.take("ann", by="eve")
        await it.desk.take("bob", by="eve")
        for user, act in (("ann", OperatorAct(state="said", by="eve", text="Yes?")), ("bob", None)):
            journal = it.life.parts.journal  # what a turn does before it is cut off
            await journal.open_turn(TurnInput("" if act else "help", user, operator=act))
    async with assistant(store=path, recover_within=recover_within) as it:
        for user, last in (("ann", "Yes?"), ("bob", "help")):
            await it.turn("and?", user=user)  # in the queue behind what was cut off
            assert (await shown_to(it, user))[-2:] == [last, "and?"]
            assert [text for text, _ in await dialog_of(it, user)][-2:] == [last, "and?"]


async def test_a_person_who_is_deleted_is_on_no_list() -> None:
    async with assistant() as it:
        for user in ("ann", "bob"):
            await it.reply("hi", user=user)
            await it.desk.take(user, by="eve")
        await it.archive.delete_person("ann")
        await it.archive.close("bob")
        assert await it.store.records("", HANDOVER_RECORDS) == {}
        assert (await it.reply("hi", user="bob")).text == "re: hi"


async def test_an_unsure_assistant_wants_a_person() -> None:
    from prolocutor.contracts.pairing import Card
    from prolocutor.plugins.pairing.abstention import AbstentionRule
    from prolocutor.plugins.pairing.question_response.unsupervised import UnsupervisedRanker
    from prolocutor.plugins.pairing.response_selector import RankedSelector

    rule = AbstentionRule(below=1.1, then="person", person="I ask a person.")
    selector = RankedSelector(UnsupervisedRanker(), [Card(name="echo")], unsure=rule)
    pipeline = Pipeline(skills=[echo()], response_selector=Service("chooser", selector))
    async with assistant(pipeline=pipeline) as it:
        reply = await it.reply("hi", user="ann")
        now = await it.desk.handover("ann")
    assert reply.text == "I ask a person."
    assert now is not None
