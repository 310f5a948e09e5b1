"""A person's conversations at the chat page: the list, renaming, deleting, and search in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import UNSET, Meta, UnsetType

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import Visitor, spend
from prolocutor.contracts.store import ConversationRow, FeedRow, RecordStore, Store
from prolocutor.dialog import plain
from prolocutor.dialog.ids import parse_time
from prolocutor.errors import BadInput, Forbidden, NotFound
from prolocutor.web.door_context import DoorPersons
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.titles import GIVEN_TITLE, drop_uploads, given_titles, says_enough, title_of

PREFIX: Final = "almond:"
"""The prefix of the users of the wire that the page speaks."""

PERSONS: Final = DoorPersons(PREFIX)

_ANONYMOUS: Final = re.compile(r"web-([0-9a-f]{32})(?:\.([\w-]{1,64}))?")
_MAIN: Final = "main"

CHARACTERS_BEFORE: Final = 60
EXCERPT_CHARACTERS: Final = 200
"""Characters that a search shows before the first word found, and in all."""

_SPACES: Final = re.compile(r"[^\S\n]+")
"""Spaces between words; line ends stay, as Markdown is read by them."""

MARKS: Final = "conversation-marks"
"""The kind of the records of what is pinned, put away and tagged, by the name of the dialog."""

MAX_TITLE: Final = 80
MAX_WORDS: Final = 200
MAX_PINNED: Final = 20
MAX_TAGS: Final = 8

READ_FOR_TITLE: Final = 20
"""Rows of a conversation that are read for its title."""

MAX_SCANNED_ROWS: Final = 20_000
PAGE_ROWS: Final = 500
"""Rows of the feed that one search looks through, and that it reads at once."""

MAX_LISTED: Final = 200
LOOKS: Final = 20
"""Conversations that are read at once where some are left out, and how often for one list."""

Tag: TypeAlias = Annotated[
    str, Meta(min_length=1, max_length=30, extra={"error": "a tag has 1 to 30 characters"})
]


class PageUser(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters that name the user."""

    id: Annotated[
        str | None, Meta(description="The conversation by which an anonymous person is known.")
    ] = None
    user: Annotated[str | None, Meta(description="The user for whom an operator speaks.")] = None


def find_user(visitor: Visitor, params: PageUser) -> str:
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


def find_dialog_name(visitor: Visitor, params: PageUser, conversation: str) -> str | None:
    """Return the dialog name of one's own conversation with an id, None for another's conversation.

    An anonymous visitor's ids begin with the id by which the visitor is known.
    """
    if visitor.kind != "anonymous":
        return conversation or _MAIN
    mine, known = _ANONYMOUS.fullmatch(params.id or ""), _ANONYMOUS.fullmatch(conversation)
    if mine is None or known is None or mine[1] != known[1]:
        return None
    return known[2] or _MAIN


def conversation_id(visitor: Visitor, params: PageUser, dialog: str) -> str:
    """Return the conversation id of one's own dialog with a name."""
    mine = _ANONYMOUS.fullmatch(params.id or "")
    if visitor.kind != "anonymous" or mine is None:
        return dialog
    return f"web-{mine[1]}" if dialog == _MAIN else f"web-{mine[1]}.{dialog}"


def may_see(visitor: Visitor, params: PageUser, user: str | None) -> bool:
    """Return whether a visitor may see the data of a user."""
    return visitor.kind == "operator" or user == find_user(visitor, params)


class SaidMessage(msgspec.Struct, frozen=True):
    """The parts of a row's message that are read; all other parts are ignored."""

    type: str = ""
    text: Any = None
    command: Any = None
    title: Any = None
    alt: Any = None
    icon: Any = None
    utt_id: str = ""

    def around(self, wanted: list[str]) -> str | None:
        """Return the text around the first wanted word; None unless all wanted words occur."""
        parts = (self.command, self.text, self.title, self.alt)
        text = " ".join(one for one in parts if isinstance(one, str))
        folded = text.casefold()
        places = [folded.find(word) for word in wanted]
        if -1 in places:
            return None
        start = max(0, min(places) - CHARACTERS_BEFORE)
        shown = drop_uploads(_SPACES.sub(" ", text[start : start + EXCERPT_CHARACTERS]).strip())
        before = "…" if start else ""
        return before + shown + ("…" if start + EXCERPT_CHARACTERS < len(text) else "")


def read_message(message: bytes | None) -> SaidMessage:
    """Read the message of a row; a message of another form is empty."""
    try:
        read = _DECODER.decode(message) if message else _NOTHING
    except msgspec.DecodeError:
        return _NOTHING
    if read.icon is not None and not isinstance(read.icon, str):
        return msgspec.structs.replace(read, icon=None)
    return read


def may_have(message: bytes | None, wanted: list[str]) -> bool:
    """Return whether a row may have all words, without reading it.

    If both are ASCII, the words occur in the row as they are; in other texts folded letters may
    differ.
    """
    if message is None:
        return False
    if not message.isascii():
        return True
    lower = message.lower()
    return all(word.encode() in lower for word in wanted if word.isalnum())


def time_of_id(id_: str) -> float:
    """Return the time of an id (UNIX seconds): an id begins with its milliseconds."""
    try:
        return int(id_[:12], 16) / 1000
    except ValueError:
        return 0.0


_DECODER: Final = msgspec.json.Decoder(SaidMessage)
_NOTHING: Final = SaidMessage()


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
            description="A match has all of them, as parts of words, in any case.",
            extra={"error": f"words has 1 to {MAX_WORDS} characters"},
        ),
    ]


class OwnConversationPath(PageUser, frozen=True, kw_only=True):
    """The parameters of a request about one conversation."""

    conversation: Annotated[str, Meta(description="The `id` of a conversation in the list.")]


class ConversationMarks(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's marks on a conversation."""

    pinned: bool = False
    archived: bool = False
    tags: list[str] = []


class ConversationSummary(msgspec.Struct, frozen=True):
    """A conversation in the list; `id` is the `?id=` of the page and the socket."""

    id: str
    title: Annotated[
        str,
        Meta(description="As the person named it, else the subject of its first request."),
    ]
    renamed: bool
    at: Annotated[float, Meta(description="When something was said last, in seconds (UNIX).")]
    pinned: bool = False
    archived: bool = False
    tags: list[str] = []


class ConversationList(msgspec.Struct, frozen=True):
    """A page of conversations, the latest first.

    A page may have few items, or no items, and a `next`, because it searches a limited number of
    conversations. `pinned` are the pinned conversations, on the first page of the list without a
    tag. `tags` are all tags of the person, `archived` counts the archived conversations.
    """

    items: list[ConversationSummary]
    next: str | None
    pinned: list[ConversationSummary] = []
    tags: list[str] = []
    archived: int = 0


class ListParams(PageOfList, frozen=True, kw_only=True):
    """The parameters of the list, which has archived conversations only on request."""

    tag: Tag | None = None
    kind: Annotated[
        Literal["all", "archived"], Meta(extra={"error": "kind is all or archived"})
    ] = "all"


class ConversationChange(msgspec.Struct, frozen=True):
    """The changes to a conversation; values that are not given stay.

    A `title` of null gives it its first words again.
    """

    title: Annotated[
        Annotated[str, Meta(max_length=MAX_TITLE)] | UnsetType | None,
        Meta(extra={"error": f"a title has at most {MAX_TITLE} characters"}),
    ] = UNSET
    pinned: bool | UnsetType = UNSET
    archived: bool | UnsetType = UNSET
    tags: Annotated[
        Annotated[list[Tag], Meta(max_length=MAX_TAGS)] | UnsetType,
        Meta(extra={"error": f"tags are at most {MAX_TAGS} texts of 1 to 30 characters"}),
    ] = UNSET


class MessagePath(OwnConversationPath, frozen=True, kw_only=True):
    """The parameters of a request for the messages of a conversation."""

    after: Annotated[
        int, Meta(ge=-1, le=2**53, description="The `id` of the last message that is known.")
    ] = -1


class SaidFrame(msgspec.Struct, frozen=True):
    """A message as the wire has it, with its `id`."""

    id: int
    message: msgspec.Raw


class SaidFrames(msgspec.Struct, frozen=True):
    """The messages of a conversation, in order; `next` is the `after` of the next page."""

    items: list[SaidFrame]
    next: int | None


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was found.

    `message` is its `id` in the frames of the conversation, `text` its words around the first
    match. `icon` names its speaker, null for the person. `at` (UNIX seconds) is null if the time is
    not known.
    """

    conversation: str
    message: int
    text: str
    own: bool
    icon: str | None
    at: float | None


class SearchHits(msgspec.Struct, frozen=True):
    """A page of found messages, the latest first.

    A page may have few items, or no items, and a `next`, because it searches a limited number of
    messages.
    """

    items: list[SearchHit]
    next: str | None


class OwnConversations:
    """Answers requests for lists of conversations and for searches in a person's own data."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._store = assistant.store
        one = "/api/conversations/{conversation:path}"
        change = Operation(self.change_conversation, status=204, errors=[NotFound])
        delete = Operation(self.delete_conversation, status=204, errors=[NotFound])
        self.routes: list[Route] = [
            Route("GET", "/api/conversations", Operation(self.conversations)),
            Route("GET", one, Operation(self.messages, errors=[NotFound])),
            Route("PATCH", one, change),
            Route("DELETE", one, delete),
            Route("GET", "/api/search", Operation(self.search)),
        ]

    async def conversations(self, request: TypedRequest[ListParams, None]) -> ConversationList:
        """List one's own conversations."""
        params = request.params
        user = find_user(request.visitor, params)
        listed = OwnList(self._store, user, request.visitor, params)
        await listed.read()
        is_archived = params.kind == "archived"

        def fits(name: str) -> bool:
            mark = listed.marks.get(name, _NO_MARKS)
            return mark.archived == is_archived and (params.tag is None or params.tag in mark.tags)

        shown, next_ = await listed.find(_number(params.cursor), params.limit, fits)
        plain_list = params.cursor is None and params.tag is None and not is_archived
        return ConversationList(
            items=shown,
            next=next_,
            pinned=await listed.list_pinned() if plain_list else [],
            tags=sorted({tag for mark in listed.marks.values() for tag in mark.tags})[:100],
            archived=sum(mark.archived for mark in listed.marks.values()),
        )

    async def messages(self, request: TypedRequest[MessagePath, None]) -> SaidFrames:
        """Return the messages of a conversation, for instance to export them."""
        params = request.params
        user, dialog = await self.found(request.visitor, params)
        rows = await self._store.feed_tail(user, dialog, PAGE_ROWS, params.after)
        spend("backlog", user, max(1, len(rows)))
        items = [
            SaidFrame(row.id, msgspec.Raw(row.message))
            for row in rows
            if row.id is not None and row.message is not None
        ]
        return SaidFrames(items, items[-1].id if len(rows) == PAGE_ROWS and items else None)

    async def change_conversation(
        self, request: TypedRequest[OwnConversationPath, ConversationChange]
    ) -> None:
        """Rename, pin, archive or tag a conversation."""
        user, dialog = await self.found(request.visitor, request.params)
        change = request.body
        given = [one for one in (change.pinned, change.archived, change.tags) if one is not UNSET]
        if given:
            await self._mark(user, dialog, change)
        if change.title is UNSET:
            return
        title = " ".join((change.title or "").split())
        if title:
            await self._store.put_record(user, GIVEN_TITLE, dialog, plain.encode(title))
        else:
            await self._store.delete_record(user, GIVEN_TITLE, dialog)

    async def _mark(self, user: str, dialog: str, change: ConversationChange) -> None:
        known = await _marks(self._store, user)
        old = known.get(dialog, _NO_MARKS)
        tags = old.tags
        if change.tags is not UNSET:
            tags = list(dict.fromkeys(" ".join(tag.split()) for tag in change.tags if tag.strip()))
        new = ConversationMarks(
            old.pinned if change.pinned is UNSET else change.pinned,
            old.archived if change.archived is UNSET else change.archived,
            tags,
        )
        pinned = sum(mark.pinned for mark in known.values())
        if new.pinned and not old.pinned and pinned >= MAX_PINNED:
            raise BadInput(
                f"{MAX_PINNED} conversations are pinned already: unpin one", field="pinned"
            )
        if new == _NO_MARKS:
            await self._store.delete_record(user, MARKS, dialog)
        else:
            await self._store.put_record(user, MARKS, dialog, msgspec.json.encode(new))

    async def delete_conversation(self, request: TypedRequest[OwnConversationPath, None]) -> None:
        """Delete a conversation with all its messages."""
        user, dialog = await self.found(request.visitor, request.params)
        for kind in (GIVEN_TITLE, MARKS):
            await self._store.delete_record(user, kind, dialog)  # before, so that it is erased too
        await self._assistant.archive.delete(user, dialog)

    async def search(self, request: TypedRequest[SearchParams, None]) -> SearchHits:
        """Find messages by or to oneself, in all conversations."""
        params = request.params
        user = find_user(request.visitor, params)
        wanted = params.words.casefold().split()
        if not wanted:
            raise BadInput("words has no word", field="words")
        before, found = _number(params.cursor), list[SearchHit]()
        later: dict[str, bytes | None] = {}
        for _ in range(MAX_SCANNED_ROWS // PAGE_ROWS):
            rows = await self._store.feed_before(user, before, PAGE_ROWS)
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
            if len(rows) < PAGE_ROWS:
                return SearchHits(found, None)
        return SearchHits(found, str(before))

    async def title(self, user: str, dialog: str) -> str:
        """Return the title of a conversation: the person's title, else its first words."""
        given = (await given_titles(self._store, user)).get(dialog)
        return given or await _about(self._store, user, dialog, None)

    async def found(self, visitor: Visitor, params: OwnConversationPath) -> tuple[str, str]:
        """Return the user and the dialog name of one's own conversation; else raise `NotFound`."""
        user = find_user(visitor, params)
        dialog = find_dialog_name(visitor, params, params.conversation)
        if dialog is None or not await self._store.feed_tail(user, dialog, 1):
            raise NotFound("there is no conversation of this id", field="conversation")
        return user, dialog


async def _marks(store: RecordStore, user: str) -> dict[str, ConversationMarks]:
    kept = await store.records(user, MARKS)
    return {name: msgspec.json.decode(body, type=ConversationMarks) for name, body in kept.items()}


_NO_MARKS: Final = ConversationMarks()


class OwnList:
    """The conversations of one person, as they are listed."""

    def __init__(self, store: Store, user: str, visitor: Visitor, params: PageUser) -> None:
        self._store, self._user, self._visitor, self._params = store, user, visitor, params
        self.marks: dict[str, ConversationMarks] = {}
        self._titles: dict[str, str] = {}

    async def read(self) -> None:
        """Read titles and marks."""
        self.marks = await _marks(self._store, self._user)
        self._titles = await given_titles(self._store, self._user)

    async def find(
        self, before: int | None, limit: int, fits: Callable[[str], bool]
    ) -> tuple[list[ConversationSummary], str | None]:
        """Return up to `limit` conversations that fit, and the cursor of the next conversations."""
        found: list[ConversationRow] = []
        size = max(limit + 1, MAX_LISTED) if self.marks else limit + 1
        for _ in range(LOOKS):
            rows = await self._store.conversations(self._user, before, size)
            for row in rows:
                if fits(row.name):
                    found.append(row)
                if len(found) > limit:
                    return await self._summarize(found[:limit]), str(found[limit - 1].n)
                before = row.n
            if len(rows) < size:
                return await self._summarize(found), None
        return await self._summarize(found), str(before)

    async def list_pinned(self) -> list[ConversationSummary]:
        """Return the pinned conversations, the latest first."""
        names = {name for name, mark in self.marks.items() if mark.pinned and not mark.archived}
        found: list[ConversationSummary] = []
        cursor: str | None = None
        while len(found) < len(names):
            rest = len(names) - len(found)
            some, cursor = await self.find(_number(cursor), rest, names.__contains__)
            found += some
            if cursor is None:
                break
        return found

    async def _summarize(self, rows: list[ConversationRow]) -> list[ConversationSummary]:
        return [await self._summary(row) for row in rows]

    async def _summary(self, row: ConversationRow) -> ConversationSummary:
        title, mark = self._titles.get(row.name), self.marks.get(row.name, _NO_MARKS)
        return ConversationSummary(
            conversation_id(self._visitor, self._params, row.name),
            title or await _about(self._store, self._user, row.name, row.first),
            title is not None,
            parse_time(row.at),
            mark.pinned,
            mark.archived,
            mark.tags,
        )


async def _about(store: Store, user: str, dialog: str, first: bytes | None) -> str:
    """Return the words that describe the subject of a conversation, rather than a greeting.

    `first` is its first message, None if it is not known.
    """
    words = read_message(first).command
    if says_enough(words):
        return title_of([words])
    begun = await store.feed_tail(user, dialog, READ_FOR_TITLE, -1)
    return title_of([words, *(read_message(one.message).command for one in begun)])


def _hit(row: FeedRow, wanted: list[str], later: bytes | None) -> SearchHit | None:
    """Return the hit of a row with all words; the next message `later` dates the words."""
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
