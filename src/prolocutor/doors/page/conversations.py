"""A person's conversations at the chat page: the list, renaming, deleting, and search in them."""

from __future__ import annotations

import re
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import Visitor, spend
from prolocutor.contracts.store import ConversationRow, FeedRow, RecordStore
from prolocutor.dialog import plain
from prolocutor.dialog.ids import parse_time
from prolocutor.errors import BadInput, Forbidden, NotFound
from prolocutor.web.door_context import DoorPersons
from prolocutor.web.operations import Operation, TypedRequest

PREFIX: Final = "almond:"
"""The prefix of the users of the wire that the page speaks."""

PERSONS: Final = DoorPersons(PREFIX)

_ANONYMOUS: Final = re.compile(r"web-([0-9a-f]{32})(?:\.([\w-]{1,64}))?")
_MAIN: Final = "main"


class PageUser(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters that name the user."""

    id: Annotated[
        str | None, Meta(description="The conversation by which an anonymous person is known.")
    ] = None
    user: Annotated[str | None, Meta(description="The user for whom an operator speaks.")] = None


def user_of(visitor: Visitor, params: PageUser) -> str:
    """Return the user that a visitor speaks for.

    An anonymous visitor is known by the id of the conversation, which cannot be guessed; raise
    `Forbidden` without one.
    """
    user = PERSONS.find(visitor, params.user if visitor.kind == "operator" else None)
    if user is not None:
        return user
    known = _ANONYMOUS.fullmatch(params.id or "")
    if known is None:
        raise Forbidden("without a token give the id of your conversation", field="id")
    return PERSONS.anonymous(known[1])


def dialog_of(visitor: Visitor, params: PageUser, conversation: str) -> str | None:
    """Return the name of the dialog that is one's own conversation of this id, None if it is none.

    An anonymous visitor's ids begin with the id by which the visitor is known.
    """
    if visitor.kind != "anonymous":
        return conversation or _MAIN
    mine, known = _ANONYMOUS.fullmatch(params.id or ""), _ANONYMOUS.fullmatch(conversation)
    if mine is None or known is None or mine[1] != known[1]:
        return None
    return known[2] or _MAIN


def conversation_id(visitor: Visitor, params: PageUser, dialog: str) -> str:
    """Return the id of the conversation that is one's own dialog of this name."""
    mine = _ANONYMOUS.fullmatch(params.id or "")
    if visitor.kind != "anonymous" or mine is None:
        return dialog
    return f"web-{mine[1]}" if dialog == _MAIN else f"web-{mine[1]}.{dialog}"


def may_see(visitor: Visitor, params: PageUser, user: str | None) -> bool:
    """Return whether a visitor may see what belongs to a user."""
    return visitor.kind == "operator" or user == user_of(visitor, params)


TITLE: Final = 40
"""Characters of a title that is made of the first words."""

AROUND: Final = 60
SHOWN: Final = 200
"""Characters that a search shows before the first word found, and in all."""


class SaidMessage(msgspec.Struct, frozen=True):
    """What is read of a row's message; everything else in it counts for nothing."""

    type: str = ""
    text: Any = None
    command: Any = None
    title: Any = None
    alt: Any = None
    icon: Any = None
    utt_id: str = ""

    def around(self, wanted: list[str]) -> str | None:
        """Return the words around the first one that is wanted; None unless all are there."""
        parts = (self.command, self.text, self.title, self.alt)
        text = " ".join(one for one in parts if isinstance(one, str))
        folded = text.casefold()
        places = [folded.find(word) for word in wanted]
        if -1 in places:
            return None
        start = max(0, min(places) - AROUND)
        shown = " ".join(text[start : start + SHOWN].split())
        before = "…" if start else ""
        return before + shown + ("…" if start + SHOWN < len(text) else "")


def read_message(message: bytes | None) -> SaidMessage:
    """Read the message of a row; one that is no such object says nothing."""
    try:
        read = _DECODER.decode(message) if message else _NOTHING
    except msgspec.DecodeError:
        return _NOTHING
    if read.icon is not None and not isinstance(read.icon, str):
        return msgspec.structs.replace(read, icon=None)
    return read


def may_have(message: bytes | None, wanted: list[str]) -> bool:
    """Return whether a row may have all words, without reading it.

    Where both are ASCII they stand there as they are; in other texts folded letters may differ.
    """
    if message is None:
        return False
    if not message.isascii():
        return True
    lower = message.lower()
    return all(word.encode() in lower for word in wanted if word.isalnum())


def first_words(text: object) -> str:
    """Return the beginning of a text as a title, cut between words where that is possible."""
    words = " ".join(text.split()) if isinstance(text, str) else ""
    if len(words) <= TITLE:
        return words
    cut, _, rest = words[:TITLE].rpartition(" ")
    return f"{cut if len(cut) > len(rest) else words[: TITLE - 1]}…"


def time_of_id(id_: str) -> float:
    """Return when an id was made (seconds, UNIX): it begins with the milliseconds."""
    try:
        return int(id_[:12], 16) / 1000
    except ValueError:
        return 0.0


_DECODER: Final = msgspec.json.Decoder(SaidMessage)
_NOTHING: Final = SaidMessage()


KIND: Final = "conversation-title"
"""The kind of the records with the titles that persons gave, by the name of the dialog."""

MAX_TITLE: Final = 80
MAX_WORDS: Final = 200

SCANNED: Final = 20_000
PAGE: Final = 500
"""Rows of the feed that one search looks through, and that it reads at once."""


class PageOfList(PageUser, frozen=True, kw_only=True):
    """The parameters of a page of a list."""

    cursor: Annotated[
        str | None, Meta(description="The `next` of the page before; none for the first page.")
    ] = None
    limit: Annotated[
        int, Meta(ge=1, le=200, extra={"error": "limit is a whole number from 1 to 200"})
    ] = 50


class SearchParams(PageOfList, frozen=True, kw_only=True):
    """The parameters of a search."""

    words: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=MAX_WORDS,
            description="Found is what has all of them, as parts of words, in any case.",
            extra={"error": f"words has 1 to {MAX_WORDS} characters"},
        ),
    ]


class OwnConversationPath(PageUser, frozen=True, kw_only=True):
    """The parameters of a request about one conversation."""

    conversation: Annotated[str, Meta(description="The `id` of a conversation in the list.")]


class ConversationSummary(msgspec.Struct, frozen=True):
    """A conversation in the list; `id` is what `?id=` of the page and the socket takes."""

    id: str
    title: Annotated[
        str, Meta(description="As the person named it, else its first words; may be empty.")
    ]
    renamed: bool
    at: Annotated[float, Meta(description="When something was said last, in seconds (UNIX).")]


class ConversationList(msgspec.Struct, frozen=True):
    """A page of conversations, the latest first."""

    items: list[ConversationSummary]
    next: str | None


class ConversationTitle(msgspec.Struct, frozen=True):
    """What a conversation is to be called; null for its first words."""

    title: Annotated[
        Annotated[str, Meta(max_length=MAX_TITLE)] | None,
        Meta(extra={"error": f"a title has at most {MAX_TITLE} characters"}),
    ]


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was found.

    `message` is its `id` in the frames of the conversation, `text` its words around the first that
    was looked for. `icon` names who said it, null for the person. `at` (seconds, UNIX) is null
    where the time is not known.
    """

    conversation: str
    message: int
    text: str
    own: bool
    icon: str | None
    at: float | None


class SearchHits(msgspec.Struct, frozen=True):
    """A page of what was found, the latest first.

    A page may have few items, or none, and a `next`: it looks through so many messages at most.
    """

    items: list[SearchHit]
    next: str | None


class OwnConversations:
    """Answers for the list of conversations and for search, each person for their own."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._store = assistant.store
        one = "/api/conversations/{conversation:path}"
        rename = Operation(self.rename_conversation, status=204, errors=[NotFound])
        delete = Operation(self.delete_conversation, status=204, errors=[NotFound])
        self.routes: list[Route] = [
            Route("GET", "/api/conversations", Operation(self.conversations)),
            Route("PATCH", one, rename),
            Route("DELETE", one, delete),
            Route("GET", "/api/search", Operation(self.search)),
        ]

    async def conversations(self, request: TypedRequest[PageOfList, None]) -> ConversationList:
        """List one's own conversations."""
        params, store = request.params, self._store
        user = user_of(request.visitor, params)
        rows = await store.conversations(user, _number(params.cursor), params.limit + 1)
        shown = rows[: params.limit]
        titles = await _titles(store, user)
        items = [_summary(row, titles.get(row.name), request.visitor, params) for row in shown]
        return ConversationList(items, str(shown[-1].n) if len(rows) > len(shown) else None)

    async def rename_conversation(
        self, request: TypedRequest[OwnConversationPath, ConversationTitle]
    ) -> None:
        """Rename a conversation, or name it by its first words again."""
        user, dialog = await self._found(request.visitor, request.params)
        title = " ".join((request.body.title or "").split())
        if title:
            await self._store.put_record(user, KIND, dialog, plain.encode(title))
        else:
            await self._store.delete_record(user, KIND, dialog)

    async def delete_conversation(self, request: TypedRequest[OwnConversationPath, None]) -> None:
        """Delete a conversation with all that was said in it."""
        user, dialog = await self._found(request.visitor, request.params)
        await self._store.delete_record(user, KIND, dialog)  # before, so that it is erased as well
        await self._assistant.archive.delete(user, dialog)

    async def search(self, request: TypedRequest[SearchParams, None]) -> SearchHits:
        """Find what was said by or to oneself, in all conversations."""
        params = request.params
        user = user_of(request.visitor, params)
        wanted = params.words.casefold().split()
        if not wanted:
            raise BadInput("words has no word", field="words")
        before, found = _number(params.cursor), list[SearchHit]()
        later: dict[str, bytes | None] = {}
        for _ in range(SCANNED // PAGE):
            rows = await self._store.feed_before(user, before, PAGE)
            spend("backlog", user, max(1, len(rows)))
            for row in rows:
                before, name = row.n, row.dialog_name
                hit = _hit(row, wanted, later.get(name)) if may_have(row.message, wanted) else None
                if hit is not None:
                    id_ = conversation_id(request.visitor, params, name)
                    found.append(msgspec.structs.replace(hit, conversation=id_))
                    if len(found) == params.limit:
                        return SearchHits(found, str(before))
                later[name] = row.message
            if len(rows) < PAGE:
                return SearchHits(found, None)
        return SearchHits(found, str(before))

    async def _found(self, visitor: Visitor, params: OwnConversationPath) -> tuple[str, str]:
        """Return the user and the dialog name of one's own conversation; raise `NotFound`."""
        user = user_of(visitor, params)
        dialog = dialog_of(visitor, params, params.conversation)
        if dialog is None or not await self._store.feed_tail(user, dialog, 1):
            raise NotFound("there is no conversation of this id", field="conversation")
        return user, dialog


async def _titles(store: RecordStore, user: str) -> dict[str, str]:
    given = await store.records(user, KIND)
    return {name: msgspec.json.decode(body, type=str) for name, body in given.items()}


def _summary(
    row: ConversationRow, title: str | None, visitor: Visitor, params: PageUser
) -> ConversationSummary:
    return ConversationSummary(
        conversation_id(visitor, params, row.name),
        title or first_words(read_message(row.first).command),
        title is not None,
        parse_time(row.at),
    )


def _hit(row: FeedRow, wanted: list[str], later: bytes | None) -> SearchHit | None:
    """Return a row that has all words; `later` is the row after it, by which words have a time."""
    message = read_message(row.message)
    found = message.around(wanted)
    if found is None or row.id is None:
        return None
    utt_id = message.utt_id or read_message(later).utt_id
    return SearchHit(
        conversation=row.dialog_name,
        message=row.id,
        text=found,
        own=message.type == "command",
        icon=message.icon,
        at=time_of_id(utt_id) if utt_id else None,
    )


def _number(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 19):
        raise BadInput("a cursor is the next of another page", field="cursor")
    return max(1, int(cursor))
