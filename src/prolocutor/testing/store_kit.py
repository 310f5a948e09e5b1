"""StoreKit: the tests that every store passes, to be inherited.

    class TestMyStore(DurableStoreKit):  # or StoreKit, if it forgets when it is closed
        @pytest.fixture
        def make_store(self, tmp_path):
            return lambda: MyStore(tmp_path / "dialogs")

Each call of `make_store()` within one test gives a store that is not open yet, on the same data. It
needs pytest and pytest-asyncio.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
import pytest_asyncio

from prolocutor.contracts.store import Answered, Begun, Finished, Store
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.utterances import HumanUtterance
from prolocutor.errors import Conflict, NotFound, StoreError
from prolocutor.testing.sample_turns import a_beginning, an_ending, begin, talk

MakeStore = Callable[[], Store]

YESTERDAY = "2024-02-28 12:00:00.000000"
TODAY = "2024-02-29 12:00:00.000000"
TOMORROW = "2024-03-01 12:00:00.000000"


class StoreKit:
    """What is true of every store. Subclass it as `Test...` with a `make_store` fixture."""

    pytestmark = pytest.mark.asyncio

    @pytest.fixture
    def make_store(self) -> MakeStore:
        """Give a function that makes a store that is not open yet."""
        raise NotImplementedError

    @pytest_asyncio.fixture
    async def store(self, make_store: MakeStore) -> AsyncIterator[Store]:
        """Give an open store."""
        store = make_store()
        await store.open()
        yield store
        await store.aclose()

    # Turns

    async def test_a_new_person_starts_with_an_empty_dialog(self, store: Store) -> None:
        beginning = a_beginning("ann", "hi", new_dialog_attributes=b'{"a":1}')

        begun = await store.begin(beginning)

        assert isinstance(begun, Begun)
        assert (begun.dialog_id, begun.id) == (beginning.new_dialog_id, beginning.new_id)
        assert (begun.window, begun.length, begun.feed, begun.attempt) == ([], 0, 1, 1)
        assert (begun.date_start, begun.rating) == (beginning.date_time, b"null")
        assert plain.decode(begun.dialog_attributes) == {"a": 1}
        human, bot = plain.decode(begun.human.state), plain.decode(begun.bot.state)
        assert (human["id"], human["user_external_id"]) == (beginning.new_human_id, "ann")
        assert (bot["id"], bot["user_type"]) == (beginning.new_bot_id, "bot")

    async def test_the_next_turn_sees_what_was_said_in_agent_state(self, store: Store) -> None:
        (first,) = await talk(store, "ann", "hi", annotations={"ner": ["é"]}, extra={"x": None})

        second = await begin(store, "ann", "and?")

        ending = an_ending(first, "re: hi", annotations={"ner": ["é"]}, extra={"x": None})
        question, answer = (plain.decode(one.body) for one in ending.utterances)
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

        begun = await begin(store, "ann", "d", window=window)

        assert _texts(begun) == seen
        assert begun.length == 6

    async def test_a_window_can_grow_and_shrink_from_turn_to_turn(self, store: Store) -> None:
        await talk(store, "ann", *(str(n) for n in range(40)))
        seen = []

        for window in (2, 60, 4, None):
            begun = await begin(store, "ann", "x", window=window)
            await store.finish(an_ending(begun))
            seen.append(len(begun.window))

        assert seen == [2, 60, 4, 86]

    async def test_hypotheses_are_in_a_window_only_when_asked_for(self, store: Store) -> None:
        for text in ("a", "b"):
            begun = await begin(store, "ann", text)
            said = [{"skill_name": "s", "text": text, "confidence": 0}]
            await store.finish(an_ending(begun, hypotheses=said))

        without = await begin(store, "ann", "c")
        await store.finish(an_ending(without))
        with_one = await begin(store, "ann", "d", window=None, hypotheses=2)

        assert _hypotheses(without) == [[], []]
        assert _hypotheses(with_one) == [
            [],
            [{"skill_name": "s", "text": "b", "confidence": 0}],
            [],
        ]

    async def test_a_changed_profile_shows_from_the_same_utterance_on(self, store: Store) -> None:
        begun = await begin(store, "ann", "i am ann")
        await store.finish(an_ending(begun, human_attributes={"n": 1}, bot_attributes={"m": 2}))

        after = await begin(store, "ann")

        assert plain.decode(after.human.state)["attributes"] == {"n": 1}
        assert plain.decode(after.bot.state)["attributes"] == {"m": 2}
        users = [plain.decode(said.state)["user"] for said in after.window]
        assert [user["attributes"] for user in users] == [{"n": 1}, {"m": 2}]
        assert (after.human.number, after.bot.number) == (
            begun.human.number + 1,
            begun.bot.number + 1,
        )

    async def test_each_utterance_keeps_the_profile_of_its_time(self, store: Store) -> None:
        turns = []
        for n in range(40):
            begun = await begin(store, "ann", str(n))
            changed = {"n": n} if n % 3 else None
            await store.finish(an_ending(begun, human_attributes=changed, bot_attributes={"n": n}))
            turns.append(begun)

        dialog = await _dialog(store, turns[0].dialog_id)

        seen = [one.user.attributes.get("n") for one in dialog.utterances]
        assert seen[1::2] == list(range(40))
        assert seen[::2] == [None, *(n if n % 3 else n - 1 for n in range(1, 40))]
        assert dialog.human.attributes == {"n": 38}
        assert dialog.bot.attributes == {"n": 39}

    async def test_a_person_stays_the_same_over_dialogs_and_each_has_its_own_bot(
        self, store: Store
    ) -> None:
        await talk(store, "ann", "hi", human_attributes={"n": 1}, bot_attributes={"m": 1})

        other = await begin(store, "ann", "hi", dialog_name="other")

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
        assert (await _dialog(store, first.dialog_id)).active is False
        assert await store.active_dialog_id("ann") == second.dialog_id

    async def test_a_turn_can_end_after_its_dialog_was_closed(self, store: Store) -> None:
        await talk(store, "ann", "hi")
        begun = await begin(store, "ann", "bye")

        await store.close_dialog("ann", "main")
        await store.finish(an_ending(begun, "farewell", bot_attributes={"m": 1}))

        dialog = await _dialog(store, begun.dialog_id)
        assert [one.text for one in dialog.utterances] == ["hi", "re: hi", "bye", "farewell"]

    async def test_a_turn_ends_only_once(self, store: Store) -> None:
        begun = await begin(store)
        await store.finish(an_ending(begun, "once"))

        with pytest.raises(StoreError):
            await store.finish(an_ending(begun, "twice", human_attributes={"n": 1}))

        after = await begin(store)
        assert _texts(after) == ["hi", "once"]
        assert plain.decode(after.human.state)["attributes"] == {}
        assert (after.length, after.feed) == (2, 3)

    async def test_a_turn_that_adds_nothing_ends_only_once(self, store: Store) -> None:
        begun = await begin(store)
        nothing = Finished(
            begun=begun, utterances=[], human=None, bot=None, messages=[], outcome=b"{}"
        )
        await store.finish(nothing)

        with pytest.raises(StoreError):
            await store.finish(nothing)

        assert await store.feed_end("ann") == begun.feed + 1

    async def test_a_profile_version_that_nobody_made_is_refused(self, store: Store) -> None:
        begun = await begin(store)
        ending = an_ending(begun, human_attributes={"n": 1})
        ending = Finished(
            begun=begun,
            utterances=ending.utterances,
            human=None,
            bot=None,
            messages=[],
            outcome=b"{}",
        )

        with pytest.raises(StoreError):
            await store.finish(ending)

        assert [one.turn_id for one in await store.unfinished()] == [begun.beginning.turn_id]
        await store.finish(an_ending(begun))

    async def test_many_people_at_once_do_not_get_in_each_others_way(self, store: Store) -> None:
        people = [f"person {n}" for n in range(40)]
        texts = [str(n) for n in range(12)]

        await asyncio.gather(
            *(talk(store, user, *texts, human_attributes={"is": user}) for user in people)
        )

        ends = await asyncio.gather(*(begin(store, user, window=None) for user in people))
        said = [text for n in texts for text in (n, f"re: {n}")]
        assert [_texts(begun) for begun in ends] == [said] * 40
        owners = [plain.decode(begun.human.state)["attributes"]["is"] for begun in ends]
        assert owners == people
        assert [begun.feed for begun in ends] == [25] * 40

    async def test_order_is_by_position_when_the_clock_goes_backwards(self, store: Store) -> None:
        for text, at in (("a", TOMORROW), ("b", TODAY), ("c", YESTERDAY)):
            begun = await begin(store, "ann", text, date_time=at)
            await store.finish(an_ending(begun, f"re: {text}", at=at))

        (dialog_id,) = await store.dialog_ids()
        dialog = await _dialog(store, dialog_id)

        assert [one.text for one in dialog.utterances] == ["a", "re: a", "b", "re: b", "c", "re: c"]
        assert [row.n for row in await store.feed("ann", 0)] == [1, 2, 3, 4, 5, 6]
        assert (dialog.date_start, dialog.date_finish) == (TOMORROW, YESTERDAY)

    # The journal

    async def test_a_begun_turn_stands_in_the_journal_until_it_is_finished(
        self, store: Store
    ) -> None:
        begun = await begin(store, "ann", "hi", started=12.5)

        (one,) = await store.unfinished()
        await store.finish(an_ending(begun))

        assert (one.turn_id, one.user, one.started, one.attempts) == (
            begun.beginning.turn_id,
            "ann",
            12.5,
            1,
        )
        assert await store.unfinished() == []

    async def test_a_resumed_turn_starts_from_the_same_things(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 1}]
        await talk(store, "ann", "a", "b", human_attributes={"n": 1}, hypotheses=said)
        begun = await begin(store, "ann", "c", start=b'{"x":[1]}', attributes=b'{"y":2}')

        resumed = await store.resume(begun.beginning.turn_id, 2, 1)

        assert resumed.beginning == begun.beginning
        assert resumed.attempt == 2
        assert (resumed.feed, resumed.length) == (begun.feed, begun.length)
        assert (resumed.human, resumed.bot) == (begun.human, begun.bot)
        assert _texts(resumed) == ["b", "re: b"]
        assert _hypotheses(resumed) == [said]
        assert [one.attempts for one in await store.unfinished()] == [2]

    async def test_a_resumed_turn_can_be_finished(self, store: Store) -> None:
        begun = await begin(store, "ann", "a", request_key="k", request_hash=b"h")
        resumed = await store.resume(begun.beginning.turn_id, 4, 0)

        await store.finish(an_ending(resumed, "late"))

        assert _texts(await begin(store, "ann", "b")) == ["a", "late"]
        answered = await store.begin(a_beginning("ann", request_key="k", request_hash=b"h"))
        assert isinstance(answered, Answered)
        assert answered.reply == b'{"response":"late"}'

    async def test_a_turn_that_is_not_open_cannot_be_resumed(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.resume("nothing", 4, 0)

    # Clients that ask again

    async def test_a_request_that_comes_again_gets_the_stored_outcome(self, store: Store) -> None:
        begun = await begin(store, "ann", "hi", request_key="k", request_hash=b"h")
        await store.finish(an_ending(begun, "hello"))

        again = await store.begin(a_beginning("ann", "hi", request_key="k", request_hash=b"h"))

        assert again == Answered(turn_id=begun.beginning.turn_id, reply=b'{"response":"hello"}')
        assert await store.feed_end("ann") == 2

    async def test_a_request_whose_turn_is_open_is_told_so(self, store: Store) -> None:
        begun = await begin(store, "ann", "hi", request_key="k", request_hash=b"h")

        again = await store.begin(a_beginning("ann", "hi", request_key="k", request_hash=b"h"))

        assert again == Answered(turn_id=begun.beginning.turn_id, reply=None)

    @pytest.mark.parametrize("finished", [False, True])
    async def test_a_request_key_used_for_something_else_is_a_conflict(
        self, store: Store, finished: bool
    ) -> None:
        begun = await begin(store, "ann", "hi", request_key="k", request_hash=b"h")
        if finished:
            await store.finish(an_ending(begun))

        with pytest.raises(Conflict):
            await store.begin(a_beginning("ann", "bye", request_key="k", request_hash=b"g"))

        assert await store.feed_end("ann") == begun.feed + finished

    async def test_a_request_key_is_the_persons_own(self, store: Store) -> None:
        await begin(store, "ann", "hi", request_key="k", request_hash=b"h")

        await begin(store, "bob", "hi", request_key="k", request_hash=b"other")

    async def test_a_request_key_is_forgotten_after_a_day(self, store: Store) -> None:
        first = await begin(store, "ann", started=1.0, request_key="k", request_hash=b"h")
        await store.finish(an_ending(first))

        later = {"started": 86_402.0, "request_key": "k", "request_hash": b"g"}
        second = await begin(store, "ann", "new", **later)
        await store.finish(an_ending(second, "newer"))

        again = await store.begin(a_beginning("ann", "new", **later))
        assert again == Answered(turn_id=second.beginning.turn_id, reply=b'{"response":"newer"}')

    # The feed

    async def test_the_feed_has_all_that_was_said_in_order(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a")
        await talk(store, "bob", "z")
        await begin(store, "ann", "b")

        rows = await store.feed("ann", 0)

        assert [(row.n, _words(row.message)) for row in rows] == [(1, "a"), (2, "re: a"), (3, "b")]
        assert {row.dialog_id for row in rows} == {turn.dialog_id}
        assert await store.feed_end("ann") == 3

    async def test_the_feed_goes_on_from_where_one_was(self, store: Store) -> None:
        await talk(store, "ann", "a", "b", "c")

        rows = await store.feed("ann", 2, 3)

        assert [row.n for row in rows] == [3, 4, 5]
        assert await store.feed("ann", 6) == []

    async def test_an_unknown_person_has_an_empty_feed(self, store: Store) -> None:
        assert await store.feed("nobody", 0) == []
        assert await store.feed_end("nobody") == 0

    # Looking things up

    async def test_a_whole_dialog_is_found_by_both_its_ids(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 0.5, "x": [1]}]
        (turn, _) = await talk(store, "ann", "a", "b", hypotheses=said)

        dialog = await _dialog(store, turn.dialog_id)

        assert agent_state.encode_dialog(await _dialog(store, turn.id)) == (
            agent_state.encode_dialog(dialog)
        )
        assert (dialog.dialog_id, dialog.id, dialog.active) == (turn.dialog_id, turn.id, True)
        assert dialog.channel_type == "kit"
        assert dialog.human.user_external_id == "ann"
        assert [one.text for one in dialog.utterances] == ["a", "re: a", "b", "re: b"]
        assert dialog.date_finish == dialog.utterances[-1].date_time
        human = dialog.utterances[0]
        assert isinstance(human, HumanUtterance)
        assert [agent_state.hypothesis_to_state(one) for one in human.hypotheses] == [
            {**said[0], "annotations": {}}
        ]
        assert await store.dialog("nothing") is None

    async def test_a_dialog_without_a_reply_has_no_date_finish(self, store: Store) -> None:
        begun = await begin(store)

        dialog = await _dialog(store, begun.dialog_id)

        assert (dialog.utterances, dialog.date_finish) == ([], None)

    async def test_a_long_dialog_is_whole(self, store: Store) -> None:
        texts = [str(n) for n in range(260)]
        (turn, *_) = await talk(store, "ann", *texts)

        dialog = await _dialog(store, turn.dialog_id)

        assert [one.text for one in dialog.utterances[::2]] == texts

    async def test_the_owner_of_dialogs_and_utterances_is_known(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a")
        await talk(store, "bob", "z")

        said = turn.beginning
        owners = [
            await store.owner_of(id_)
            for id_ in (turn.dialog_id, turn.id, said.utt_id, said.bot_utt_id, "nothing")
        ]

        assert owners == ["ann", "ann", "ann", "ann", None]

    async def test_dialogs_are_found_by_what_is_asked_for(self, store: Store) -> None:
        a = await self._one_turn(store, "ann", YESTERDAY, "jokes")
        b = await self._one_turn(store, "bob", TODAY, "todo")
        c = await self._one_turn(store, "ann", TOMORROW, "jokes", dialog_name="other")
        await store.close_dialog("bob", "main")
        await store.rate_dialog(a, 5, None, TODAY)

        async def found(**filters: Any) -> list[str]:
            return await store.dialog_ids(**filters)

        assert await found() == [a, b, c]
        assert await found(user="ann") == [a, c]
        assert await found(user="nobody") == []
        assert await found(skill="jokes") == [a, c]
        assert await found(skill="nothing") == []
        assert await found(rating=5) == [a]
        assert await found(rating=4) == []
        assert await found(since=TODAY) == [b, c]
        assert await found(until=TODAY) == [a]
        assert await found(since=TODAY, until=TOMORROW) == [b]
        assert await found(active=False) == [b]
        assert await found(active=True, user="ann", skill="jokes", since=TODAY) == [c]

    async def test_dialogs_are_paged_through(self, store: Store) -> None:
        made = [await self._one_turn(store, f"u{n}", TODAY) for n in range(5)]

        assert await store.dialog_ids(limit=2) == made[:2]
        assert await store.dialog_ids(after=made[1], limit=2) == made[2:4]
        assert await store.dialog_ids(offset=3) == made[3:]
        assert await store.dialog_ids(after=made[4]) == []

    async def test_paging_goes_on_when_the_last_dialog_seen_was_deleted(self, store: Store) -> None:
        made = [await self._one_turn(store, f"u{n}", TODAY) for n in range(4)]
        await store.delete_person("u1")

        assert await store.dialog_ids(after=made[1]) == made[2:]

    async def test_export_gives_all_dialogs_oldest_first(self, store: Store) -> None:
        made = [await self._one_turn(store, user, TODAY) for user in ("ann", "bob", "carl")]

        everybody = [dialog async for dialog in store.export()]
        only_bob = [dialog async for dialog in store.export(user="bob")]

        assert [dialog.dialog_id for dialog in everybody] == made
        assert [len(dialog.utterances) for dialog in everybody] == [2, 2, 2]
        assert [dialog.dialog_id for dialog in only_bob] == [made[1]]

    # Ratings

    async def test_a_rated_dialog_shows_its_ratings(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a")

        await store.rate_dialog(turn.dialog_id, 3, "ann", TODAY)
        await store.rate_dialog(turn.id, {"stars": 5}, None, TOMORROW)

        dialog = await _dialog(store, turn.dialog_id)
        shown = [
            {"rating": 3, "user_external_id": "ann", "datetime": TODAY},
            {"rating": {"stars": 5}, "user_external_id": None, "datetime": TOMORROW},
        ]
        assert (dialog.rating, dialog.attributes) == ({"stars": 5}, {"ratings": shown})
        after = await begin(store, "ann", "b")
        assert plain.decode(after.rating) == {"stars": 5}
        assert plain.decode(after.dialog_attributes) == {"ratings": shown}
        assert await store.dialog_ids(rating={"stars": 5}) == [turn.dialog_id]

    async def test_a_rated_utterance_shows_its_ratings_in_windows_too(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 0.5}]
        (turn,) = await talk(store, "ann", "a", hypotheses=said)
        await store.rate_utterance(turn.beginning.utt_id, "good", "ann", TODAY)
        await store.rate_utterance(turn.beginning.bot_utt_id, 1, "ann", TODAY)
        await store.rate_utterance(turn.beginning.bot_utt_id, 2, "bob", TODAY)

        after = await begin(store, "ann", "b", hypotheses=1)
        dialog = await _dialog(store, turn.dialog_id)

        states = [plain.decode(said.state) for said in after.window]
        for attributes in (
            [s["attributes"] for s in states],
            [u.attributes for u in dialog.utterances],
        ):
            assert [[one["rating"] for one in a["ratings"]] for a in attributes] == [
                ["good"],
                [1, 2],
            ]
        assert states[0]["hypotheses"] == said
        assert dialog.rating is None
        assert await store.dialog_ids(rating="good") == [turn.dialog_id]

    async def test_what_is_unknown_cannot_be_rated(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.rate_dialog("nothing", 1, None, TODAY)
        with pytest.raises(NotFound):
            await store.rate_utterance("nothing", 1, None, TODAY)

    # Deleting

    async def test_a_deleted_person_leaves_nothing(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a", human_attributes={"n": 1})
        await store.rate_dialog(turn.dialog_id, 5, None, TODAY)
        await begin(store, "ann", "b", request_key="k", request_hash=b"h")
        kept = await self._one_turn(store, "bob", TODAY)

        assert await store.delete_person("ann") is True

        assert await store.delete_person("ann") is False
        assert await store.dialog_ids() == [kept]
        assert await store.dialog(turn.dialog_id) is None
        assert await store.owner_of(turn.beginning.utt_id) is None
        assert await store.feed("ann", 0) == []
        assert await store.unfinished() == []
        fresh = await begin(store, "ann", "c", request_key="k", request_hash=b"g")
        assert plain.decode(fresh.human.state)["attributes"] == {}
        assert fresh.window == []

    async def test_the_turn_of_a_deleted_person_cannot_be_finished(self, store: Store) -> None:
        begun = await begin(store, "ann", "a")
        await store.delete_person("ann")

        with pytest.raises(StoreError):
            await store.finish(an_ending(begun))
        await talk(store, "ann", "new")
        with pytest.raises(StoreError):
            await store.finish(an_ending(begun))

        assert _texts(await begin(store, "ann")) == ["new", "re: new"]

    async def test_feed_numbers_never_come_again(self, store: Store) -> None:
        await talk(store, "ann", "a", "b")
        end = await store.feed_end("ann")
        await store.delete_person("ann")

        begun = await begin(store, "ann", "c")

        assert begun.feed == end + 1

    async def test_old_dialogs_are_deleted_and_the_person_stays(self, store: Store) -> None:
        old = await self._one_turn(store, "ann", YESTERDAY, human_attributes={"n": 1})
        new = await self._one_turn(store, "ann", TOMORROW, dialog_name="other")
        end = await store.feed_end("ann")

        deleted = await store.delete_older(TODAY)

        assert deleted == 1
        assert await store.dialog_ids() == [new]
        assert await store.dialog(old) is None
        assert {row.dialog_id for row in await store.feed("ann", 0)} == {new}
        assert await store.feed_end("ann") == end
        begun = await begin(store, "ann", "again")
        assert (begun.length, begun.feed) == (0, end + 1)
        assert plain.decode(begun.human.state)["attributes"] == {"n": 1}

    async def test_feed_numbers_stay_when_the_last_rows_were_deleted(self, store: Store) -> None:
        await self._one_turn(store, "ann", YESTERDAY)

        await store.delete_older(TODAY)

        assert await store.feed_end("ann") == 2
        assert (await begin(store, "ann")).feed == 3

    async def test_a_dialog_with_an_open_turn_is_not_old(self, store: Store) -> None:
        await self._one_turn(store, "ann", YESTERDAY)
        begun = await begin(store, "ann", date_time=YESTERDAY)

        assert await store.delete_older(TODAY) == 0
        await store.finish(an_ending(begun, at=YESTERDAY))
        assert await store.delete_older(TODAY) == 1

    async def _one_turn(
        self, store: Store, user: str, at: str, skill: str = "s", *, dialog_name: str = "main",
        **ending: Any,
    ) -> str:  # fmt: skip
        begun = await begin(store, user, date_time=at, dialog_name=dialog_name)
        await store.finish(an_ending(begun, at=at, skill=skill, **ending))
        return begun.dialog_id


class DurableStoreKit(StoreKit):
    """What is true beside that of every store that remembers when it was closed."""

    async def test_everything_is_there_after_opening_it_again(self, make_store: MakeStore) -> None:
        async with _opened(make_store) as store:
            await talk(store, "ann", *"abcdefghi", human_attributes={"n": 1})
            for n in range(20):
                begun = await begin(store, "ann", str(n), request_key=str(n), request_hash=b"h")
                await store.finish(an_ending(begun, f"re: {n}", human_attributes={"n": n}))
            begun = (await talk(store, "ann", "last", bot_attributes={"n": 0}))[0]
            await store.rate_utterance(begun.beginning.utt_id, 1, None, TODAY)
            await store.rate_dialog(begun.dialog_id, 2, None, TODAY)
            before = await begin(store, "ann", "x", window=8)
            dialog = agent_state.encode_dialog(await _dialog(store, begun.dialog_id))
            feed = await store.feed("ann", 0)

        async with _opened(make_store) as store:
            same = agent_state.encode_dialog(await _dialog(store, begun.dialog_id))
            await store.finish(an_ending(await store.resume(before.beginning.turn_id, 0, 0)))
            again = await begin(store, "ann", "y", window=10)
            answered = await store.begin(a_beginning("ann", request_key="7", request_hash=b"h"))
            await store.finish(an_ending(again))
            rows = await store.feed("ann", 0)
            ids = await store.dialog_ids()

        assert _states(again)[:8] == _states(before)
        assert (again.human, again.bot) == (before.human, before.bot)
        assert (again.length, again.feed) == (before.length + 2, before.feed + 2)
        assert again.dialog_attributes == before.dialog_attributes
        assert isinstance(answered, Answered)
        assert answered.reply == b'{"response":"re: 7"}'
        assert rows[: len(feed)] == feed
        assert ids == [begun.dialog_id]
        assert same == dialog

    async def test_a_turn_cut_off_is_found_and_counted(self, make_store: MakeStore) -> None:
        async with _opened(make_store) as store:
            await talk(store, "ann", "a")
            begun = await begin(store, "ann", "b", request_key="k", request_hash=b"h")
        async with _opened(make_store) as store:
            await store.resume(begun.beginning.turn_id, 4, 0)

        async with _opened(make_store) as store:
            (one,) = await store.unfinished()
            again = await store.begin(a_beginning("ann", request_key="k", request_hash=b"h"))
            resumed = await store.resume(one.turn_id, 4, 0)
            await store.finish(an_ending(resumed, "at last"))
            rows = await store.feed("ann", 0)

        assert one.attempts == 2
        assert again == Answered(turn_id=one.turn_id, reply=None)
        assert (resumed.attempt, resumed.beginning) == (3, begun.beginning)
        assert [_words(row.message) for row in rows] == ["a", "re: a", "b", "at last"]

    async def test_feed_numbers_never_come_again_after_opening_it_again(
        self, make_store: MakeStore
    ) -> None:
        async with _opened(make_store) as store:
            await talk(store, "ann", "a", "b")
            await store.delete_person("ann")

        async with _opened(make_store) as store:
            begun = await begin(store, "bob")

        assert begun.feed == 5

    async def test_what_was_handed_over_is_kept_when_it_is_closed(
        self, make_store: MakeStore
    ) -> None:
        async with _opened(make_store) as store:
            turns = [asyncio.ensure_future(begin(store, f"u{n}")) for n in range(10)]
            await asyncio.sleep(0)
        await asyncio.gather(*turns)

        async with _opened(make_store) as store:
            assert len(await store.unfinished()) == 10
            begun = await asyncio.gather(
                *(store.resume(one.turn_id, 4, 0) for one in await store.unfinished())
            )
            await asyncio.gather(*(store.finish(an_ending(one)) for one in begun))
            assert len(await store.dialog_ids()) == 10

    async def test_a_closed_store_says_so(self, make_store: MakeStore) -> None:
        async with _opened(make_store) as store:
            pass

        with pytest.raises(StoreError):
            await begin(store)


@asynccontextmanager
async def _opened(make_store: MakeStore) -> AsyncIterator[Store]:
    store = make_store()
    await store.open()
    try:
        yield store
    finally:
        await store.aclose()


async def _dialog(store: Store, dialog_id: str) -> Dialog:
    dialog = await store.dialog(dialog_id)
    assert dialog is not None
    return dialog


def _states(begun: Begun) -> list[Any]:
    return [plain.decode(said.state) for said in begun.window]


def _texts(begun: Begun) -> list[str]:
    return [state["text"] for state in _states(begun)]


def _hypotheses(begun: Begun) -> list[Any]:
    return [state["hypotheses"] for state in _states(begun) if "hypotheses" in state]


def _words(message: bytes | None) -> str:
    decoded = {} if message is None else plain.decode(message)
    return str(decoded.get("text") or decoded.get("command"))
