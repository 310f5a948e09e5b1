"""Controls of the soak of replicas: faults that are put in on purpose, which it has to find.

`fence`: a run that was taken over stores and speaks as if it were not. `ttl`: a lock with a time to
live, which others take when it is over. `hints`: other replicas are not told of news. `stale`:
a turn is opened as one statement would, with the window as it was before the wait for the lock.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

import asyncpg

from prolocutor.contracts.store import TurnClosing
from prolocutor.errors import TakenOver
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.postgresql.wake_ups import PostgresqlWakeUps

CONTROLS: Final = ("fence", "ttl", "hints", "stale")

_ANY_RUN: Final = (
    "AND y.attempt = attempts[i] AND y.replica = me RETURNING * INTO o",
    "RETURNING * INTO o",
)
_ANY_REPLICA: Final = ("IF living AND holders[i] = me THEN", "IF true THEN")
_LOCK: Final = 'SELECT * INTO p FROM people y WHERE y."user" = users[i] FOR NO KEY UPDATE;'
_TIME_TO_LIVE: Final = (
    _LOCK,
    _LOCK
    + """
        DELETE FROM open_turns y WHERE y.person = p.person AND y.turn_id <> turn_ids[i]
            AND y.started < extract(epoch from clock_timestamp()) - 0.3;""",
)
_DECLARE: Final = ("DECLARE p people;", "DECLARE p people; p0 people; d0 dialogs; r0 begun;")
_LOOK_BEFORE: Final = (
    _LOCK,
    """r0 := NULL; SELECT * INTO p0 FROM people y WHERE y."user" = users[i];
        IF FOUND THEN
            SELECT * INTO d0 FROM dialogs y
            WHERE y.person = p0.person AND y.name = names[i] AND y.active;
            r0 := read_head(r0, p0, d0, reaches[i], shown[i]);
            IF EXISTS (SELECT FROM open_turns y WHERE y.person = p0.person) THEN
                PERFORM pg_sleep(0.1);
            END IF;
        END IF;
        """
    + _LOCK,
)
_HEAD: Final = "r := read_head(r, p, d, reaches[i], shown[i]);\n            r.id := r.said + 1;"
_SHOW_IT: Final = (
    _HEAD,
    _HEAD
    + """
            IF r0.person IS NOT NULL THEN
                r.by_bot := r0.by_bot; r.bodies := r0.bodies; r.user_versions := r0.user_versions;
                r.hypotheses := r0.hypotheses;
            END IF;""",
)
_CHANGES: Final[dict[str, dict[str, tuple[tuple[str, str], ...]]]] = {
    "fence": {"finish_turns": (_ANY_RUN, _ANY_REPLICA)},
    "ttl": {"begin_turns": (_TIME_TO_LIVE,)},
    "hints": {},
    "stale": {"begin_turns": (_DECLARE, _LOOK_BEFORE, _SHOW_IT)},
}


async def change_functions(url: str, control: str) -> None:
    """Change the functions of a database that has all its tables."""
    connection = await asyncpg.connect(url)
    for name, changes in _CHANGES[control].items():
        source = await connection.fetchval(f"SELECT pg_get_functiondef('{name}'::regproc)")
        for old, new in changes:
            if old not in source:
                raise LookupError(f"{name} has no {old!r} any more: mend the control {control!r}")
            source = source.replace(old, new)
        await connection.execute(source)
    await connection.close()


def sabotage(controls: Sequence[str]) -> None:
    """Change the program of this process."""
    if "hints" in controls:
        PostgresqlWakeUps.wake = _no_hint  # type: ignore[method-assign]
    if not {"fence", "ttl"}.isdisjoint(controls):
        PostgresqlStore.close_turn = _believing(PostgresqlStore.close_turn)  # type: ignore[method-assign]


def _no_hint(self: PostgresqlWakeUps, user: str) -> None:
    """Send no hint."""


def _believing(close_turn: Any) -> Any:
    async def close(self: PostgresqlStore, finished: TurnClosing) -> None:
        with suppress(TakenOver):  # without a fence nobody would know
            await close_turn(self, finished)

    return close
