"""The first trip of turns: the arguments of `begin_turns`, and the reading of its rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec import structs

from prolocutor.contracts.store import (
    AnsweredRequest,
    Delivery,
    OpenedTurn,
    ProfileVersion,
    TurnOpening,
    UtteranceParts,
    pack_opening,
)
from prolocutor.dialog import agent_state
from prolocutor.dialog.ids import DialogId, TurnId
from prolocutor.dialog.profile_changes import (
    KEY_FRAME_INTERVAL,
    VersionRow,
    rebuilt,
    translate_errors,
)
from prolocutor.errors import (
    Conflict,
    DeclaredDead,
    PersonBusy,
    PersonUnreadable,
    RoundChanged,
    TakenOver,
)
from prolocutor.plugins.postgresql.database_line import DatabaseLine, Row
from prolocutor.plugins.postgresql.membership import Membership
from prolocutor.plugins.postgresql.remembered import (
    MAX_WINDOW,
    Remembered,
    RememberedDialog,
    RememberedPerson,
)
from prolocutor.plugins.postgresql.statements import SQL, stored_text

BEGIN: Final = (
    "SELECT * FROM begin_turns($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, "
    "$16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28)"
)

TRIP_TIMEOUT: Final = 8.0
"""Seconds after which a trip that was not answered breaks the line."""
MAX_INT: Final = 2_147_483_647


class PostgresqlOpenedTurn(OpenedTurn, kw_only=True):
    """An opened turn with the numbers of its person, dialog and dialog name, and its fence."""

    person: int
    dialog: int
    named: int
    replica: int


class BeginCall:
    """The arguments of a call of `begin_turns`, an array for each column."""

    __slots__ = ("_fresh", "_lists", "_remembered")

    def __init__(self, remembered: Remembered) -> None:
        self._remembered = remembered
        self._lists: tuple[list[Any], ...] = tuple([] for _ in range(16))
        self._fresh: tuple[list[Any], ...] = tuple([] for _ in range(9))

    def add(self, opening: TurnOpening, *, fresh: bool) -> RememberedDialog | None:
        """Add an opening; return its cached dialog, None if it sends new ids.

        `fresh`: ignore the cache.
        """
        person = None if fresh else self._remembered.person(opening.user)
        dialog = person.dialogs.get(opening.dialog_name) if person is not None else None
        if dialog is not None and (
            not dialog.reaches(opening.window, opening.hypotheses)
            or (opening.round is not None and opening.round != dialog.round)
        ):
            dialog = None
        if person is None or dialog is None:
            known: tuple[int | None, ...] = (-1, None, None, None)
            self._add_fresh(opening)
            new: int | None = len(self._fresh[0])
        else:
            known = (person.version, dialog.dialog, dialog.named, dialog.said + 1)
            new = None
        key = opening.request_key
        window = opening.window
        for values, value in zip(
            self._lists,
            (
                stored_text(opening.user),
                stored_text(opening.dialog_name),
                opening.turn_id,
                opening.utt_id,
                opening.started,
                None if key is None else stored_text(key),
                opening.request_hash,
                pack_opening(opening),
                opening.round,
                *known,
                None if window is None else min(window, MAX_INT),
                opening.hypotheses > 0,
                new,
            ),
            strict=True,
        ):
            values.append(value)
        return dialog

    def arguments(self) -> tuple[list[Any], ...]:
        """Return the arrays in the order of the function's parameters."""
        return *self._lists, *self._fresh

    def _add_fresh(self, source: TurnOpening) -> None:
        for values, value in zip(self._fresh, fresh_ids(source), strict=True):
            values.append(value)


def fresh_ids(source: TurnOpening | Delivery) -> tuple[Any, ...]:
    """Return the ids of a new person and dialog, in the order of the parameters."""
    new = source.new_dialog
    return (
        new.human_id,
        agent_state.new_human(new.human_id, source.user),
        new.dialog_id,
        new.id,
        new.bot_id,
        agent_state.new_bot(new.bot_id),
        stored_text(source.channel_type),
        source.date_time,
        new.attributes,
    )


class Openings:
    """Opens turns in groups; a `GroupCall` of a lane."""

    def __init__(self, line: DatabaseLine, membership: Membership, remembered: Remembered) -> None:
        self._line = line
        self._membership = membership
        self._remembered = remembered

    async def __call__(self, openings: Sequence[TurnOpening], repeated: bool) -> list[Any]:
        """Open the turns in the order of their users, so groups cannot deadlock."""
        try:
            return await self._open_turns(openings, repeated)
        except DeclaredDead:
            if not self._membership.alone:
                raise
            await self._membership.rejoin()
            return await self._open_turns(openings, repeated)

    async def _open_turns(self, openings: Sequence[TurnOpening], repeated: bool) -> list[Any]:
        order = sorted(range(len(openings)), key=lambda place: openings[place].user)
        outcomes: list[Any] = [None] * len(openings)
        again = await self._send(openings, order, outcomes, fresh=False, repeated=repeated)
        if again:
            await self._send(openings, again, outcomes, fresh=True, repeated=repeated)
        return outcomes

    async def _send(
        self,
        openings: Sequence[TurnOpening],
        order: Sequence[int],
        outcomes: list[Any],
        *,
        fresh: bool,
        repeated: bool,
    ) -> list[int]:
        """Send openings; return the indexes of the openings to send again with new ids."""
        call = BeginCall(self._remembered)
        expected = [call.add(openings[place], fresh=fresh) for place in order]
        # What is remembered now may be forgotten before the answer, if this replica joins again.
        persons = [self._remembered.person(openings[place].user) for place in order]
        replica, alone = await self._membership.require_number(), self._membership.alone
        rows = await self._line.fetch(
            BEGIN, replica, alone, repeated, *call.arguments(), within=TRIP_TIMEOUT
        )
        again = []
        for place, row, dialog, person in zip(order, rows, expected, persons, strict=True):
            opening = openings[place]
            status: str = row["status"]
            if status == "begun":
                try:
                    outcomes[place] = self._begun(opening, row, person, dialog, replica)
                except PersonUnreadable as error:
                    outcomes[place] = error
                    abandoned = SQL["abandon_turn"]
                    await self._line.fetch(abandoned, replica, opening.turn_id, within=TRIP_TIMEOUT)
            elif status == "again":
                self._remembered.drop(opening.user)
                again.append(place)
            else:
                outcomes[place] = _refusal(status, opening, row)
        return again

    def _begun(
        self,
        opening: TurnOpening,
        row: Row,
        person: RememberedPerson | None,
        dialog: RememberedDialog | None,
        replica: int,
    ) -> OpenedTurn:
        if row["dialog_id"] is not None or person is None or dialog is None:
            others = person
            person, dialog = read_head(row, opening)
            if others is not None and others.version == person.version:
                for name, other in others.dialogs.items():
                    person.dialogs.setdefault(name, other)
            if opening.window is None or opening.window <= MAX_WINDOW:
                person.add(opening.dialog_name, dialog)
        self._remembered.add(opening.user, person)
        return _opened_turn(
            opening, row, person, dialog, opening.window, opening.hypotheses, replica
        )


def resumed_turn(
    row: Row, opening: TurnOpening, window: int | None, hypotheses: int, replica: int
) -> PostgresqlOpenedTurn:
    """Return the opened turn of a resumed turn."""
    changed = structs.replace(opening, window=window, hypotheses=hypotheses)
    person, dialog = read_head(row, changed)
    return _opened_turn(opening, row, person, dialog, window, hypotheses, replica)


def _opened_turn(
    opening: TurnOpening,
    row: Row,
    person: RememberedPerson,
    dialog: RememberedDialog,
    window: int | None,
    hypotheses: int,
    replica: int,
) -> PostgresqlOpenedTurn:
    recent = dialog.recent
    shown = recent[:] if window is None else recent[-window:] if window else []
    if dialog.with_hypotheses:
        _hide_hypotheses(shown, hypotheses)
    return PostgresqlOpenedTurn(
        opening=opening,
        dialog_id=dialog.dialog_id,
        id=dialog.agent_state_id,
        date_start=dialog.date_start,
        dialog_attributes=dialog.attributes,
        rating=dialog.rating,
        human=person.human,
        bot=dialog.bot,
        window=shown,
        length=dialog.length,
        feed=row["n"],
        feed_id=row["id"],
        attempt=row["attempt"],
        round=dialog.round,
        person=person.person,
        dialog=dialog.dialog,
        named=dialog.named,
        replica=replica,
    )


def _hide_hypotheses(shown: list[UtteranceParts], hypotheses: int) -> None:
    """Drop all hypotheses except the hypotheses of the last `hypotheses` human utterances."""
    of_humans = [place for place, one in enumerate(shown) if not one.by_bot]
    for place in of_humans[: max(0, len(of_humans) - hypotheses)]:
        shown[place] = structs.replace(shown[place], hypotheses=b"[]")


def _refusal(status: str, opening: TurnOpening, row: Row) -> Any:
    """Return the error of a refused opening."""
    if status == "answered":
        return AnsweredRequest(turn_id=TurnId(row["turn_id"]), reply=row["outcome"])
    if status == "conflict":
        what = f"the request key {opening.request_key!r} was used for another request"
        return Conflict(what, field="Idempotency-Key")
    if status == "busy":
        return PersonBusy(f"another turn of {opening.user!r} is open, or others wait")
    if status == "round":
        return RoundChanged(row["outcome"])
    return TakenOver(f"turn {opening.turn_id} is run by another replica, or was")


def read_head(row: Row, opening: TurnOpening) -> tuple[RememberedPerson, RememberedDialog]:
    """Read the cached head of a person from a full row; raise `PersonUnreadable`."""
    with translate_errors(opening.user):
        return _read_head(row, opening)


def _read_head(row: Row, opening: TurnOpening) -> tuple[RememberedPerson, RememberedDialog]:
    by_bot: list[bool] = row["by_bot"] or []
    shown: list[int] = row["user_versions"] or []
    humans = _versions(
        row["human_id"],
        _chain(row, "human"),
        {number for number, bot in zip(shown, by_bot, strict=True) if not bot},
    )
    bots = _versions(
        row["dialog_id"],
        _chain(row, "bot"),
        {number for number, bot in zip(shown, by_bot, strict=True) if bot},
    )
    human, bot = (ProfileVersion(max(found), found[max(found)]) for found in (humans, bots))
    dialog = RememberedDialog()
    dialog.dialog, dialog.named = row["dialog"], row["named"]
    dialog.dialog_id, dialog.agent_state_id = DialogId(row["dialog_id"]), row["agent_state_id"]
    dialog.date_start, dialog.attributes = row["date_start"], row["attributes"]
    dialog.rating, dialog.round, dialog.bot = b"null", row["round"], bot
    dialog.length, dialog.said = row["length"], row["said"]
    dialog.with_hypotheses, dialog.skills = opening.hypotheses > 0, set()
    dialog.window = MAX_WINDOW if opening.window is None else min(MAX_WINDOW, opening.window)
    lists: list[bytes | None] = row["hypotheses"] or []
    dialog.recent = [
        UtteranceParts(bot, body, (bots if bot else humans)[number], list_ or b"[]")
        for bot, number, body, list_ in zip(by_bot, shown, row["bodies"] or [], lists, strict=True)
    ]
    if row["rated"] is not None:
        _show_ratings(dialog, zip(row["rated"], row["ratings"], strict=True))
    return RememberedPerson(row["person"], row["human_id"], row["version"], human), dialog


def _chain(row: Row, whose: str) -> list[VersionRow]:
    return sorted(
        zip(
            row[f"{whose}_numbers"],
            row[f"{whose}_changes"],
            row[f"{whose}_states"],
            strict=True,
        )
    )


def _versions(owner: str, rows: list[VersionRow], wanted: set[int]) -> dict[int, bytes]:
    """Return the wanted versions and the newest version from the rows of some frames."""
    needed = wanted | {rows[-1][0]}
    found: dict[int, bytes] = {}
    for frame in {number // KEY_FRAME_INTERVAL for number in needed}:
        some = [row for row in rows if row[0] // KEY_FRAME_INTERVAL == frame]
        found |= rebuilt(
            owner, some, {number for number in needed if number // KEY_FRAME_INTERVAL == frame}
        )
    return {number: found[number] for number in needed}


def _show_ratings(dialog: RememberedDialog, rated: Any) -> None:
    """Show ratings in the dialog's attributes (place -1) and in the bodies of utterances."""
    ratings: dict[int, list[bytes]] = {}
    for position, shown in rated:
        ratings.setdefault(position, []).append(shown)
    if of_dialog := ratings.get(-1):
        dialog.attributes = agent_state.attributes_with_ratings(dialog.attributes, of_dialog)
        dialog.rating = agent_state.last_rating(of_dialog)
    first = dialog.length - len(dialog.recent)
    for position, some in ratings.items():
        if position >= first:
            place = position - first
            one = dialog.recent[place]
            body = agent_state.add_ratings(one.body, some)
            dialog.recent[place] = structs.replace(one, body=body)
