"""Dialogs through this door: they are shown and rated, and persons are deleted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Final
from urllib.parse import urlencode

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.http import HttpResponse, Visitor
from prolocutor.contracts.store import DialogQuery
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.dialog import Dialog
from prolocutor.dialog.ids import timestamp
from prolocutor.doors.http.messages import (
    DialogIds,
    DialogIdsQuery,
    DialogPath,
    DialogRating,
    UserPath,
    UtteranceRating,
    Wire,
)
from prolocutor.doors.http.speakers import rater
from prolocutor.errors import BadInput, Forbidden, NotFound
from prolocutor.web.operations import TypedRequest
from prolocutor.web.speaking import may_see

MAX_RATING: Final = 10_000


class DialogEndpoints:
    """The endpoints for stored dialogs: operators see all of them, persons their own."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def show_dialog(self, request: TypedRequest[DialogPath, None]) -> HttpResponse:
        """Return one dialog as a whole."""
        id_ = request.params.dialog_id.lower()
        await self._check_owner(request.visitor, id_, "dialog_id")
        dialog = await self._assistant.store.dialog(id_)
        if dialog is None:
            raise _unknown(id_, "dialog_id")
        return HttpResponse(self._encode(dialog, request.params.wire))

    async def list_dialogs(self, request: TypedRequest[DialogIdsQuery, None]) -> DialogIds:
        """Return the ids of dialogs, oldest first."""
        query, visitor = request.params, request.visitor
        user = None if visitor.kind == "operator" else _own_name(visitor)
        found = await self._assistant.store.dialog_ids(
            DialogQuery(user=user, active=query.active, offset=query.offset, limit=query.limit + 1)
        )
        following = None
        if len(found) > query.limit:
            page = {"offset": query.offset + query.limit, "limit": query.limit}
            if query.active is not None:
                page["_active"] = int(query.active)
            following = "?" + urlencode(page)
        return DialogIds(found[: query.limit], following)

    async def list_dialogs_of(self, request: TypedRequest[UserPath, None]) -> HttpResponse:
        """Return all dialogs of one person, as wholes."""
        user = request.params.user_external_id
        if not may_see(request.visitor, user):
            raise Forbidden("the dialogs of others are for operators", field="user_external_id")
        pieces = self._dialogs(user, request.params.wire)
        first = await anext(pieces)  # a store that cannot be read is still an error then
        return HttpResponse(_from(first, pieces))

    async def delete_person(self, request: TypedRequest[UserPath, None]) -> None:
        """Delete a person with all that is theirs (operators)."""
        user = request.params.user_external_id
        if not await self._assistant.archive.delete_person(user):
            raise NotFound(f"nobody is called {user!r}", field="user_external_id")

    async def rate_dialog(self, request: TypedRequest[None, DialogRating]) -> None:
        """Rate a dialog."""
        body = request.body
        id_ = body.dialog_id.lower()
        user = await self._rater(request.visitor, id_, "dialog_id", body)
        await self._assistant.store.rate_dialog(id_, body.rating, user, timestamp())

    async def rate_utterance(self, request: TypedRequest[None, UtteranceRating]) -> None:
        """Rate an utterance."""
        body = request.body
        id_ = body.utt_id.lower()
        user = await self._rater(request.visitor, id_, "utt_id", body)
        await self._assistant.archive.rate(id_, body.rating, user)

    async def _rater(
        self, visitor: Visitor, id_: str, field: str, body: DialogRating | UtteranceRating
    ) -> str | None:
        """Return who rates; None for an operator who names no user."""
        if len(plain.encode(body.rating)) > MAX_RATING:
            raise BadInput(f"a rating has at most {MAX_RATING:,} bytes", field="rating")
        user = rater(visitor, body.user_id)
        return await self._check_owner(visitor, id_, field) or user

    async def _check_owner(self, visitor: Visitor, id_: str, field: str) -> str | None:
        """Return the owner of a dialog or utterance; None for an operator, who need not be.

        Raise `NotFound` for what belongs to another person exactly as for what does not exist, so
        that the response does not tell which it is.
        """
        if visitor.kind == "operator":
            return None
        owner = await self._assistant.store.owner_of(id_)
        if not may_see(visitor, owner):
            raise _unknown(id_, field)
        return owner

    async def _dialogs(self, user: str, wire: Wire) -> AsyncIterator[bytes]:
        before = b"["
        async for dialog in self._assistant.store.export(user=user):
            yield before + self._encode(dialog, wire)
            before = b","
        yield b"]" if before == b"," else b"[]"

    def _encode(self, dialog: Dialog, wire: Wire) -> bytes:
        """Return a dialog as services see it; of a pipeline of DeepPavlov Agent with its personas,
        as on its wire."""
        as_now = self._assistant.engine.prepared.user_snapshot == "current"
        if wire == "native" and not as_now:
            return agent_state.encode_dialog(dialog)
        state = agent_state.dialog_to_state(dialog)
        if as_now:
            for one in state["utterances"]:
                now = state["bot" if agent_state.is_bot(one) else "human"]
                one["user"] = agent_state.profile_as_now(one["user"], now)
        if wire == "deeppavlov" or as_now:
            people = [state["human"], state["bot"], *(one["user"] for one in state["utterances"])]
            for person in people:
                person["persona"] = {} if person["persona"] == [] else person["persona"]
        return plain.encode(state)


async def _from(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    async for piece in rest:
        yield piece


def _own_name(visitor: Visitor) -> str:
    if visitor.user is None:
        raise Forbidden("lists of dialogs are for persons and operators")
    return visitor.user


def _unknown(id_: str, field: str) -> NotFound:
    kind = "dialog" if field == "dialog_id" else "utterance"
    return NotFound(f"there is no {kind} {id_}", field=field)
