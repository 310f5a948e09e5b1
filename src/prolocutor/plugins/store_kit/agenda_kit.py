"""Contract tests of `AgendaStore`: entries, their limit and their delivery."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
import pytest

from prolocutor.contracts.store import MAX_AGENDA_ENTRIES, AgendaEntry, Store
from prolocutor.errors import StoreError
from prolocutor.testing.sample_turns import a_closing, a_delivery, an_entry, open_new_turn, talk
from prolocutor.testing.store_fixtures import StoreFixtures


class AgendaStoreKit(StoreFixtures):
    """The tests of `AgendaStore`."""

    async def test_an_entry_is_returned_as_it_was_written(self, store: Store) -> None:
        entry = AgendaEntry(
            user="ann",
            dialog_name="other",
            skill="timer",
            key="é",
            due=1_709_208_000.125,
            body=b'{"ring":[1,null]}',
            dropped=2,
        )

        await store.schedule(entry)

        assert await store.entries("ann") == [entry]
        assert await store.due(entry.due) == [entry]
        assert await store.due(entry.due - 0.001) == []

    async def test_entries_are_due_earliest_first(self, store: Store) -> None:
        for user, key, due in (("ann", "c", 3.0), ("bob", "a", 1.0), ("ann", "b", 2.0)):
            await store.schedule(an_entry(user, key, due))

        assert _keys(await store.due(2.5)) == ["a", "b"]
        assert _keys(await store.due(9.0, limit=2)) == ["a", "b"]
        assert _keys(await store.entries("ann")) == ["b", "c"]

    async def test_entries_with_the_same_due_keep_the_order_of_writing(self, store: Store) -> None:
        for user, key in (("bob", "z"), ("ann", "y"), ("bob", "x"), ("ann", "z")):
            await store.schedule(an_entry(user, key))
        await store.schedule(an_entry("bob", "z"))

        assert [(one.user, one.key) for one in await store.due(10.0)] == [
            ("ann", "y"),
            ("bob", "x"),
            ("ann", "z"),
            ("bob", "z"),
        ]

    async def test_next_due_is_the_earliest_due_after_a_time(self, store: Store) -> None:
        assert await store.next_due(0.0) is None
        for key, due in (("a", 5.0), ("b", 2.0)):
            await store.schedule(an_entry(key=key, due=due))

        assert [await store.next_due(after) for after in (0.0, 2.0, 5.0)] == [2.0, 5.0, None]

    async def test_an_entry_replaces_one_with_the_same_key(self, store: Store) -> None:
        await store.schedule(an_entry(key="k", due=1.0))
        await store.schedule(an_entry(key="k", due=2.0, body=b"2"))
        await store.schedule(an_entry(key="k", due=3.0, skill="other"))
        await store.schedule(an_entry("bob", key="k", due=4.0))

        assert [(entry.skill, entry.due, entry.body) for entry in await store.entries("ann")] == [
            ("timer", 2.0, b"2"),
            ("other", 3.0, b'{"ring":1}'),
        ]
        assert _keys(await store.entries("ann", "other")) == ["k"]
        assert await store.entries("ann", "nothing") == []

    async def test_an_entry_can_be_struck_once(self, store: Store) -> None:
        await store.schedule(an_entry("ann", "a"))
        await store.schedule(an_entry("ann", "b"))

        assert await store.strike("ann", "timer", "a") is True
        assert await store.strike("ann", "timer", "a") is False
        assert await store.strike("nobody", "timer", "b") is False
        assert _keys(await store.entries("ann")) == ["b"]

    async def test_beyond_the_limit_the_earliest_entry_is_dropped_and_counted(
        self, store: Store
    ) -> None:
        for n in range(5):
            await store.schedule(an_entry("ann", str(n), float(n)), limit=3)
        await store.schedule(an_entry("bob", "b", 0.0), limit=3)

        assert [(entry.key, entry.dropped) for entry in await store.entries("ann")] == [
            ("2", 2),
            ("3", 0),
            ("4", 0),
        ]
        assert [(entry.key, entry.dropped) for entry in await store.entries("bob")] == [("b", 0)]

    async def test_the_entry_just_written_stays_even_if_it_is_the_earliest(
        self, store: Store
    ) -> None:
        for key, due in (("a", 5.0), ("b", 6.0), ("c", 1.0)):
            await store.schedule(an_entry("ann", key, due), limit=2)

        assert [(entry.key, entry.dropped) for entry in await store.entries("ann")] == [
            ("c", 1),
            ("b", 0),
        ]

    async def test_a_skill_that_has_most_entries_drops_its_own(self, store: Store) -> None:
        await store.schedule(an_entry("ann", "rare", 0.0, skill="todo"), limit=3)
        for n in range(5):
            await store.schedule(an_entry("ann", str(n), float(n + 1)), limit=3)

        assert _keys(await store.entries("ann")) == ["rare", "3", "4"]

    async def test_an_entry_that_replaces_another_drops_none(self, store: Store) -> None:
        for key in ("a", "b", "b"):
            await store.schedule(an_entry("ann", key), limit=2)

        assert [(entry.key, entry.dropped) for entry in await store.entries("ann")] == [
            ("a", 0),
            ("b", 0),
        ]

    # Deliveries

    async def test_an_entry_is_delivered_once(self, store: Store) -> None:
        await store.schedule(an_entry("ann"))

        assert await store.deliver(a_delivery("ann", "ring", entry=an_entry("ann"))) is True
        assert await store.deliver(a_delivery("ann", "ring", entry=an_entry("ann"))) is False

        assert await store.entries("ann") == []
        assert await store.feed_end("ann") == 1

    async def test_an_entry_that_was_changed_is_not_delivered(self, store: Store) -> None:
        given = an_entry("ann")
        for changes in ({"due": 11.0}, {"body": b"2"}, {"dialog_name": "x"}, {"dropped": 1}):
            changed = msgspec.structs.replace(given, **changes)
            await store.schedule(changed)

            assert await store.deliver(a_delivery("ann", "ring", entry=given)) is False

            assert await store.entries("ann") == [changed]
        assert await store.feed("ann", 0) == []

    async def test_a_delivery_can_reschedule_its_entry(self, store: Store) -> None:
        given, again = an_entry("ann", due=10.0), an_entry("ann", due=20.0)
        await store.schedule(given)

        assert await store.deliver(a_delivery("ann", "ring", entry=given, again=again)) is True

        assert await store.entries("ann") == [again]
        assert await store.due(10.0) == []
        assert await store.feed_end("ann") == 1

    # With a turn

    async def test_a_delivery_strikes_and_schedules_other_entries(self, store: Store) -> None:
        due, other, new = (an_entry("ann", key) for key in ("due", "other", "new"))
        for entry in (due, other):
            await store.schedule(entry)
        changes = {"struck": [("timer", "other"), ("timer", "none")], "entries": [new]}

        assert await store.deliver(a_delivery("ann", entry=due, **changes)) is True
        assert await store.deliver(a_delivery("ann", entry=due, entries=[other])) is False

        assert await store.entries("ann") == [new]

    async def test_a_turn_strikes_and_schedules(self, store: Store) -> None:
        for key in ("a", "b"):
            await store.schedule(an_entry("ann", key))
        await store.schedule(an_entry("bob", "a"))
        opened = await open_new_turn(store, "ann")

        entries = [an_entry("ann", "b", 5.0), an_entry("ann", "c", 20.0)]
        struck = [("timer", "a"), ("timer", "b"), ("timer", "nothing")]
        await store.close_turn(a_closing(opened, entries=entries, struck=struck))

        assert await store.entries("ann") == entries
        assert _keys(await store.entries("bob")) == ["a"]

    async def test_a_turn_that_cannot_be_closed_schedules_nothing(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann")
        await store.close_turn(a_closing(opened))

        with pytest.raises(StoreError):
            await store.close_turn(a_closing(opened, entries=[an_entry("ann")]))

        assert await store.entries("ann") == []

    async def test_the_limit_holds_for_turns_too(self, store: Store) -> None:
        opened = await open_new_turn(store, "ann")
        entries = [an_entry("ann", str(n), float(n)) for n in range(MAX_AGENDA_ENTRIES + 2)]

        await store.close_turn(a_closing(opened, entries=entries))

        left = await store.entries("ann")
        assert (len(left), left[0].key, left[0].dropped) == (MAX_AGENDA_ENTRIES, "2", 2)

    async def test_the_agenda_is_deleted_with_its_person(self, store: Store) -> None:
        await talk(store, "ann", "a")
        await store.schedule(an_entry("ann"))
        await store.schedule(an_entry("unknown"))
        await store.schedule(an_entry("bob"))

        assert await store.delete_person("ann") is True
        assert await store.delete_person("unknown") is True
        assert await store.delete_person("unknown") is False

        assert [one.user for one in await store.due(99.0)] == ["bob"]


def _keys(entries: Iterable[AgendaEntry]) -> list[str]:
    return [entry.key for entry in entries]
