"""Copies a store into another of any kind, person by person, and compares the two."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec
from msgspec import structs

from prolocutor.contracts.store_options import (
    StoredDialog,
    StoredPerson,
    StoredVersion,
    StoreTransfer,
    UnrecordedTurns,
)
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import apply_changes
from prolocutor.dialog.profile_changes import KEY_FRAME_INTERVAL, rebuilt

Progress = Callable[[int, int], None]
"""Called with the number of users done, and of all."""

MOST_FAULTS: Final = 20


class CopyOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a copy: users written, users already there, users only in the target."""

    written: int
    kept: int
    others: int


class CheckOutcome(msgspec.Struct, kw_only=True):
    """The contents of a store, and its first faults."""

    users: int = 0
    dialogs: int = 0
    utterances: int = 0
    open_turns: int = 0
    faults: list[str] = []
    repaired: list[str] = []


async def copy(source: StoreTransfer, target: StoreTransfer, progress: Progress) -> CopyOutcome:
    """Copy all users; identical data in the target is not written again.

    So an interrupted copy goes on at the place where it stopped.
    """
    users = await source.users()
    await target.raise_feed_floor(await source.feed_floor())
    written = kept = 0
    for number, user in enumerate(users):
        person = await source.taken_out(user)
        if await holds(target, person):
            kept += 1
        else:
            await target.put_person(person)
            written += 1
        progress(number + 1, len(users))
    others = len(set(await target.users()) - set(users))
    if not others and await unrecorded_differ(source, target):
        await target.put_unrecorded(await source.unrecorded_turns())
    return CopyOutcome(written=written, kept=kept, others=others)


async def differences(
    source: StoreTransfer, target: StoreTransfer, progress: Progress
) -> list[str]:
    """Return the users of the source whose data differs in the target."""
    users = await source.users()
    found = []
    for number, user in enumerate(users):
        if not await holds(target, await source.taken_out(user)):
            found.append(user)
        progress(number + 1, len(users))
    return found


async def unrecorded_differ(source: StoreTransfer, target: StoreTransfer) -> bool:
    """Return whether the stores differ in their counts of turns without records."""
    return _round_sums(await source.unrecorded_turns()) != _round_sums(
        await target.unrecorded_turns()
    )


async def check(store: StoreTransfer, progress: Progress, *, repair: bool = False) -> CheckOutcome:
    """Read everything and look for impossible data; `repair` writes the readable data."""
    users = await store.users()
    outcome = CheckOutcome(users=len(users))
    for number, user in enumerate(users):
        person = await store.taken_out(user)
        outcome.dialogs += len(person.dialogs)
        outcome.utterances += sum(len(dialog.utterances) for dialog in person.dialogs)
        outcome.open_turns += len(person.open_turns)
        faults = [*find_faults(person)]
        if faults and repair and not [*find_faults(mended := repair_person(person))]:
            await store.put_person(mended)
            outcome.repaired.append(user)
            faults = []
        for fault in faults:
            if len(outcome.faults) < MOST_FAULTS:
                outcome.faults.append(f"{user}: {fault}")
        progress(number + 1, len(users))
    return outcome


def find_faults(person: StoredPerson) -> Iterator[str]:
    """Find impossible data in the stored data of a person."""
    if person.human_id is None:
        return
    yield from _chain_faults("the person's profile", person.human)
    known = {version.number for version in person.human}
    names = [dialog.name for dialog in person.dialogs if dialog.active]
    if len(names) != len(set(names)):
        yield "two active dialogs have one name"
    for dialog in person.dialogs:
        what = f"dialog {dialog.dialog_id}"
        yield from _chain_faults(f"{what}, the bot's profile", dialog.bot)
        of_bot = {version.number for version in dialog.bot}
        positions = [said.position for said in dialog.utterances]
        if positions != list(range(len(positions))):
            yield f"{what}: the utterances have gaps"
        shown = {(said.by_bot, said.user_version) for said in dialog.utterances}
        if any(number not in (of_bot if by_bot else known) for by_bot, number in shown):
            yield f"{what}: an utterance shows a version of a profile that is missing"
    numbers = [row.n for row in person.feed] + [turn.n for turn in person.open_turns]
    if len(numbers) != len(set(numbers)):
        yield "two rows of the feed have one number"
    if any(row.n > person.feed_end for row in person.feed):
        yield "the feed has rows beyond its end"
    for name, said in person.said.items():
        ids = [row.id for row in person.feed if row.dialog_name == name and row.message is not None]
        if ids != sorted(set(ids)) or (ids and ids[-1] > said):
            yield f"the messages of the dialog {name!r} are numbered wrongly"


def repair_person(person: StoredPerson) -> StoredPerson:
    """Return a readable person, with the remaining profiles and utterances.

    A missing version of a profile becomes a copy of the version before it, a missing first version
    a new profile. Utterances after a gap move up.
    """
    if person.human_id is None:
        return person
    user_versions = [
        u.user_version for dialog in person.dialogs for u in dialog.utterances if not u.by_bot
    ]
    new = agent_state.new_human(person.human_id, person.user)
    return structs.replace(
        person,
        human=_repaired_chain(person.human, user_versions, new),
        dialogs=[_repaired_dialog(dialog) for dialog in person.dialogs],
    )


def _repaired_dialog(dialog: StoredDialog) -> StoredDialog:
    places = {said.position: place for place, said in enumerate(dialog.utterances)}
    return structs.replace(
        dialog,
        bot=_repaired_chain(
            dialog.bot,
            [said.user_version for said in dialog.utterances if said.by_bot],
            agent_state.new_bot(dialog.bot_id),
        ),
        utterances=[
            structs.replace(said, position=places[said.position]) for said in dialog.utterances
        ],
        ratings=[
            rating
            if rating.position is None
            else structs.replace(rating, position=places[rating.position])
            for rating in dialog.ratings
            if rating.position is None or rating.position in places
        ],
    )


def _repaired_chain(
    versions: Sequence[StoredVersion], shown: Sequence[int], new: bytes
) -> list[StoredVersion]:
    found = {version.number: version for version in versions}
    state, whole = plain.decode(new), []
    for number in range(max([0, *found, *shown]) + 1):
        version = found.get(number, StoredVersion(number, b"[]", None))
        changes = version.changes
        if version.state is not None:
            state = plain.decode(version.state)
        else:
            try:
                apply_changes(state, plain.decode(changes))
            except (LookupError, TypeError, ValueError):
                changes = b"[]"
        frame = None if number % KEY_FRAME_INTERVAL else plain.encode(state)
        whole.append(StoredVersion(number, changes, frame))
    return whole


def _chain_faults(what: str, versions: Sequence[StoredVersion]) -> Iterator[str]:
    if [version.number for version in versions] != list(range(len(versions))):
        yield f"{what}: versions are missing"
    elif any(version.state is None for version in versions[::KEY_FRAME_INTERVAL]):
        yield f"{what}: a key frame has no state"
    else:
        try:
            for first in range(0, len(versions), KEY_FRAME_INTERVAL):
                rows = [
                    (v.number, v.changes, v.state)
                    for v in versions[first : first + KEY_FRAME_INTERVAL]
                ]
                rebuilt(what, rows, {number for number, _, _ in rows})
        except (LookupError, TypeError, ValueError) as error:
            yield f"{what}: a version cannot be read ({error})"


async def holds(target: StoreTransfer, person: StoredPerson) -> bool:
    """Return whether a store has exactly this data of a person."""
    return same(await target.taken_out(person.user), person)


def same(held: StoredPerson, person: StoredPerson) -> bool:
    """Return whether the first person equals a copy of the second."""
    return _comparable(held, person) == _comparable(person, person)


def _comparable(person: StoredPerson, source: StoredPerson) -> StoredPerson:
    """Leave out the numbers of dialogs: another store may have given them to other dialogs.

    The facts shown in lists of dialogs are ignored if the source lacks them: the target computes
    them.
    """
    unknown = {dialog.dialog_id for dialog in source.dialogs if dialog.facts is None}
    return structs.replace(
        person,
        dialogs=[
            structs.replace(
                dialog, number=0, facts=None if dialog.dialog_id in unknown else dialog.facts
            )
            for dialog in person.dialogs
        ],
    )


def _round_sums(counted: UnrecordedTurns) -> UnrecordedTurns:
    """Round sums that were added up in another order."""
    agents = [
        structs.replace(agent, seconds=round(agent.seconds, 6), cost=round(agent.cost, 6))
        for agent in counted.agents
    ]
    return structs.replace(counted, agents=agents)
