"""Contract tests of `ArchiveStore`: queries, ratings, deletions, exports."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from prolocutor.contracts.store import Amount, DialogQuery, NewRecord, RecordChange, Store
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import HumanUtterance
from prolocutor.dialog.ids import DialogId
from prolocutor.errors import NotFound, StoreError
from prolocutor.testing.sample_turns import a_closing, a_delivery, open_new_turn, talk
from prolocutor.testing.store_fixtures import (
    TODAY,
    TOMORROW,
    YESTERDAY,
    StoreFixtures,
    load_dialog,
    store_turn,
    texts,
    words,
)


class RecordStoreKit(StoreFixtures):
    """The tests of `RecordStore`."""

    async def test_records_are_found_by_person_and_kind(self, store: Store) -> None:
        await store.put_record("ann", "device", "a", b'{"n":1}')
        await store.put_record("ann", "program", "a", b'{"n":2}')
        await store.put_record("", "device", "a", b'{"n":3}')

        assert await store.records("ann", "device") == {"a": b'{"n":1}'}
        assert await store.records("ann", "program") == {"a": b'{"n":2}'}
        assert await store.records("", "device") == {"a": b'{"n":3}'}
        assert await store.records("bob", "device") == {}

    async def test_records_are_in_the_order_of_their_first_writing(self, store: Store) -> None:
        for key in ("b", "c", "a"):
            await store.put_record("ann", "device", key, b"1")
        await store.put_record("ann", "device", "b", b"2")

        found = await store.records("ann", "device")

        assert list(found.items()) == [("b", b"2"), ("c", b"1"), ("a", b"1")]

    async def test_a_record_can_be_deleted_once(self, store: Store) -> None:
        await store.put_record("ann", "device", "a", b"1")

        assert await store.delete_record("ann", "device", "a") is True
        assert await store.delete_record("ann", "device", "a") is False
        assert await store.delete_record("nobody", "device", "a") is False
        assert await store.records("ann", "device") == {}

    async def test_records_change_only_from_what_they_were(self, store: Store) -> None:
        new = RecordChange(user="ann", kind="door", key="a", before=None, after=b"1")
        moved = [
            RecordChange(user="ann", kind="door", key="a", before=b"1", after=None),
            RecordChange(user="ann", kind="closed", key="a", before=None, after=b"2"),
        ]
        late = structs.replace(new, before=b"0", after=b"3")

        assert await store.change_records([new]) is True
        assert await store.change_records([new]) is True
        assert await store.change_records([moved[1], late]) is False
        assert await store.record("ann", "closed", "a") is None
        assert await store.change_records(moved) is True
        assert await store.change_records([structs.replace(moved[1], after=b"4")]) is False
        assert await store.record("ann", "door", "a") is None
        assert await store.record("ann", "closed", "a") == b"2"

    async def test_amounts_are_added_all_or_none(self, store: Store) -> None:
        mine = Amount("spent", "ann", "agent", "2026-01-02", 3.0)
        total = Amount("all", "", "", "2026-01-02", 3.0, limit=5.0)

        assert await store.add_amounts([mine, total]) == [3.0, 3.0]
        assert await store.add_amounts([mine, total]) == 1
        assert await store.add_amounts([structs.replace(total, amount=2.0)]) == [5.0]
        assert await store.amounts("spent", "2026-01-01", "2026-01-03") == [mine]
        assert await store.amounts("spent", "2026-01-03", "2026-01-03") == []

    async def test_amounts_of_a_deleted_person_count_as_nobodys(self, store: Store) -> None:
        await talk(store, "ann", "a")
        for kind in ("spent", "person"):
            await store.add_amounts([Amount(kind, "ann", "agent", "2026-01-02", 3.0)])

        await store.delete_person("ann")

        kept = [Amount("spent", "", "agent", "2026-01-02", 3.0)]
        assert await store.amounts("spent", "2026", "2027") == kept
        assert await store.amounts("person", "2026", "2027") == []

    async def test_records_of_a_kind_are_found_after_a_number(self, store: Store) -> None:
        for user, key in (("ann", "a"), ("", "b"), ("bob", "c")):
            await store.put_record(user, "lesson", key, b"1")
        await store.put_record("ann", "device", "d", b"1")

        found = await store.records_since("lesson")

        assert [(one.user, one.key, one.body) for one in found] == [
            ("ann", "a", b"1"), ("", "b", b"1"), ("bob", "c", b"1"),
        ]  # fmt: skip
        assert await store.records_since("lesson", found[0].number) == found[1:]
        assert await store.records_since("lesson", limit=1) == found[2:]
        assert await store.record_count("lesson") == 3

    async def test_records_of_a_turn_are_deleted_with_its_conversation(self, store: Store) -> None:
        opened = await open_new_turn(store)
        closing = a_closing(opened, records=[NewRecord("lesson", "a", b"1")])
        await store.close_turn(closing)
        opening = opened.opening
        await store.put_record("bob", "lesson", "b", b"2", opening.bot_utt_id)
        await store.put_record("bob", "lesson", "c", b"3", "nothing")
        found = await store.records_since("lesson")
        await store.delete_conversation(opening.user, opening.dialog_name)

        assert [(one.user, one.key) for one in found] == [
            (opening.user, "a"), ("bob", "b"), ("bob", "c"),
        ]  # fmt: skip
        assert await store.records_since("lesson") == found[2:]

    async def test_ratings_of_replies_are_found_after_a_number(self, store: Store) -> None:
        opened = [await open_new_turn(store, user) for user in ("ann", "bob")]
        for one, rating in zip(opened, (1, "down"), strict=True):
            await store.close_turn(a_closing(one))
            await store.rate_utterance(one.opening.utt_id, 5, "ann", "")
            await store.rate_utterance(one.opening.bot_utt_id, rating, "ann", "")

        found = await store.ratings_since()

        assert [(one.user, one.question, one.rating) for one in found] == [
            ("ann", opened[0].opening.text, 1), ("bob", opened[1].opening.text, "down"),
        ]  # fmt: skip
        assert [one.utt_id for one in found] == [one.opening.bot_utt_id for one in opened]
        assert await store.ratings_since(found[0].number) == found[1:]
        count = await store.rating_count()
        await store.delete_person("ann")
        assert await store.ratings_since() == found[1:]
        assert await store.rating_count() < count

    async def test_records_are_deleted_with_their_person(self, store: Store) -> None:
        await store.put_record("ann", "device", "a", b"1")
        await store.put_record("", "device", "a", b"1")

        assert await store.delete_person("ann") is True
        assert await store.delete_person("ann") is False

        assert await store.records("ann", "device") == {}
        assert await store.records("", "device") == {"a": b"1"}


class ConversationStoreKit(StoreFixtures):
    """The tests of `ConversationStore`."""

    async def test_conversations_are_listed_by_name_the_latest_first(self, store: Store) -> None:
        await store_turn(store, "ann", YESTERDAY, dialog_name="one")
        await store_turn(store, "ann", TODAY, dialog_name="two")
        await store.close_dialog("ann", "one")
        await store_turn(store, "ann", TOMORROW, dialog_name="one")
        await store_turn(store, "bob", TODAY, dialog_name="his")

        found = await store.conversations("ann")

        assert [(one.name, one.n, one.at) for one in found] == [
            ("one", 6, TOMORROW),
            ("two", 4, TODAY),
        ]
        assert await store.conversations("ann", 6, 1) == found[1:]
        assert await store.conversations("ann", limit=1) == found[:1]
        assert await store.conversations("nobody") == []

    async def test_a_conversation_has_the_first_words_of_the_person(self, store: Store) -> None:
        await store.deliver(a_delivery("ann", "Welcome!"))
        assert [words(conversation.first) for conversation in await store.conversations("ann")] == [
            None
        ]
        await talk(store, "ann", "a", "b")
        await open_new_turn(store, "ann", "c", dialog_name="running")

        found = await store.conversations("ann")

        assert [(one.name, words(one.first)) for one in found] == [("running", "c"), ("main", "a")]
        assert all(one.at for one in found)

    async def test_what_was_said_is_read_backwards(self, store: Store) -> None:
        await talk(store, "ann", "a")
        await talk(store, "bob", "z")
        await open_new_turn(store, "ann", "running")

        found = await store.feed_before("ann")

        assert [(row.n, words(row.message)) for row in found] == [(2, "re: a"), (1, "a")]
        assert await store.feed_before("ann", 2, 5) == found[1:]
        assert await store.feed_before("ann", limit=1) == found[:1]
        assert await store.feed_before("ann", 1) == await store.feed_before("nobody") == []

    async def test_a_conversation_is_deleted_with_all_its_dialogs(self, store: Store) -> None:
        for at in (YESTERDAY, TODAY):
            await store_turn(store, "ann", at, dialog_name="old")
            await store.close_dialog("ann", "old")
        await store_turn(store, "ann", TODAY)
        await store_turn(store, "bob", TODAY, dialog_name="old")

        assert await store.delete_conversation("ann", "old") == 2
        assert await store.delete_conversation("ann", "old") == 0
        assert await store.delete_conversation("nobody", "old") == 0

        assert [conversation.name for conversation in await store.conversations("ann")] == ["main"]
        assert [row.dialog_name for row in await store.feed("ann", 0)] == ["main", "main"]
        assert [conversation.name for conversation in await store.conversations("bob")] == ["old"]
        again = await open_new_turn(store, "ann", "b", dialog_name="old")
        assert (again.feed, again.feed_id, again.window) == (7, 4, [])

    async def test_a_dialog_in_which_a_turn_runs_is_not_deleted(self, store: Store) -> None:
        await open_new_turn(store, "ann", "a")

        assert await store.delete_conversation("ann", "main") == 0
        assert [conversation.name for conversation in await store.conversations("ann")] == ["main"]


class ArchiveStoreKit(StoreFixtures):
    """The tests of `ArchiveStore`."""

    async def test_a_whole_dialog_is_found_by_both_its_ids(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 0.5, "x": [1]}]
        (turn, _) = await talk(store, "ann", "a", "b", hypotheses=said)

        dialog = await load_dialog(store, turn.dialog_id)

        assert agent_state.encode_dialog(await load_dialog(store, turn.id)) == (
            agent_state.encode_dialog(dialog)
        )
        assert (dialog.dialog_id, dialog.id, dialog.active) == (turn.dialog_id, turn.id, True)
        assert dialog.channel_type == "kit"
        assert dialog.human.user_external_id == "ann"
        assert [utterance.text for utterance in dialog.utterances] == ["a", "re: a", "b", "re: b"]
        assert dialog.date_finish == dialog.utterances[-1].date_time
        human = dialog.utterances[0]
        assert isinstance(human, HumanUtterance)
        assert [agent_state.hypothesis_to_state(hypothesis) for hypothesis in human.hypotheses] == [
            {**said[0], "annotations": {}}
        ]
        assert await store.dialog("nothing") is None

    async def test_one_turn_is_found_by_the_id_of_its_reply(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 0.5}]
        (_, turn, _) = await talk(store, "ann", "a", "b", "c", hypotheses=said)
        opening = turn.opening
        await store.rate_utterance(opening.bot_utt_id, 1, "ann", TODAY)

        question, answer = await store.turn(opening.bot_utt_id)

        assert isinstance(question, HumanUtterance)
        assert (question.text, answer.text) == ("b", "re: b")
        assert [hypothesis.text for hypothesis in question.hypotheses] == ["t"]
        assert [rating["rating"] for rating in answer.attributes["ratings"]] == [1]
        assert await store.turn(opening.utt_id) == []
        assert await store.turn("nothing") == []

    async def test_a_dialog_without_a_reply_has_no_date_finish(self, store: Store) -> None:
        opened = await open_new_turn(store)

        dialog = await load_dialog(store, opened.dialog_id)

        assert (dialog.utterances, dialog.date_finish) == ([], None)

    async def test_a_long_dialog_is_whole(self, store: Store) -> None:
        texts = [str(n) for n in range(260)]
        (turn, *_) = await talk(store, "ann", *texts)

        dialog = await load_dialog(store, turn.dialog_id)

        assert [utterance.text for utterance in dialog.utterances[::2]] == texts

    async def test_the_owner_of_dialogs_and_utterances_is_known(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a")
        await talk(store, "bob", "z")

        opening = turn.opening
        owners = [
            await store.find_owner(id_)
            for id_ in (turn.dialog_id, turn.id, opening.utt_id, opening.bot_utt_id, "nothing")
        ]

        assert owners == ["ann", "ann", "ann", "ann", None]

    async def test_dialogs_are_found_by_every_condition_of_a_query(self, store: Store) -> None:
        a = await store_turn(store, "ann", YESTERDAY, "jokes")
        b = await store_turn(store, "bob", TODAY, "todo")
        c = await store_turn(store, "ann", TOMORROW, "jokes", dialog_name="other")
        await store.close_dialog("bob", "main")
        await store.rate_dialog(a, 5, None, TODAY)

        async def found(**filters: Any) -> list[DialogId]:
            return await store.dialog_ids(DialogQuery(**filters))

        assert await found() == [a, b, c]
        assert await found(user="ann") == [a, c]
        assert await found(user="nobody") == []
        assert await found(user_prefix="a") == await found(user_prefix="ann") == [a, c]
        assert await found(user_prefix="anna") == await found(user_prefix="nn") == []
        assert await found(newest_first=True, limit=2) == [c, b]
        assert await found(skill="jokes") == [a, c]
        assert await found(skill="nothing") == []
        assert await found(rating=5) == [a]
        assert await found(rating=4) == []
        assert await found(since=TODAY) == [b, c]
        assert await found(until=TODAY) == [a]
        assert await found(since=TODAY, until=TOMORROW) == [b]
        assert await found(active=False) == [b]
        assert await found(active=True, user="ann", skill="jokes", since=TODAY) == [c]

    async def test_dialogs_are_found_page_by_page(self, store: Store) -> None:
        made = [await store_turn(store, f"u{n}", TODAY) for n in range(5)]

        assert await store.dialog_ids(DialogQuery(limit=2)) == made[:2]
        assert await store.dialog_ids(DialogQuery(after=made[1], limit=2)) == made[2:4]
        assert await store.dialog_ids(DialogQuery(offset=3)) == made[3:]
        assert await store.dialog_ids(DialogQuery(after=made[4])) == []

    async def test_paging_goes_on_when_the_last_dialog_seen_was_deleted(self, store: Store) -> None:
        made = [await store_turn(store, f"u{n}", TODAY) for n in range(4)]
        await store.delete_person("u1")

        assert await store.dialog_ids(DialogQuery(after=made[1])) == made[2:]

    async def test_export_yields_all_dialogs_oldest_first(self, store: Store) -> None:
        made = [await store_turn(store, user, TODAY) for user in ("ann", "bob", "carl")]

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

        dialog = await load_dialog(store, turn.dialog_id)
        shown = [
            {"rating": 3, "user_external_id": "ann", "datetime": TODAY},
            {"rating": {"stars": 5}, "user_external_id": None, "datetime": TOMORROW},
        ]
        assert (dialog.rating, dialog.attributes) == ({"stars": 5}, {"ratings": shown})
        after = await open_new_turn(store, "ann", "b")
        assert plain.decode(after.rating) == {"stars": 5}
        assert plain.decode(after.dialog_attributes) == {"ratings": shown}
        assert await store.dialog_ids(DialogQuery(rating={"stars": 5})) == [turn.dialog_id]

    async def test_a_rated_utterance_shows_its_ratings_in_windows_too(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 0.5}]
        (turn,) = await talk(store, "ann", "a", hypotheses=said)
        await store.rate_utterance(turn.opening.utt_id, "good", "ann", TODAY)
        await store.rate_utterance(turn.opening.bot_utt_id, 1, "ann", TODAY)
        await store.rate_utterance(turn.opening.bot_utt_id, 2, "bob", TODAY)

        after = await open_new_turn(store, "ann", "b", hypotheses=1)
        dialog = await load_dialog(store, turn.dialog_id)

        states = [plain.decode(said.state) for said in after.window]
        for attributes in (
            [s["attributes"] for s in states],
            [u.attributes for u in dialog.utterances],
        ):
            assert [[rating["rating"] for rating in a["ratings"]] for a in attributes] == [
                ["good"],
                [1, 2],
            ]
        assert states[0]["hypotheses"] == said
        assert dialog.rating is None
        assert await store.dialog_ids(DialogQuery(rating="good")) == [turn.dialog_id]

    async def test_rating_an_unknown_id_raises_not_found(self, store: Store) -> None:
        with pytest.raises(NotFound):
            await store.rate_dialog("nothing", 1, None, TODAY)
        with pytest.raises(NotFound):
            await store.rate_utterance("nothing", 1, None, TODAY)

    # Deleting

    async def test_a_deleted_person_leaves_nothing(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a", human_attributes={"n": 1})
        await store.rate_dialog(turn.dialog_id, 5, None, TODAY)
        await open_new_turn(store, "ann", "b", request_key="k", request_hash=b"h")
        kept = await store_turn(store, "bob", TODAY)

        assert await store.delete_person("ann") is True

        assert await store.delete_person("ann") is False
        assert await store.dialog_ids() == [kept]
        assert await store.dialog(turn.dialog_id) is None
        assert await store.find_owner(turn.opening.utt_id) is None
        assert await store.feed("ann", 0) == []
        assert await store.unfinished_turns() == []
        fresh = await open_new_turn(store, "ann", "c", request_key="k", request_hash=b"g")
        assert plain.decode(fresh.human.state)["attributes"] == {}
        assert fresh.window == []

    async def test_the_turn_of_a_deleted_person_cannot_be_closed(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann", "a")
        await store.delete_person("ann")

        with pytest.raises(StoreError):
            await store.close_turn(a_closing(opened))
        await talk(store, "ann", "new")
        with pytest.raises(StoreError):
            await store.close_turn(a_closing(opened))

        assert texts(await open_new_turn(store, "ann")) == ["new", "re: new"]

    async def test_feed_numbers_are_not_reused_after_a_deletion(self, store: Store) -> None:
        await talk(store, "ann", "a", "b")
        end = await store.feed_end("ann")
        await store.delete_person("ann")

        opened = await open_new_turn(store, "ann", "c")

        assert opened.feed == end + 1

    async def test_old_dialogs_are_deleted_and_the_person_stays(self, store: Store) -> None:
        old = await store_turn(store, "ann", YESTERDAY, human_attributes={"n": 1})
        new = await store_turn(store, "ann", TOMORROW, dialog_name="other")
        end = await store.feed_end("ann")

        deleted = await store.delete_older(TODAY)

        assert deleted == 1
        assert await store.dialog_ids() == [new]
        assert await store.dialog(old) is None
        assert {row.dialog_id for row in await store.feed("ann", 0)} == {new}
        assert await store.feed_end("ann") == end
        opened = await open_new_turn(store, "ann", "again")
        assert (opened.length, opened.feed) == (0, end + 1)
        assert plain.decode(opened.human.state)["attributes"] == {"n": 1}

    async def test_feed_numbers_stay_when_the_last_rows_were_deleted(self, store: Store) -> None:
        await store_turn(store, "ann", YESTERDAY)

        await store.delete_older(TODAY)

        assert await store.feed_end("ann") == 2
        assert (await open_new_turn(store, "ann")).feed == 3

    async def test_a_dialog_with_an_open_turn_is_not_old(self, store: Store) -> None:
        await store_turn(store, "ann", YESTERDAY)
        opened = await open_new_turn(store, "ann", date_time=YESTERDAY)

        assert await store.delete_older(TODAY) == 0
        await store.close_turn(a_closing(opened, at=YESTERDAY))
        assert await store.delete_older(TODAY) == 1
