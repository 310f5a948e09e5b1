"""Contract tests of `TurnStore`: windows, profiles, unfinished turns, repeated requests."""

from __future__ import annotations

import asyncio

import pytest
from msgspec import structs

from prolocutor.contracts.store import AnsweredRequest, OpenedTurn, Store, TurnClosing
from prolocutor.dialog import plain
from prolocutor.dialog.ids import TurnId
from prolocutor.errors import Conflict, NotFound, RoundChanged, StoreError
from prolocutor.testing.sample_turns import a_closing, a_new_dialog, an_opening, open_new_turn, talk
from prolocutor.testing.store_fixtures import (
    TODAY,
    TOMORROW,
    YESTERDAY,
    StoreFixtures,
    hypotheses,
    load_dialog,
    resumable,
    texts,
)


class TurnStoreKit(StoreFixtures):
    """The tests of `TurnStore`."""

    async def test_a_new_person_starts_with_an_empty_dialog(self, store: Store) -> None:
        opening = an_opening("ann", "hi", new_dialog=a_new_dialog(b'{"a":1}'))

        opened = await store.open_turn(opening)

        assert isinstance(opened, OpenedTurn)
        assert (opened.dialog_id, opened.id) == (
            opening.new_dialog.dialog_id,
            opening.new_dialog.id,
        )
        assert (opened.window, opened.length, opened.feed, opened.attempt) == ([], 0, 1, 1)
        assert (opened.date_start, opened.rating) == (opening.date_time, b"null")
        assert plain.decode(opened.dialog_attributes) == {"a": 1}
        human, bot = plain.decode(opened.human.state), plain.decode(opened.bot.state)
        assert (human["id"], human["user_external_id"]) == (opening.new_dialog.human_id, "ann")
        assert (bot["id"], bot["user_type"]) == (opening.new_dialog.bot_id, "bot")

    async def test_the_window_of_the_next_turn_is_agent_state(self, store: Store) -> None:
        (first,) = await talk(store, "ann", "hi", annotations={"ner": ["é"]}, extra={"x": None})

        second = await open_new_turn(store, "ann", "and?")

        ending = a_closing(first, "re: hi", annotations={"ner": ["é"]}, extra={"x": None})
        question, answer = (plain.decode(utterance.body) for utterance in ending.utterances)
        assert [plain.decode(said.state) for said in second.window] == [
            {**question, "user": plain.decode(first.human.state), "hypotheses": []},
            {
                **answer,
                "date_time": plain.decode(second.window[1].state)["date_time"],
                "user": plain.decode(first.bot.state),
            },
        ]
        assert [said.by_bot for said in second.window] == [False, True]
        assert (second.length, second.dialog_id, second.id) == (2, first.dialog_id, first.id)

    @pytest.mark.parametrize(
        ("window", "seen"),
        [
            (0, []),
            (1, ["re: c"]),
            (3, ["re: b", "c", "re: c"]),
            (9, ["a", "re: a", "b", "re: b", "c", "re: c"]),
            (None, ["a", "re: a", "b", "re: b", "c", "re: c"]),
        ],
    )
    async def test_a_window_shows_the_last_utterances(
        self, store: Store, window: int | None, seen: list[str]
    ) -> None:
        await talk(store, "ann", "a", "b", "c")

        opened = await open_new_turn(store, "ann", "d", window=window)

        assert texts(opened) == seen
        assert opened.length == 6

    async def test_words_that_were_read_under_another_round_are_not_stored(
        self, store: Store
    ) -> None:
        await talk(store, "ann", "a", round=b'{"left":2}')
        seen = []

        for user, dialog, round in (
            ("ann", "main", b"{}"), ("ann", "other", b'{"left":2}'), ("bob", "main", b'{"left":2}')
        ):  # fmt: skip
            opening = an_opening(user, "b", dialog_name=dialog, round=round)
            with pytest.raises(RoundChanged) as changed:
                await store.open_turn(opening)
            again = structs.replace(opening, round=changed.value.round)
            opened = await store.open_turn(again)
            assert isinstance(opened, OpenedTurn)
            await store.close_turn(a_closing(opened, "c"))
            seen.append((opened.round, opened.feed))

        assert seen == [(b'{"left":2}', 3), (b"{}", 5), (b"{}", 1)]

    async def test_a_window_can_grow_and_shrink_from_turn_to_turn(self, store: Store) -> None:
        await talk(store, "ann", *(str(n) for n in range(40)))
        seen = []

        for window in (2, 60, 4, None):
            opened = await open_new_turn(store, "ann", "x", window=window)
            await store.close_turn(a_closing(opened))
            seen.append(len(opened.window))

        assert seen == [2, 60, 4, 86]

    async def test_hypotheses_are_in_a_window_only_when_asked_for(self, store: Store) -> None:
        for text in ("a", "b"):
            opened = await open_new_turn(store, "ann", text)
            said = [{"skill_name": "s", "text": text, "confidence": 0}]
            await store.close_turn(a_closing(opened, hypotheses=said))

        without = await open_new_turn(store, "ann", "c")
        await store.close_turn(a_closing(without))
        with_one = await open_new_turn(store, "ann", "d", window=None, hypotheses=2)

        assert hypotheses(without) == [[], []]
        assert hypotheses(with_one) == [
            [],
            [{"skill_name": "s", "text": "b", "confidence": 0}],
            [],
        ]

    async def test_a_changed_profile_shows_from_the_same_utterance_on(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "i am ann")
        await store.close_turn(
            a_closing(opened, human_attributes={"n": 1}, bot_attributes={"m": 2})
        )

        after = await open_new_turn(store, "ann")

        assert plain.decode(after.human.state)["attributes"] == {"n": 1}
        assert plain.decode(after.bot.state)["attributes"] == {"m": 2}
        users = [plain.decode(said.state)["user"] for said in after.window]
        assert [user["attributes"] for user in users] == [{"n": 1}, {"m": 2}]
        assert (after.human.number, after.bot.number) == (
            opened.human.number + 1,
            opened.bot.number + 1,
        )

    async def test_each_utterance_keeps_the_profile_of_its_time(self, store: Store) -> None:
        turns = []
        for n in range(40):
            opened = await open_new_turn(store, "ann", str(n))
            changed = {"n": n} if n % 3 else None
            await store.close_turn(
                a_closing(opened, human_attributes=changed, bot_attributes={"n": n})
            )
            turns.append(opened)

        dialog = await load_dialog(store, turns[0].dialog_id)

        seen = [utterance.user.attributes.get("n") for utterance in dialog.utterances]
        assert seen[1::2] == list(range(40))
        assert seen[::2] == [None, *(n if n % 3 else n - 1 for n in range(1, 40))]
        assert dialog.human.attributes == {"n": 38}
        assert dialog.bot.attributes == {"n": 39}

    async def test_a_person_stays_the_same_over_dialogs_and_each_has_its_own_bot(
        self, store: Store
    ) -> None:
        await talk(store, "ann", "hi", human_attributes={"n": 1}, bot_attributes={"m": 1})

        other = await open_new_turn(store, "ann", "hi", dialog_name="other")

        assert plain.decode(other.human.state)["attributes"] == {"n": 1}
        assert plain.decode(other.bot.state)["attributes"] == {}
        assert (other.length, other.window) == (0, [])

    async def test_a_closed_dialog_is_followed_by_a_new_one(self, store: Store) -> None:
        (first,) = await talk(store, "ann", "hi")

        closed = await store.close_dialog("ann", "main")
        again = await store.close_dialog("ann", "main")
        nobody = await store.close_dialog("nobody", "main")
        (second,) = await talk(store, "ann", "hi")

        assert (closed, again, nobody) == (first.dialog_id, None, None)
        assert second.dialog_id != first.dialog_id
        assert second.length == 0
        assert (await load_dialog(store, first.dialog_id)).active is False
        assert await store.active_dialog_id("ann") == second.dialog_id

    async def test_a_turn_can_be_closed_after_its_dialog(self, store: Store) -> None:
        await talk(store, "ann", "hi")
        opened = await open_new_turn(store, "ann", "bye")

        await store.close_dialog("ann", "main")
        await store.close_turn(a_closing(opened, "farewell", bot_attributes={"m": 1}))

        dialog = await load_dialog(store, opened.dialog_id)
        assert [utterance.text for utterance in dialog.utterances] == [
            "hi",
            "re: hi",
            "bye",
            "farewell",
        ]

    async def test_a_turn_is_closed_only_once(self, store: Store) -> None:
        opened = await open_new_turn(store)
        await store.close_turn(a_closing(opened, "once"))

        with pytest.raises(StoreError):
            await store.close_turn(a_closing(opened, "twice", human_attributes={"n": 1}))

        after = await open_new_turn(store)
        assert texts(after) == ["hi", "once"]
        assert plain.decode(after.human.state)["attributes"] == {}
        assert (after.length, after.feed) == (2, 3)

    async def test_a_turn_that_adds_nothing_is_closed_only_once(self, store: Store) -> None:
        opened = await open_new_turn(store)
        nothing = TurnClosing(
            opened=opened, utterances=[], human=None, bot=None, messages=[], outcome=b"{}"
        )
        await store.close_turn(nothing)

        with pytest.raises(StoreError):
            await store.close_turn(nothing)

        assert await store.feed_end("ann") == opened.feed + 1

    async def test_an_unknown_profile_version_is_refused(self, store: Store) -> None:
        opened = await open_new_turn(store)
        ending = a_closing(opened, human_attributes={"n": 1})
        ending = TurnClosing(
            opened=opened,
            utterances=ending.utterances,
            human=None,
            bot=None,
            messages=[],
            outcome=b"{}",
        )

        with pytest.raises(StoreError):
            await store.close_turn(ending)

        assert [turn.turn_id for turn in await store.unfinished_turns()] == [opened.opening.turn_id]
        await store.close_turn(a_closing(opened))

    async def test_turns_of_many_persons_at_once_do_not_mix(self, store: Store) -> None:
        people = [f"person {n}" for n in range(40)]
        said_by_each = [str(n) for n in range(12)]

        await asyncio.gather(
            *(talk(store, user, *said_by_each, human_attributes={"is": user}) for user in people)
        )

        ends = await asyncio.gather(*(open_new_turn(store, user, window=None) for user in people))
        said = [text for n in said_by_each for text in (n, f"re: {n}")]
        assert [texts(opened) for opened in ends] == [said] * 40
        owners = [plain.decode(opened.human.state)["attributes"]["is"] for opened in ends]
        assert owners == people
        assert [opened.feed for opened in ends] == [25] * 40

    async def test_order_is_by_position_when_the_clock_goes_backwards(self, store: Store) -> None:
        for text, at in (("a", TOMORROW), ("b", TODAY), ("c", YESTERDAY)):
            opened = await open_new_turn(store, "ann", text, date_time=at)
            await store.close_turn(a_closing(opened, f"re: {text}", at=at))

        (dialog_id,) = await store.dialog_ids()
        dialog = await load_dialog(store, dialog_id)

        assert [utterance.text for utterance in dialog.utterances] == [
            "a",
            "re: a",
            "b",
            "re: b",
            "c",
            "re: c",
        ]
        assert [row.n for row in await store.feed("ann", 0)] == [1, 2, 3, 4, 5, 6]
        assert (dialog.date_start, dialog.date_finish) == (TOMORROW, YESTERDAY)

    # The journal

    async def test_an_opened_turn_is_unfinished_until_it_is_closed(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "hi", started=12.5)

        (one,) = await store.unfinished_turns()
        await store.close_turn(a_closing(opened))

        assert (one.turn_id, one.user, one.started, one.attempts) == (
            opened.opening.turn_id,
            "ann",
            12.5,
            1,
        )
        assert await store.unfinished_turns() == []

    async def test_a_resumed_turn_starts_from_the_same_things(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 1}]
        await talk(store, "ann", "a", "b", human_attributes={"n": 1}, hypotheses=said)
        opened = await open_new_turn(store, "ann", "c", start=b'{"x":[1]}', attributes=b'{"y":2}')

        resumed = await store.resume_turn(opened.opening.turn_id, 2, 1)

        assert resumable(resumed) == resumable(opened)
        assert resumed.attempt == 2
        assert (resumed.feed, resumed.length) == (opened.feed, opened.length)
        assert (resumed.human, resumed.bot) == (opened.human, opened.bot)
        assert texts(resumed) == ["b", "re: b"]
        assert hypotheses(resumed) == [said]
        assert [turn.attempts for turn in await store.unfinished_turns()] == [2]

    async def test_a_resumed_turn_can_be_closed(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "a", request_key="k", request_hash=b"h")
        resumed = await store.resume_turn(opened.opening.turn_id, 4, 0)

        await store.close_turn(a_closing(resumed, "late"))

        assert texts(await open_new_turn(store, "ann", "b")) == ["a", "late"]
        answered = await store.open_turn(an_opening("ann", request_key="k", request_hash=b"h"))
        assert isinstance(answered, AnsweredRequest)
        assert answered.reply == b'{"response":"late"}'

    async def test_a_turn_that_is_not_open_cannot_be_resumed(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.resume_turn(TurnId("nothing"), 4, 0)

    # Clients that ask again

    async def test_a_request_that_is_sent_again_gets_the_stored_outcome(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "hi", request_key="k", request_hash=b"h")
        await store.close_turn(a_closing(opened, "hello"))

        again = await store.open_turn(an_opening("ann", "hi", request_key="k", request_hash=b"h"))

        assert again == AnsweredRequest(
            turn_id=opened.opening.turn_id, reply=b'{"response":"hello"}'
        )
        assert await store.feed_end("ann") == 2

    async def test_a_request_whose_turn_is_open_has_no_outcome_yet(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "hi", request_key="k", request_hash=b"h")

        again = await store.open_turn(an_opening("ann", "hi", request_key="k", request_hash=b"h"))

        assert again == AnsweredRequest(turn_id=opened.opening.turn_id, reply=None)

    @pytest.mark.parametrize("finished", [False, True])
    async def test_a_request_key_used_for_another_request_is_a_conflict(
        self, store: Store, finished: bool
    ) -> None:
        opened = await open_new_turn(store, "ann", "hi", request_key="k", request_hash=b"h")
        if finished:
            await store.close_turn(a_closing(opened))

        with pytest.raises(Conflict):
            await store.open_turn(an_opening("ann", "bye", request_key="k", request_hash=b"g"))

        assert await store.feed_end("ann") == opened.feed + finished

    async def test_request_keys_of_different_persons_do_not_collide(self, store: Store) -> None:
        await open_new_turn(store, "ann", "hi", request_key="k", request_hash=b"h")

        await open_new_turn(store, "bob", "hi", request_key="k", request_hash=b"other")

    async def test_a_request_key_expires_after_a_day(self, store: Store) -> None:
        first = await open_new_turn(store, "ann", started=1.0, request_key="k", request_hash=b"h")
        await store.close_turn(a_closing(first))

        later = {"started": 86_402.0, "request_key": "k", "request_hash": b"g"}
        second = await open_new_turn(store, "ann", "new", **later)
        await store.close_turn(a_closing(second, "newer"))

        again = await store.open_turn(an_opening("ann", "new", **later))
        assert again == AnsweredRequest(
            turn_id=second.opening.turn_id, reply=b'{"response":"newer"}'
        )
