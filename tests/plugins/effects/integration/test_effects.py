"""Skills that act: each call is an effect, kept in the ledger and started once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from prolocutor import Assistant, Pipeline, Skill, SkillSelector
from prolocutor.connectors.python import PythonFunction
from prolocutor.contracts.store import Store
from prolocutor.errors import BadInput, ConfigError, ServiceRefused, ServiceUnreachable
from prolocutor.plugins.effects import acting_connector
from prolocutor.plugins.effects.ledger import CLOSED, OPEN
from prolocutor.plugins.lines.command import Command
from prolocutor.stores.sqlite.sqlite_store import SqliteStore
from tests.plugins.effects.integration import booking


class Shop:
    """An agent that sells, and forgets what it was asked with before."""

    def __init__(self) -> None:
        self.sold: list[str] = []
        self.fields: list[Any] = []
        self.fails: list[BaseException] = []
        self.open = asyncio.Event()
        self.open.set()
        self.reached = asyncio.Event()

    async def sell(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        self.reached.set()
        await self.open.wait()
        if self.fails:
            raise self.fails.pop()
        self.sold.append(request["idempotency_key"])
        self.fields.append(request["effect"]["fields"])
        return [{"text": "Sold.", "confidence": 0.9}]

    def status(self, asked: dict[str, Any]) -> dict[str, str]:
        return {"state": "done" if asked["key"] in self.sold else "not_done"}

    def preview(self, request: dict[str, Any]) -> dict[str, Any] | None:
        said = request["utterances"][-1]["text"]
        if "buy" not in said:
            return None
        fields = {"amount": int(said.split()[-1]), "what": "apples"}
        return {"title": "Buy apples", "fields": fields}


@pytest.fixture
def shop() -> Shop:
    return Shop()


def assistant_of(shop: Shop, store: str | Store = "memory:", **options: Any) -> Assistant:
    skill = Skill(shop.sell, name="shop", acts=True, **options)
    return Assistant(Pipeline(skills=[skill]), store=store)


async def told(assistant: Assistant, number: int) -> list[str]:
    """Return the texts of the first messages of the feed that the assistant said."""
    texts: list[str] = []
    feed: AsyncIterator[Any] = assistant.feed("ann")
    async for one in feed:
        if one.message is not None and one.message["type"] == "text":
            texts.append(one.message["text"])
        if len(texts) == number:
            break
    return texts


async def states(assistant: Assistant) -> list[str]:
    """Return the states of all effects, the open ones first."""
    ledger = assistant.effects.ledger
    found = [*await ledger.list_effects(), *await ledger.list_effects(closed=True)]
    return [one.record.state for one in found]


async def test_an_effect_is_done_once_and_kept(shop) -> None:
    async with assistant_of(shop) as assistant:
        reply = await assistant.reply("buy 3", "ann")

        (stored,) = await assistant.effects.ledger.list_effects(closed=True)

    assert reply.text == "Sold."
    assert shop.sold == [stored.record.key]
    assert stored.record.key.endswith("/shop")
    assert [step.state for step in stored.record.steps] == ["started", "done"]
    assert bytes(stored.record.body) == b"null"


async def test_the_same_request_does_nothing_twice(shop) -> None:
    async with assistant_of(shop) as assistant:
        for _ in range(3):
            await assistant.reply("buy 3", "ann", request_id="one")

    assert len(shop.sold) == 1


async def test_a_call_that_never_left_is_known_not_to_be_done(shop) -> None:
    shop.fails = [ServiceUnreachable("no way", sent=False)]
    async with assistant_of(shop) as assistant:
        reply = await assistant.reply("buy 3", "ann")

        assert reply.text == "Sorry, I have no answer to that."
        assert await states(assistant) == ["not_done"]


async def test_a_refusal_is_known_not_to_be_done(shop) -> None:
    shop.fails = [ServiceRefused("no", status=422)]
    async with assistant_of(shop) as assistant:
        await assistant.reply("buy 3", "ann")

        assert await states(assistant) == ["not_done"]


async def test_a_reply_says_honestly_that_the_outcome_is_not_known(shop) -> None:
    shop.fails = [ServiceUnreachable("broke off")]
    async with assistant_of(shop, on_unknown="ask_operator") as assistant:
        reply = await assistant.reply("buy 3", "ann")

        assert reply.text.startswith("I do not know yet whether this was done: “buy 3”.")
        assert await states(assistant) == ["unknown"]


async def test_the_agent_is_asked_for_the_outcome_of_an_effect(shop) -> None:
    async def sell_and_break(request: dict[str, Any]) -> None:
        await shop.sell(request)
        raise ServiceUnreachable("broke off")

    skill = Skill(sell_and_break, name="shop", acts=True, reconcile=shop.status)
    async with Assistant(Pipeline(skills=[skill]), store="memory:") as assistant:
        reply = await assistant.reply("buy 3", "ann")

        assert reply.text == "This is done: “buy 3”."
        assert await states(assistant) == ["done"]
    assert len(shop.sold) == 1


async def test_an_agent_that_keeps_the_promise_is_simply_asked_again(shop) -> None:
    shop.fails = [ServiceUnreachable("broke off")]
    async with assistant_of(shop, idempotent=True) as assistant:
        reply = await assistant.reply("buy 3", "ann")

    assert reply.text == "Sold."
    assert len(shop.sold) == 1


async def test_a_person_is_told_of_an_outcome_that_comes_after_the_reply(shop) -> None:
    shop.open.clear()
    async with assistant_of(shop, timeout=0.2) as assistant:
        await assistant.reply("buy 3", "ann")
        shop.open.set()

        said = await told(assistant, 3)

        assert said[1:] == ["This is done: “buy 3”.", "Sold."]
    assert len(shop.sold) == 1


async def test_an_operator_states_the_outcome_of_an_effect_and_the_person_is_told(shop) -> None:
    shop.fails = [ServiceUnreachable("broke off")]
    async with assistant_of(shop, on_unknown="ask_operator") as assistant:
        await assistant.reply("buy 3", "ann")
        (stored,) = await assistant.effects.ledger.list_effects()

        await assistant.effects.decide(stored.record.key, "done", "olga")

        assert (await told(assistant, 2))[1] == "This is done: “buy 3”."
    assert shop.sold == []


async def test_a_person_is_asked_for_an_outcome_unknown_to_all_others(shop, monkeypatch) -> None:
    monkeypatch.setattr(acting_connector, "GRACE_SECONDS", 0.0)
    shop.fails = [ServiceUnreachable("broke off")]
    async with assistant_of(shop, timeout=1.0) as assistant:
        await assistant.reply("buy 3", "ann")
        await told(assistant, 2)

        reply = await assistant.reply("It was not done: do it now", "ann")

        assert reply.text == "Sold."
        assert await states(assistant) == ["done"]
    assert len(shop.sold) == 1


@pytest.mark.parametrize(
    ("said", "reply", "sold"),
    [
        (["yes"], "Sold.", [{"amount": 3, "what": "apples"}]),
        (["Approve"], "Sold.", [{"amount": 3, "what": "apples"}]),
        (["no"], "This was not done, as it was refused: “Buy apples”.", []),
        (["never mind"], "This was not done, as it was refused: “Buy apples”.", []),
        (["edit", "amount", "5", "yes"], "Sold.", [{"amount": 5, "what": "apples"}]),
        (["edit", "what", "pears", "yes"], "Sold.", [{"amount": 3, "what": "pears"}]),
    ],
)
async def test_a_person_approves_edits_or_refuses(shop, said, reply, sold) -> None:
    async with assistant_of(shop, approve="person", preview=shop.preview) as assistant:
        asked = await assistant.reply("buy 3", "ann")
        for words in said:
            last = await assistant.reply(words, "ann")

    assert asked.text == "Shall I do this? “Buy apples”\namount: 3\nwhat: apples"
    assert last.text == reply
    assert shop.fields == sold


async def test_an_effect_that_would_do_nothing_is_not_asked_about(shop) -> None:
    async with assistant_of(shop, approve="person", preview=shop.preview) as assistant:
        reply = await assistant.reply("hello", "ann")

        assert await states(assistant) == []
    assert reply.text == "Sorry, I have no answer to that."


@pytest.mark.parametrize(
    "said", ["hello", "Thanks a lot!", "guten Morgen", "merci", "never mind", "how are you?"]
)
async def test_courtesy_and_questions_are_not_put_before_people_to_approve(shop, said) -> None:
    async with assistant_of(shop, approve="person") as assistant:
        await assistant.reply(said, "ann")

        assert await states(assistant) == []


@pytest.mark.parametrize("said", ["buy 3", "can you buy 3 apples?", "3 apples for Ann"])
async def test_a_possible_wish_is_put_before_people_to_approve(shop, said) -> None:
    async with assistant_of(shop, approve="person") as assistant:
        reply = await assistant.reply(said, "ann")

    assert reply.text == f"Shall I do this? “{said}”"


async def test_a_question_that_a_selector_takes_for_a_wish_is_put_before_people(shop) -> None:
    skill = Skill(shop.sell, name="shop", acts=True, approve="person")
    selector = SkillSelector(lambda request: ["shop"], name="selector")
    pipeline = Pipeline(skill_selector=selector, skills=[skill])
    async with Assistant(pipeline, store="memory:") as assistant:
        reply = await assistant.reply("what about three apples?", "ann")

    assert reply.text == "Shall I do this? “what about three apples?”"


def chat_of(confidence: float) -> Skill:
    return Skill(lambda request: {"text": "Well.", "confidence": confidence}, name="chat")


@pytest.mark.parametrize(
    ("options", "confidence"),
    [
        ({"approve": "person"}, 0.6),
        ({"approve": "person", "preview": True}, 0.95),
        ({"approve": "operator", "preview": True}, 0.95),
    ],
)
async def test_a_question_that_nobody_sees_leaves_nothing(shop, options, confidence) -> None:
    if "preview" in options:
        options = {**options, "preview": shop.preview}
    skill = Skill(shop.sell, name="shop", acts=True, **options)
    pipeline = Pipeline(skills=[skill, chat_of(confidence)])
    async with Assistant(pipeline, store="memory:") as assistant:
        reply = await assistant.reply("buy 3", "ann")

        assert await states(assistant) == []
    assert reply.text == "Well."


async def test_a_done_effect_is_told_where_another_skill_has_the_reply(shop) -> None:
    skill = Skill(shop.sell, name="shop", acts=True)
    async with Assistant(Pipeline(skills=[skill, chat_of(0.95)]), store="memory:") as assistant:
        await assistant.reply("buy 3", "ann")

        said = await told(assistant, 3)

    assert said == ["Well.", "shop has dealt with this too: “buy 3”.", "Sold."]


@pytest.mark.parametrize(
    ("answer", "left"),
    [
        ([], []),
        ([{"text": "Which?", "confidence": 0.9, "acted": False}], []),
        ([{"text": "No such thing.", "confidence": 0.2}], ["done"]),
    ],
)
async def test_an_effect_that_did_nothing_is_not_told(answer, left) -> None:
    skill = Skill(lambda request: answer, name="shop", acts=True)
    async with Assistant(Pipeline(skills=[skill, chat_of(0.95)]), store="memory:") as assistant:
        await assistant.reply("hello", "ann")

        assert await states(assistant) == left
        assert await assistant.effects.ledger.list_effects() == []


async def test_an_approved_effect_that_did_nothing_is_said_so(shop) -> None:
    options = {"approve": "person", "preview": shop.preview}
    skill = Skill(lambda request: [], name="shop", acts=True, **options)
    async with Assistant(Pipeline(skills=[skill]), store="memory:") as assistant:
        await assistant.reply("buy 3", "ann")
        reply = await assistant.reply("yes", "ann")

    assert reply.text == "This was not done: “Buy apples” (it did nothing)."


async def test_a_preview_keeps_a_skill_from_acting_that_needs_no_approval(shop) -> None:
    async with assistant_of(shop, preview=shop.preview) as assistant:
        replies = [(await assistant.reply(words, "ann")).text for words in ("hello", "buy 3")]

    assert replies == ["Sorry, I have no answer to that.", "Sold."]
    assert len(shop.sold) == 1


@pytest.mark.parametrize(
    ("said", "asked", "answer", "reply"),
    [
        ("bitte buy 3", "Soll ich das tun? „Buy apples“", "ja", "Sold."),
        ("bitte buy 3", "Soll ich das tun? „Buy apples“", "ablehnen", "Das ist nicht getan,"),
        ("merci buy 3", "Dois-je le faire ? « Buy apples »", "oui", "Sold."),
        ("merci buy 3", "Dois-je le faire ? « Buy apples »", "non", "Ce n'est pas fait,"),
        ("gracias buy 3", "¿Lo hago? «Buy apples»", "sí", "Sold."),
        ("gracias buy 3", "¿Lo hago? «Buy apples»", "rechazar", "No se hizo,"),
        ("buy 3", "Shall I do this? “Buy apples”", "nein", "Das ist nicht getan,"),
        ("buy 3", "Shall I do this? “Buy apples”", "ja", "Sold."),
    ],
)
async def test_people_are_asked_and_told_in_their_language(
    shop, said, asked, answer, reply
) -> None:
    async with assistant_of(shop, approve="person", preview=shop.preview) as assistant:
        first = await assistant.reply(said, "ann")
        last = await assistant.reply(answer, "ann")

    assert first.text.partition("\n")[0] == asked
    assert last.text.startswith(reply)


async def test_the_language_of_a_person_is_that_of_their_earlier_words(shop) -> None:
    async with assistant_of(shop, approve="person", preview=shop.preview) as assistant:
        await assistant.reply("Guten Morgen, wie geht es dir?", "ann")
        reply = await assistant.reply("buy 3", "ann")

    assert reply.text.startswith("Soll ich das tun?")


async def test_a_rule_approves_small_things(shop) -> None:
    options = {"approve": "rule", "rule": "amount < 20", "preview": shop.preview}
    async with assistant_of(shop, **options) as assistant:
        small = await assistant.reply("buy 19", "ann")
        large = await assistant.reply("buy 20", "ann")
        (stored,) = await assistant.effects.ledger.list_effects(closed=True)

    assert small.text == "Sold."
    assert large.text.startswith("Shall I do this?")
    assert stored.record.approved_by == "the rule amount < 20"


async def test_an_operator_approves_and_the_person_is_told(shop) -> None:
    async with assistant_of(shop, approve="operator", preview=shop.preview) as assistant:
        reply = await assistant.reply("buy 3", "ann")
        (stored,) = await assistant.effects.ledger.list_effects()

        await assistant.effects.decide(stored.record.key, "approve", "olga", {"amount": 2})

        assert (await told(assistant, 3))[1:] == ["This is done: “Buy apples”.", "Sold."]
    assert reply.text == "“Buy apples” needs an approval first. I will tell you."
    assert shop.fields == [{"amount": 2, "what": "apples"}]


@pytest.mark.parametrize("options", [{"preview": True}, {}])
async def test_an_operator_cannot_invent_fields(shop, options) -> None:
    if options:
        options = {"preview": shop.preview}
    async with assistant_of(shop, approve="operator", **options) as assistant:
        await assistant.reply("buy 3", "ann")
        (stored,) = await assistant.effects.ledger.list_effects()

        with pytest.raises(BadInput, match="no field discount"):
            await assistant.effects.decide(stored.record.key, "approve", "olga", {"discount": 2})

        assert await states(assistant) == ["waiting"]


async def test_an_approval_lasts_over_a_restart(shop, tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'dialogs.db'}"
    options = {"approve": "person", "preview": shop.preview}
    async with assistant_of(shop, store, **options) as assistant:
        await assistant.reply("buy 3", "ann")
    async with assistant_of(shop, store, **options) as assistant:
        reply = await assistant.reply("yes", "ann")
        (stored,) = await assistant.effects.ledger.list_effects(closed=True)

    assert reply.text == "Sold."
    assert stored.record.approved_by == "ann"


async def test_an_approval_that_nobody_gives_in_time_is_over(shop) -> None:
    async with assistant_of(shop, approve="person", preview=shop.preview) as assistant:
        await assistant.reply("buy 3", "ann")
        assistant.effects.book.clock = lambda: 1e10
        reply = await assistant.reply("yes", "ann")

    assert reply.text == "This was not done, as nobody approved it in time: “Buy apples”."
    assert shop.sold == []


@pytest.mark.parametrize(
    ("options", "reply", "sold"),
    [
        ({}, "I do not know yet", 1),
        ({"on_unknown": "give_up"}, "I do not know yet", 1),
        ({"reconcile": "status"}, "This is done", 1),
        ({"idempotent": True}, "Sold.", 2),
    ],
)
async def test_a_turn_that_is_run_again_starts_no_effect_again(
    shop, tmp_path: Path, options, reply, sold
) -> None:
    if "reconcile" in options:
        options = {"reconcile": shop.status}
    store = SqliteStore(tmp_path / "dialogs.db")
    first = assistant_of(shop, store, **options)
    await first.start()
    killed = asyncio.Event()

    async def die(*_: object) -> None:
        killed.set()
        await asyncio.Event().wait()

    first.effects.book.finish = die
    asking = asyncio.ensure_future(first.reply("buy 3", "ann", request_id="one"))
    await killed.wait()
    await store.aclose()

    async with assistant_of(shop, SqliteStore(tmp_path / "dialogs.db"), **options) as second:
        again = await second.reply("buy 3", "ann", request_id="one")
    asking.cancel()
    await first.effects.book.calls.aclose()

    assert again.text.startswith(reply)
    assert len(shop.sold) == sold
    assert len(set(shop.sold)) == 1


async def test_deleting_a_person_deletes_their_ledger(shop) -> None:
    async with assistant_of(shop, approve="person", preview=shop.preview) as assistant:
        await assistant.reply("buy 3", "ann")
        await assistant.reply("yes", "ann")
        await assistant.reply("buy 4", "ann")

        await assistant.archive.delete_person("ann")

        assert await assistant.store.records("ann", OPEN) == {}
        assert await assistant.store.records("ann", CLOSED) == {}


async def test_deleting_a_conversation_deletes_its_effects(shop) -> None:
    async with assistant_of(shop) as assistant:
        await assistant.reply("buy 3", "ann")

        await assistant.archive.delete("ann", "main")

        assert await assistant.store.records("ann", CLOSED) == {}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"acts": False, "idempotent": True}, "say acts: true"),
        ({"acts": False, "approve": "person"}, "say acts: true"),
        ({"batch_size": 2}, "one thing at a time"),
        ({"shadow": True}, "cannot act"),
        ({"approve": "rule"}, "expected a rule"),
        ({"rule": "amount < 20"}, "approve: person"),
        ({"approve": "rule", "rule": "amount +"}, "expected a comparison of fields"),
    ],
)
def test_settings_that_make_no_sense_are_refused(shop, options, what) -> None:
    with pytest.raises(ConfigError, match=what):
        assistant_of(shop, **options) if "acts" not in options else Assistant(
            Pipeline(skills=[Skill(shop.sell, name="shop", **options)]), store="memory:"
        )


async def test_a_function_may_have_an_argument_for_the_key() -> None:
    keys: list[str] = []

    def book(request: dict[str, Any], idempotency_key: str) -> dict[str, Any]:
        keys.append(idempotency_key)
        return {"text": "Booked.", "confidence": 0.9}

    skill = Skill(book, name="book", acts=True)
    async with Assistant(Pipeline(skills=[skill]), store="memory:") as assistant:
        reply = await assistant.reply("a table", "ann")
        (stored,) = await assistant.effects.ledger.list_effects(closed=True)

    assert reply.text == "Booked."
    assert keys == [stored.record.key]


WAYS = {
    "process": PythonFunction(
        function="tests.plugins.effects.integration.booking:book", process=True
    ),
    "command": Command(run=["{python}", booking.__file__]),
}


@pytest.mark.parametrize("way", WAYS)
async def test_programs_get_the_key_with_the_request(way: str) -> None:
    skill = Skill(WAYS[way], name="book", acts=True, timeout=60.0)
    async with Assistant(Pipeline(skills=[skill]), store="memory:", deadline=90.0) as assistant:
        reply = await assistant.reply("a table", "ann")
        (stored,) = await assistant.effects.ledger.list_effects(closed=True)

    assert reply.text == stored.record.key
