"""Page: the door with the chat page at `/`, which speaks the wire of the door `almond`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from prolocutor.contracts.channel import Route
from prolocutor.contracts.http import HttpResponse, spend
from prolocutor.errors import NotFound, Overloaded
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.page.conversations import OwnConversations, PageUser, find_user, may_see
from prolocutor.plugins.page.explanations import (
    TurnExplanation,
    TurnExplanations,
    drop_internals,
)
from prolocutor.plugins.page.settings import SettingsEndpoints
from prolocutor.plugins.page.shares import SharedConversations
from prolocutor.plugins.page.uploads import FolderPictures, Pictures, StorePictures, Uploads
from prolocutor.web.door_context import DoorContext
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.static_files import StaticFiles

EXAMPLES: Final = 2
STARTERS: Final = 4
"""Examples that are taken of one agent's card, and starters in all, where the file names none."""

FOLDER: Final = Path(__file__).parent / "static"

UPLOADED: Final = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "application/pdf",
    "text/plain",
    "text/csv",
)

UtteranceId: TypeAlias = Annotated[
    str,
    Meta(
        pattern="^[0-9a-fA-F]{32}$",
        max_length=32,
        extra={"error": "an utterance's id is made of 32 hex digits"},
    ),
]


class SpeakingAgent(msgspec.Struct, frozen=True):
    """An agent as the page draws it."""

    name: str
    icon: Annotated[bool, Meta(description="Whether there is a picture at `/icons/<name>`.")]
    markdown: Annotated[bool, Meta(description="Whether its texts are written in Markdown.")]


class PageInfo(msgspec.Struct, frozen=True):
    """The page's data about the assistant."""

    name: str
    agents: list[SpeakingAgent]
    starters: Annotated[list[str], Meta(description="What a person may begin with.")]
    voice: Annotated[bool, Meta(description="Whether words may be spoken into the browser.")]


class PageInfoEndpoint:
    """Answers the page's first request.

    Without starters in the file, the page shows examples of the agents that were asked most of
    late.
    """

    def __init__(self, context: DoorContext, *, voice: bool) -> None:
        self._assistant = context.assistant
        self._recent = context.recent
        self._starters = list(context.starters)
        self._voice = voice
        self._cards = context.cards

    async def page_info(self, _: TypedRequest[None, None]) -> PageInfo:
        """Return the page's view of the assistant before the first message."""
        markdown = self._assistant.engine.prepared.markdown
        speaking = (Stage.SKILL, Stage.LAST_CHANCE)
        services = [one for one in self._assistant.services() if one.stage in speaking]
        return PageInfo(
            name=self._assistant.name,
            agents=[
                SpeakingAgent(one.name, one.icon is not None, one.name in markdown)
                for one in services
            ],
            starters=self._starters or self._card_examples([one.name for one in services]),
            voice=self._voice,
        )

    def _card_examples(self, names: list[str]) -> list[str]:
        """Return examples of the agents that were asked most of late, else in declared order."""
        records = self._recent.last(len(self._recent)) if self._recent is not None else []
        times = Counter(name for record in records for name in record.asked)
        examples = self._examples()
        with_examples = [name for name in names if examples.get(name)]
        most = sorted(with_examples, key=lambda name: -times[name])
        found = dict.fromkeys(text for name in most for text in examples[name][:EXAMPLES])
        return list(found)[:STARTERS]

    def _examples(self) -> dict[str, list[str]]:
        """Return the examples of the agents' cards, else the examples of the services."""
        if self._cards is not None:
            return {name: card.examples for name, card in self._cards.items()}
        cards = {one.name: one.card or {} for one in self._assistant.services()}
        given = {name: card.get("examples") for name, card in cards.items()}
        return {
            name: [text for text in texts if isinstance(text, str)]
            for name, texts in given.items()
            if isinstance(texts, list | tuple)
        }


class VisitorInfo(msgspec.Struct, frozen=True):
    """The caller: `name` of an operator, or of a person who `signed_in`."""

    kind: Literal["operator", "person", "anonymous"]
    user: str | None
    name: str
    signed_in: bool
    operators_page: Annotated[
        str | None, Meta(description="The path of the page for operators; null for others.")
    ] = None


class ReplyPath(PageUser, frozen=True, kw_only=True):
    """The parameters of a request about a reply."""

    utt_id: UtteranceId


class ReplyRating(msgspec.Struct, frozen=True):
    """A person's rating of a reply: 1 is good, -1 is bad."""

    utt_id: UtteranceId
    rating: Annotated[
        float, Meta(extra_json_schema={"enum": [1, -1]}, extra={"error": "a rating is 1 or -1"})
    ]

    def __post_init__(self) -> None:
        """Check the rating; a number such as 1.0 is valid too."""
        if self.rating not in (1, -1):
            raise ValueError("rating is 1 or -1")


class PicturePath(msgspec.Struct, frozen=True):
    """The parameters of a request for a picture."""

    name: str


class UploadParams(PageUser, frozen=True, kw_only=True):
    """The parameters of an upload."""

    content_type: Annotated[str, Meta(extra={"in": "header"})] = msgspec.field(
        default="", name="Content-Type"
    )


class UploadedPicture(msgspec.Struct, frozen=True):
    """The address of an uploaded picture."""

    url: str


class PageDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The chat page at `/`; it talks at the addresses of the door `almond`."""

    is_usual: ClassVar[bool] = True
    uploads: Annotated[
        str | None,
        Meta(
            description="The folder of uploaded pictures; beside the store, or in the one that"
            " replicas share, where none is named."
        ),
    ] = None
    voice: Annotated[
        bool,
        Meta(
            description="Whether words may be spoken into the browser, which sends the sound to"
            " its maker."
        ),
    ] = False
    shares: Annotated[
        bool,
        Meta(description="Whether people may let others read a conversation of theirs by a link."),
    ] = True

    def build(self, context: DoorContext) -> Page:
        """Return the door."""
        return Page(context, self)


class Page:
    """The chat page, its uploaded pictures, and explanations of replies.

    Without a folder, pictures are in the store that replicas share, or last as long as the door;
    without records of turns the panel shows the stored utterances.
    """

    name: Final = "page"
    prefix: Final = "page:"

    def __init__(self, context: DoorContext, options: PageDoor | None = None) -> None:
        options = options or PageDoor()
        assistant = context.assistant
        files = StaticFiles(FOLDER, assistant.name, speaks=options.voice)
        own = OwnConversations(assistant)
        info = PageInfoEndpoint(context, voice=options.voice)
        self._assistant = assistant
        self._operators_page = context.operators_page
        self._store = assistant.store
        self._explanations = TurnExplanations(assistant.store, context.recent)
        folder = context.uploads if options.uploads is None else Path(options.uploads)
        pictures: Pictures = FolderPictures(folder)
        if folder is None and assistant.sharing is not None:
            pictures = StorePictures(assistant.store)
        self._uploads = Uploads(assistant.store, pictures)
        upload = Operation(self.upload_picture, status=201, consumes=UPLOADED, errors=[Overloaded])
        picture = Operation(self.picture, errors=[NotFound], produces="*/*")
        self.routes: list[Route] = [
            *files.routes("/", "/page/{file:path}"),
            Route("GET", "/api/visitor", Operation(self.visitor)),
            Route("GET", "/api/page", Operation(info.page_info)),
            *own.routes,
            *(SharedConversations(own, assistant.store, files).routes if options.shares else ()),
            *SettingsEndpoints(assistant.store).routes,
            Route("GET", "/api/turns/{utt_id}", Operation(self.turn_of_reply, errors=[NotFound])),
            Route(
                "POST",
                "/rating/reply",
                Operation(self.rate_reply, status=204, errors=[NotFound]),
            ),
            Route("POST", "/uploads", upload),
            Route("GET", "/uploads/{name}", picture, "all"),
        ]

    async def open(self) -> None:
        """Remove the pictures of deleted persons, now and at each later deletion."""
        await self._uploads.sweep()
        self._assistant.archive.forgetting.append(self._uploads.forget)

    async def close(self) -> None:
        """Remove the pictures that were stored only for this run."""
        self._assistant.archive.forgetting.remove(self._uploads.forget)
        self._uploads.close()

    async def visitor(self, request: TypedRequest[None, None]) -> VisitorInfo:
        """Return the caller."""
        who = request.visitor
        page = self._operators_page if who.kind == "operator" else None
        return VisitorInfo(who.kind, who.user, who.name, who.session is not None, page)

    async def turn_of_reply(self, request: TypedRequest[ReplyPath, None]) -> TurnExplanation:
        """Explain the origin of a reply."""
        utt_id = request.params.utt_id
        await self._check_owner(request, utt_id)
        turn = await self._explanations.find(utt_id)
        if turn is None:
            raise _unknown_reply(utt_id)
        return turn if request.visitor.kind == "operator" else drop_internals(turn)

    async def rate_reply(self, request: TypedRequest[PageUser, ReplyRating]) -> None:
        """Rate a reply: 1 is good, -1 is bad."""
        utt_id = request.body.utt_id
        await self._check_owner(request, utt_id)
        user = find_user(request.visitor, request.params)
        await self._assistant.archive.rate(utt_id.lower(), int(request.body.rating), user)

    async def upload_picture(self, request: TypedRequest[UploadParams, bytes]) -> UploadedPicture:
        """Store a picture, a PDF or a text of a person, and return its address."""
        user = find_user(request.visitor, request.params)
        spend("uploads", user, len(request.body))
        name = await self._uploads.store(user, request.body, request.params.content_type)
        return UploadedPicture(f"/uploads/{name}")

    async def picture(self, request: TypedRequest[PicturePath, None]) -> HttpResponse:
        """Return a picture that was uploaded."""
        return await self._uploads.show(request.params.name)

    async def _check_owner(
        self,
        request: TypedRequest[ReplyPath, None] | TypedRequest[PageUser, ReplyRating],
        utt_id: str,
    ) -> None:
        """Raise `NotFound` for a reply of another person exactly as for an unknown one."""
        owner = await self._store.find_owner(utt_id.lower())
        if owner is None or not may_see(request.visitor, request.params, owner):
            raise _unknown_reply(utt_id)


def _unknown_reply(utt_id: str) -> NotFound:
    return NotFound(f"there is no reply {utt_id}", field="utt_id")
