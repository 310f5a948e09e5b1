"""What was said: looking dialogs up, rating them, deleting people."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any, Final
from urllib.parse import urlencode

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import HttpRequest, HttpResponse, Visitor
from prolocutor.contracts.store import DialogQuery
from prolocutor.deeppavlov.door.speakers import may_see, rater
from prolocutor.dialog import agent_state, plain
from prolocutor.dialog.ids import timestamp
from prolocutor.errors import BadInput, Forbidden, NotFound
from prolocutor.web.requests import json_object, json_response

MAX_LIMIT: Final = 1000
MAX_RATING: Final = 10_000

_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_ACTIVE: Final = {"1": True, "true": True, "0": False, "false": False}


class DialogEndpoints:
    """Shows operators everything and persons what is theirs."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def dialog(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/dialogs/{dialog_id}`: by `dialog_id` or `_id`."""
        id_ = request.params["dialog_id"]
        if not _HEX.fullmatch(id_):
            raise BadInput("a dialog's id is made of hex digits", field="dialog_id")
        id_ = id_.lower()
        await self._check_owner(request.visitor, id_, "dialog_id")
        dialog = await self._assistant.store.dialog(id_)
        if dialog is None:
            raise _unknown(id_, "dialog_id")
        return HttpResponse(agent_state.encode_dialog(dialog))

    async def dialog_ids(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/dialogs/`: the ids, page by page."""
        offset = _number(request, "offset", 0, 0, 1 << 53)
        limit = _number(request, "limit", 100, 1, MAX_LIMIT)
        given = request.query("_active")
        active = _ACTIVE.get(given.lower()) if given else None
        if given and active is None:
            raise BadInput("_active is 1 or 0", field="_active")
        user = None if request.visitor.kind == "operator" else _own(request.visitor)
        found = await self._assistant.store.dialog_ids(
            DialogQuery(user=user, active=active, offset=offset, limit=limit + 1)
        )
        following = None
        if len(found) > limit:
            page = {"offset": offset + limit, "limit": limit}
            following = "?" + urlencode(
                page if active is None else {**page, "_active": int(active)}
            )
        return json_response({"dialog_ids": found[:limit], "next": following})

    async def dialogs_of(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/user/{user_external_id}`: all dialogs of a person, whole."""
        user = request.params["user_external_id"]
        if not may_see(request.visitor, user):
            raise Forbidden("the dialogs of others are for operators", field="user_external_id")
        return HttpResponse(self._dialogs(user))

    async def delete(self, request: HttpRequest) -> HttpResponse:
        """Answer `DELETE /api/user/{user_external_id}`."""
        user = request.params["user_external_id"]
        if not await self._assistant.delete_person(user):
            raise NotFound(f"nobody is called {user!r}", field="user_external_id")
        return HttpResponse(status=204)

    async def rate_dialog(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /rating/dialog`."""
        id_, rating, user = await self._rating(request, "dialog_id")
        await self._assistant.store.rate_dialog(id_.lower(), rating, user, timestamp())
        return HttpResponse()

    async def rate_utterance(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /rating/utterance`."""
        id_, rating, user = await self._rating(request, "utt_id")
        await self._assistant.rate_utterance(id_.lower(), rating, user)
        return HttpResponse()

    async def _rating(self, request: HttpRequest, field: str) -> tuple[str, Any, str | None]:
        body = await json_object(request)
        id_, rating = body.get(field), body.get("rating")
        if not isinstance(id_, str):
            raise BadInput(f"{field} is needed, as a text", field=field)
        if rating is None:
            raise BadInput("a rating is needed", field="rating")
        if len(plain.encode(rating)) > MAX_RATING:
            raise BadInput(f"a rating has at most {MAX_RATING:,} bytes", field="rating")
        user = rater(request.visitor, body.get("user_id"))
        owner = await self._check_owner(request.visitor, id_.lower(), field)
        return id_, rating, owner or user

    async def _check_owner(self, visitor: Visitor, id_: str, field: str) -> str | None:
        """Return whose this is, None to operators, who need not be.

        `NotFound` for what is somebody else's as for what is nobody's: it tells nothing.
        """
        if visitor.kind == "operator":
            return None
        owner = await self._assistant.store.owner_of(id_)
        if not may_see(visitor, owner):
            raise _unknown(id_, field)
        return owner

    async def _dialogs(self, user: str) -> AsyncIterator[bytes]:
        before = b"["
        async for dialog in self._assistant.store.export(user=user):
            yield before + agent_state.encode_dialog(dialog)
            before = b","
        yield b"]" if before == b"," else b"[]"


def _own(visitor: Visitor) -> str:
    if visitor.user is None:
        raise Forbidden("lists of dialogs are for persons and operators")
    return visitor.user


def _unknown(id_: str, field: str) -> NotFound:
    return NotFound(
        f"there is no {'dialog' if field == 'dialog_id' else 'utterance'} {id_}", field=field
    )


def _number(request: HttpRequest, name: str, default: int, least: int, most: int) -> int:
    given = request.query(name)
    if given is None or given == "":
        return default
    if not (given.isascii() and given.isdigit() and len(given) < 17):
        raise BadInput(f"{name} is a whole number", field=name)
    number = int(given)
    if not least <= number <= most:
        raise BadInput(f"{name} is between {least} and {most}", field=name)
    return number
