"""StoredReplies: the reply that another replica has stored for a turn that ran here as well."""

from __future__ import annotations

from prolocutor.assistant.person_access import PersonAccess, ReplicaStore
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.store import OpenedTurn
from prolocutor.dialog import plain
from prolocutor.dialog.agent_state import bot_utterance_to_state
from prolocutor.dialog.rounds import PendingAsk
from prolocutor.dialog.utterances import BotUtterance
from prolocutor.errors import StoreError, TakenOver

_ROWS = 200
"""Rows of the feed that are searched for the closing of a turn."""


class StoredReplies:
    """Waits for what another replica stores: a refused replica speaks the stored reply."""

    def __init__(self, store: ReplicaStore, access: PersonAccess) -> None:
        self._store = store
        self._access = access

    async def reply_to(self, opened: OpenedTurn) -> TurnResult:
        """Return the stored result of a turn; raise `TakenOver` if there is none in time."""
        said = opened.opening
        with self._access.pauses(said.user) as pauses:
            while True:
                try:
                    if (found := await self._find(opened)) is not None:
                        return found
                except StoreError:
                    pass  # the database may be back in time
                if not await pauses.pause():
                    raise TakenOver(f"another replica runs turn {said.turn_id}; ask again later")

    async def _find(self, opened: OpenedTurn) -> TurnResult | None:
        said = opened.opening
        turn = await self._store.turn(said.bot_utt_id)
        if not turn or not isinstance(reply := turn[-1], BotUtterance):
            return None
        return TurnResult(
            turn_id=said.turn_id,
            dialog_id=opened.dialog_id,
            human_utt_id=said.utt_id,
            user=said.user,
            n=opened.feed,
            waiting=await self._waiting(opened, reply),
            reply_state=plain.encode(bot_utterance_to_state(reply)),
        )

    async def _waiting(self, opened: OpenedTurn, reply: BotUtterance) -> PendingAsk | None:
        """Return what clients are shown of the ask that the turn left open."""
        for row in await self._store.feed(opened.opening.user, opened.feed, _ROWS):
            if row.closing is not None:
                closing = plain.decode(row.closing)
                if closing["ask"] is None:
                    return None
                return PendingAsk(
                    ask=closing["ask"],
                    skill=reply.active_skill,
                    code=closing.get("code", []),
                    entities=closing.get("entities", {}),
                )
        return None
