"""Contract tests of `ArchiveStore`: queries, ratings, deletions, exports."""

from __future__ import annotations

from typing import Any

import pytest

from prolocutor.contracts.store import DialogQuery, Store
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.ids import DialogId
from prolocutor.dialog.utterances import HumanUtterance
from prolocutor.errors import NotFound, StoreError
from prolocutor.testing.sample_turns import a_closing, open_new_turn, talk
from prolocutor.testing.store_contract.fixtures import (
    TODAY,
    TOMORROW,
    YESTERDAY,
    StoreFixtures,
    dialog_of,
    store_turn,
    texts,
)


class ArchiveStoreKit(StoreFixtures):
    """The tests of `ArchiveStore`."""

    async def test_a_whole_dialog_is_found_by_both_its_ids(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 0.5, "x": [1]}]
        (turn, _) = await talk(store, "ann", "a", "b", hypotheses=said)

        dialog = await dialog_of(store, turn.dialog_id)

        assert agent_state.encode_dialog(await dialog_of(store, turn.id)) == (
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

    async def test_one_turn_is_found_by_the_id_of_its_reply(self, store: Store) -> None:
        said = [{"skill_name": "s", "text": "t", "confidence": 0.5}]
        (_, turn, _) = await talk(store, "ann", "a", "b", "c", hypotheses=said)
        opening = turn.opening
        await store.rate_utterance(opening.bot_utt_id, 1, "ann", TODAY)

        question, answer = await store.turn(opening.bot_utt_id)

        assert isinstance(question, HumanUtterance)
        assert (question.text, answer.text) == ("b", "re: b")
        assert [one.text for one in question.hypotheses] == ["t"]
        assert [one["rating"] for one in answer.attributes["ratings"]] == [1]
        assert await store.turn(opening.utt_id) == []
        assert await store.turn("nothing") == []

    async def test_a_dialog_without_a_reply_has_no_date_finish(self, store: Store) -> None:
        opened = await open_new_turn(store)

        dialog = await dialog_of(store, opened.dialog_id)

        assert (dialog.utterances, dialog.date_finish) == ([], None)

    async def test_a_long_dialog_is_whole(self, store: Store) -> None:
        texts = [str(n) for n in range(260)]
        (turn, *_) = await talk(store, "ann", *texts)

        dialog = await dialog_of(store, turn.dialog_id)

        assert [one.text for one in dialog.utterances[::2]] == texts

    async def test_the_owner_of_dialogs_and_utterances_is_known(self, store: Store) -> None:
        (turn,) = await talk(store, "ann", "a")
        await talk(store, "bob", "z")

        said = turn.opening
        owners = [
            await store.owner_of(id_)
            for id_ in (turn.dialog_id, turn.id, said.utt_id, said.bot_utt_id, "nothing")
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

        dialog = await dialog_of(store, turn.dialog_id)
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
        dialog = await dialog_of(store, turn.dialog_id)

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
        assert await store.owner_of(turn.opening.utt_id) is None
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
