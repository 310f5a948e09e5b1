"""Shared conversations: a person lets others read a conversation by a link, until it is stopped."""

from __future__ import annotations

import secrets
import time
from typing import Annotated, Final

import msgspec
from msgspec import Meta

from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse
from prolocutor.contracts.store import Store
from prolocutor.errors import NotFound
from prolocutor.plugins.page.conversations import (
    PAGE_ROWS,
    OwnConversationPath,
    OwnConversations,
    SaidFrame,
)
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.static_files import CachedCopy, StaticFiles

SHARE: Final = "conversation-share"
"""The kind of the records of what a person shares, by the name of the dialog."""

OPENED: Final = "opened-share"
"""The kind of the assistant's own records, which lead from a link's token to whose it is."""

FILE: Final = "shared.html"
SHOWN: Final = ("type", "text", "command", "format", "icon", "skills", "url", "alt", "rdl",
                "result", "fallback", "utt_id")  # fmt: skip
"""The members of messages that a link shows; what answers or acts is left out."""
KINDS: Final = frozenset({"text", "command", "picture", "audio", "video", "rdl", "result"})


class KeptShare(msgspec.Struct, frozen=True):
    """A share of a conversation: the link's token, the last shared message, the time of sharing."""

    token: str
    until: int
    at: float


class OpenedShare(msgspec.Struct, frozen=True):
    """The conversation that a token opens, and its person."""

    user: str
    dialog: str


class SharedLink(msgspec.Struct, frozen=True):
    """The path of a conversation's link, null if it is not shared; `at` is the time of sharing."""

    path: str | None
    at: float | None


class SharedPath(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of a request for a shared conversation."""

    token: Annotated[str, Meta(max_length=100)]
    after: Annotated[int, Meta(ge=-1, le=2**53)] = -1


class SharedPagePath(CachedCopy, frozen=True, kw_only=True):
    """The parameters of a request for the page of a link."""

    token: Annotated[str, Meta(max_length=100)]


class SharedConversation(msgspec.Struct, frozen=True):
    """The messages of a shared conversation until it was shared, in order.

    `next` is the `after` of the next page, null at the end.
    """

    title: str
    at: float
    items: list[SaidFrame]
    next: int | None


class SharedConversations:
    """Makes links to conversations, ends them, and shows shared conversations to anybody."""

    def __init__(self, own: OwnConversations, store: Store, files: StaticFiles) -> None:
        self._own, self._store, self._files = own, store, files
        one = "/api/shares/{conversation:path}"
        errors = [NotFound]
        page = Operation(
            self.shared_page,
            produces="text/html",
            statuses={404: "The link has ended."},
        )
        self.routes: list[Route] = [
            Route("GET", one, Operation(self.show_share, errors=errors)),
            Route("PUT", one, Operation(self.share, errors=errors)),
            Route("DELETE", one, Operation(self.stop_sharing, status=204, errors=errors)),
            Route("GET", "/api/shared/{token}", Operation(self.load_shared, errors=errors), "all"),
            Route("GET", "/shared/{token}", page, "all"),
        ]

    async def show_share(self, request: TypedRequest[OwnConversationPath, None]) -> SharedLink:
        """Return the link of one's own conversation, if it is shared."""
        kept = await self._kept(*await self._own.found(request.visitor, request.params))
        return SharedLink(None, None) if kept is None else _link(kept)

    async def share(self, request: TypedRequest[OwnConversationPath, None]) -> SharedLink:
        """Let anybody with the link read the present messages of one's own conversation."""
        user, dialog = await self._own.found(request.visitor, request.params)
        (last,) = await self._store.feed_tail(user, dialog, 1)
        kept = await self._kept(user, dialog)
        token = secrets.token_urlsafe(24) if kept is None else kept.token
        new = KeptShare(token, last.id or 0, time.time())
        opened = msgspec.json.encode(OpenedShare(user, dialog))
        about = last.dialog_id
        await self._store.put_record(user, SHARE, dialog, msgspec.json.encode(new), about=about)
        await self._store.put_record("", OPENED, token, opened, about=about)
        return _link(new)

    async def stop_sharing(self, request: TypedRequest[OwnConversationPath, None]) -> None:
        """End the link of one's own conversation."""
        user, dialog = await self._own.found(request.visitor, request.params)
        if (kept := await self._kept(user, dialog)) is not None:
            await self._store.delete_record(user, SHARE, dialog)
            await self._store.delete_record("", OPENED, kept.token)

    async def load_shared(self, request: TypedRequest[SharedPath, None]) -> SharedConversation:
        """Return the messages of a shared conversation."""
        found = await self._find_open(request.params.token)
        if found is None:
            raise NotFound("This link has ended, or never was one.", field="token")
        whose, kept = found
        after = request.params.after
        rows = await self._store.feed_tail(whose.user, whose.dialog, PAGE_ROWS, after)
        said = [row for row in rows if row.id is not None and row.id <= kept.until]
        items = [
            SaidFrame(row.id or 0, shown) for row in said if (shown := _shared_parts(row.message))
        ]
        more = len(rows) == PAGE_ROWS and len(said) == PAGE_ROWS
        title = await self._own.title(whose.user, whose.dialog)
        return SharedConversation(title, kept.at, items, said[-1].id if more else None)

    async def shared_page(self, request: TypedRequest[SharedPagePath, None]) -> HttpResponse:
        """Return the page that shows a shared conversation."""
        page = self._files.find(FILE, request.params)
        if await self._find_open(request.params.token) is not None:
            return page
        return msgspec.structs.replace(page, status=404) if page.status == 200 else page

    async def _find_open(self, token: str) -> tuple[OpenedShare, KeptShare] | None:
        """Return the conversation that a token opens; None if the link has ended."""
        opened = await self._store.record("", OPENED, token)
        whose = None if opened is None else msgspec.json.decode(opened, type=OpenedShare)
        kept = None if whose is None else await self._kept(whose.user, whose.dialog)
        return None if whose is None or kept is None or kept.token != token else (whose, kept)

    async def _kept(self, user: str, dialog: str) -> KeptShare | None:
        body = await self._store.record(user, SHARE, dialog)
        return None if body is None else msgspec.json.decode(body, type=KeptShare)


def _link(kept: KeptShare) -> SharedLink:
    return SharedLink(f"/shared/{kept.token}", kept.at)


def _shared_parts(message: bytes | None) -> msgspec.Raw | None:
    """Return the shared parts of a message, or None."""
    try:
        frame = msgspec.json.decode(message or b"null")
    except msgspec.DecodeError:
        return None
    if not isinstance(frame, dict) or frame.get("type") not in KINDS:
        return None
    return msgspec.Raw(msgspec.json.encode({name: frame[name] for name in SHOWN if name in frame}))
