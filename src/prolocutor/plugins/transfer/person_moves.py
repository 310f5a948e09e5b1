"""Moves persons from a store to another while replicas use both."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Collection
from typing import Final, Protocol, runtime_checkable

from prolocutor.contracts.store_options import StoredPerson, StoreTransfer
from prolocutor.errors import PersonMoved, StoreError
from prolocutor.plugins.transfer.store_copy import holds, same

BUCKET_COUNT: Final = 4096
"""Into how many parts all persons fall, by their names."""


@runtime_checkable
class MovingStore(StoreTransfer, Protocol):
    """A store from which persons move to another store, while replicas use both stores.

    After an opening with `alone=False`, `put_person` may be called too: it raises `PersonBusy` if a
    turn of the person is open, and lets persons who moved away come back.
    """

    async def fence(self, user: str) -> None:
        """Block changes of a person's data from now on; wait for the open turn.

        Requests meanwhile wait, or are refused with `PersonMoved`. The fence stays if this process
        ends. Raise `PersonBusy` if the turn does not end, `PersonMoved` if they are gone.
        """

    async def unfence(self, user: str) -> None:
        """Admit changes of the person's data again."""

    async def give_up(self, user: str) -> None:
        """Delete all data of a fenced person; refuse the person's requests from now on."""


def person_bucket(user: str) -> int:
    """Return the bucket of a person: the CRC-32 of the name without its door, as routers count it.

    HAProxy: `field(-1,:),crc32,mod(4096)`.
    """
    return zlib.crc32(user.rpartition(":")[2].encode("utf-8", "surrogatepass")) % BUCKET_COUNT


async def choose_users(
    store: StoreTransfer, users: Collection[str], buckets: Collection[int]
) -> list[str]:
    """Return the named users and the users in buckets, but not the assistant itself."""
    if not buckets:
        return list(users)
    found = [user for user in await store.users() if user and person_bucket(user) in buckets]
    return [*users, *(user for user in found if user not in users)]


async def move(
    source: MovingStore, target: MovingStore, users: Collection[str]
) -> AsyncIterator[str]:
    """Move persons in order; yield the name of each person in the target.

    An interrupted move of a person is resumed.
    """
    for user in users:
        try:
            await source.fence(user)
        except PersonMoved:  # before it could be said
            yield user
            continue
        try:
            await put_in(target, await source.taken_out(user))
        except BaseException:
            await source.unfence(user)
            raise
        await source.give_up(user)
        yield user


async def put_in(target: StoreTransfer, person: StoredPerson) -> bool:
    """Store a person, and compare; return False if the identical person was there already.

    Raise `StoreError` if the target has another person under this name.
    """
    known = await target.taken_out(person.user)
    if same(known, person):
        return False
    if known.human_id not in (None, person.human_id) or (
        known.human_id is None and known != StoredPerson(user=person.user) and person.user
    ):
        raise StoreError(f"there is another {person.user!r} already; delete one of the two first")
    await target.put_person(person)
    if not await holds(target, person):
        raise StoreError(f"{person.user!r} is not the same after the copy")
    return True
