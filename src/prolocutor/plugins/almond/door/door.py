"""Almond: the door for clients of the Almond Dialog API, in both generations of its wire.

Sources: the Almond Dialog API, almond-cloud, almond-server and Genie. Unlike in these, every turn
ends with a single `askSpecial`, also after an error, and credentials are never sent.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, ClassVar, Final, TypeVar

import msgspec
from msgspec import Meta

from prolocutor.assistant.agenda import permission_request
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.turn_result import TurnResult
from prolocutor.contracts.channel import DoorPlace, NotFoundText, Route, WebSocketRoute
from prolocutor.contracts.http import HttpResponse, WebSocket
from prolocutor.dialog import plain
from prolocutor.dialog.inputs import TurnInput
from prolocutor.dialog.turn_events import TurnEvent
from prolocutor.errors import BadInput, Conflict, NotFound, StoreError
from prolocutor.plugins.almond.door.applications import Application, check_applications
from prolocutor.plugins.almond.door.apps import AppEndpoints
from prolocutor.plugins.almond.door.conversation import Conversation, ConversationOptions
from prolocutor.plugins.almond.door.converse import ConverseEndpoints, find_dialect
from prolocutor.plugins.almond.door.devices import DeviceEndpoints, frames
from prolocutor.plugins.almond.door.dialects import SECOND, error_frame
from prolocutor.plugins.almond.door.links import FORM, LinkPages
from prolocutor.plugins.almond.door.oauth import IssuedToken, OAuthEndpoints, TokenRefused
from prolocutor.plugins.almond.door.result_stream import ResultStream
from prolocutor.plugins.almond.door.speakers import PREFIX, Speaker, find_speaker
from prolocutor.web.authentication import ANONYMOUS
from prolocutor.web.door_context import DoorContext
from prolocutor.web.event_writing import POLICY_VIOLATION, end_refused, take_turn
from prolocutor.web.key_ring import KeyRing
from prolocutor.web.operations import Operation, TypedRequest
from prolocutor.web.requests import json_response

log = logging.getLogger(__name__)

KIND: Final = "almond-example"
ALL_USERS: Final = ""
MAX_EXAMPLES: Final = 10_000
"""The number of different examples that are counted; further examples are ignored."""

MAX_COUNT: Final = 1 << 53

P = TypeVar("P")
B = TypeVar("B")

API: Final = ("/api", "/me/api")
SOCKETS: Final = ("/api", "/ws", "/me/api", "/me/ws")
_WHOLE: Final = re.compile(r"-?[0-9]{1,16}")


class PopularQuery(msgspec.Struct, frozen=True):
    """How many examples are wanted."""

    limit: Annotated[
        int, Meta(ge=1, le=9999, extra={"error": "limit is a number between 1 and 9999"})
    ] = 20


class PopularCommand(msgspec.Struct, frozen=True):
    """An example command and how often it was used."""

    example_id: int
    count: int


class PopularCommands:
    """Counts the `example_id`s of parsed commands, in the store's records."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        self._counts: dict[str, int] | None = None
        self._counting = asyncio.Lock()

    async def count(self, parsed: dict[str, Any] | None) -> None:
        """Count a command if it names its example; a failing store is logged."""
        example = (parsed or {}).get("example_id", -1)
        if not 0 <= example < MAX_COUNT:
            return
        try:
            async with self._counting:
                await self._count(str(example))
        except StoreError as error:
            log.warning("a command is not counted: %s", error)

    async def popular_commands(
        self, request: TypedRequest[PopularQuery, None]
    ) -> list[PopularCommand]:
        """Return the most frequent examples, in descending order."""
        async with self._counting:
            counts = await self._load_counts()
            ranked = sorted(counts.items(), key=lambda pair: -pair[1])[: request.params.limit]
        return [PopularCommand(int(key), count) for key, count in ranked]

    async def _count(self, key: str) -> None:
        counts = await self._load_counts()
        if key not in counts and len(counts) >= MAX_EXAMPLES:
            return
        count = counts.get(key, 0) + 1
        await self._assistant.store.put_record(ALL_USERS, KIND, key, plain.encode(count))
        counts[key] = count

    async def _load_counts(self) -> dict[str, int]:
        if self._counts is None:
            records = await self._assistant.store.records(ALL_USERS, KIND)
            self._counts = {key: plain.decode(body) for key, body in records.items()}
        return self._counts


class NotifyParams(msgspec.Struct, frozen=True):
    """The parameters of a notification."""

    idempotency_key: Annotated[
        str | None,
        Meta(description="The same key says the same thing once.", extra={"in": "header"}),
    ] = msgspec.field(default=None, name="Idempotency-Key")


class PermissionRequest(msgspec.Struct, frozen=True):
    """A request for permission: the person and the action."""

    person: Annotated[str, Meta(min_length=1)]
    what: Annotated[str, Meta(min_length=1)]


class AlmondNotification(msgspec.Struct, frozen=True, rename="camel"):
    """A message to a person, or an ask on behalf of a skill."""

    user: Annotated[str, Meta(min_length=1, description="A user of this door.")]
    messages: Annotated[
        str | dict[str, Any] | list[Any] | None,
        Meta(extra={"error": "messages is a text, a message or a list of those"}),
    ] = None
    permission: Annotated[
        PermissionRequest | None,
        Meta(
            description="Instead of messages: a question with buttons.",
            extra={"error": "person and what are needed, as texts"},
        ),
    ] = None
    ask: Annotated[str | None, Meta(description="What is asked for.")] = None
    skill: Annotated[str | None, Meta(description="The skill that gets the answer.")] = None
    conversation_id: Annotated[str | None, Meta(description="The dialog; `main`.")] = None
    key: Annotated[str | None, Meta(description="As the header `Idempotency-Key`.")] = None
    context: Annotated[Any, Meta(description="What the skill finds in its answer.")] = None


class NotificationStatus(msgspec.Struct, frozen=True):
    """Whether a notification waits until nothing is asked any more."""

    queued: bool


class NotifyEndpoint:
    """Sends a person a message, or an ask on behalf of a skill."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant

    async def notify(self, request: TypedRequest[NotifyParams, AlmondNotification]) -> HttpResponse:
        """Send a person a message, now or when nothing is asked any more (operators)."""
        body = request.body
        messages, ask = _read_notification(body)
        said = await self._assistant.notify(
            PREFIX + body.user.removeprefix(PREFIX),
            messages,
            ask=ask,
            skill=body.skill or "",
            dialog=body.conversation_id,
            key=request.params.idempotency_key or body.key,
            context=body.context,
        )
        return json_response(NotificationStatus(queued=not said), 200 if said else 202)


def _read_notification(body: AlmondNotification) -> tuple[Any, str | None]:
    """Return messages and ask; a permission becomes a question with buttons."""
    if body.permission is not None:
        return permission_request(body.permission.person, body.permission.what), "generic"
    if body.messages is None:
        raise BadInput("messages is a text, a message or a list of those", field="messages")
    return body.messages, body.ask


class AlmondDoor(msgspec.Struct, frozen=True, kw_only=True):
    """The Almond Dialog API, over WebSockets and HTTP, in both generations of its wire."""

    is_usual: ClassVar[bool] = True
    welcome: Annotated[
        str | None, Meta(description="What is said at the beginning of a new conversation.")
    ] = None
    applications: Annotated[
        dict[str, Application],
        Meta(description="The applications that may ask a person for a token, by their ids."),
    ] = {}

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for invalid applications."""
        check_applications(self.applications)

    def build(self, context: DoorContext) -> Almond:
        """Return the door."""
        check_applications(self.applications)
        return Almond(
            context.assistant,
            welcome=self.welcome,
            applications=self.applications,
            ring=context.ring,
        )


class Almond:
    """The door compatible with Almond's and Genie's servers.

    A visitor with a token is that person. A visitor on loopback, and an operator without `?user=`,
    is `local`. An anonymous visitor is a new person, recognised by the id of the conversation.
    `welcome` is said at the beginning of a new conversation, unless its client hides it.
    `applications` may ask a person for a token of their own, which is kept in the `ring`.
    """

    name = "almond"
    prefix = PREFIX

    def __init__(
        self,
        assistant: Assistant,
        *,
        welcome: str | None = None,
        applications: Mapping[str, Application] | None = None,
        ring: KeyRing | None = None,
    ) -> None:
        self._assistant = assistant
        self._welcome = welcome
        self._popular = PopularCommands(assistant)
        self._devices = DeviceEndpoints(assistant)
        devices, apps = self._devices, AppEndpoints(assistant)
        talk = ConverseEndpoints(assistant, self._take)
        links = LinkPages(devices, apps)
        ring = ring or KeyRing(assistant.store)
        oauth = OAuthEndpoints(applications or {}, assistant.store, ring)
        notify = Operation(
            NotifyEndpoint(assistant).notify,
            returns=NotificationStatus,
            statuses={202: "It waits until nothing is asked any more."},
            errors=[Conflict],
        )
        self.routes: list[Route | WebSocketRoute | NotFoundText] = [
            *(NotFoundText(f"{base}/", "Invalid endpoint") for base in API),
            Route("POST", "/api/notify", notify, "operators"),
            Route("GET", "/user/register", _page(links.register_page), "all"),
            Route("GET", "/conversation", _page(links.conversation_page), "all"),
            *_oauth_routes("/me/api/oauth2", oauth),
            Route("GET", "/devices/create", _page(links.create_page)),
            Route("GET", "/apps", _page(links.apps_page)),
            Route("POST", "/apps", _page(links.stop_app)),
            Route("GET", "/devices/oauth2/{kind}", _page(links.oauth2_page), "all"),
            Route(
                "GET",
                "/devices/configure/{kind}",
                _page(links.configure_page, shows_errors=True),
                "all",
            ),
            Route("POST", "/devices/configure/{kind}", _page(links.configure, shows_errors=True)),
        ]
        for base in SOCKETS:
            self.routes.append(WebSocketRoute(f"{base}/conversation", self._converse))
            self.routes.append(WebSocketRoute(f"{base}/anonymous", self._converse_anonymously))
            self.routes.append(WebSocketRoute(f"{base}/results", self._send_results))
        for base in API:
            self.routes += (
                Route(
                    "POST",
                    f"{base}/converse",
                    Operation(talk.converse, errors=[Conflict, NotFound]),
                ),
                Route(
                    "POST",
                    f"{base}/conversation/process",
                    Operation(talk.process, errors=[Conflict, NotFound]),
                ),
                Route("GET", f"{base}/profile", Operation(devices.profile)),
                Route("GET", f"{base}/devices/list", Operation(devices.list_devices)),
                Route("POST", f"{base}/devices/create", Operation(devices.create_device)),
                Route("GET", f"{base}/apps/list", Operation(apps.list_apps)),
                Route("GET", f"{base}/apps/get/{{id}}", Operation(apps.get_app, errors=[NotFound])),
                Route("POST", f"{base}/apps/create", Operation(apps.create_app)),
                Route(
                    "POST",
                    f"{base}/apps/delete/{{id}}",
                    Operation(apps.delete_app, errors=[NotFound]),
                ),
                Route("GET", f"{base}/commands/popular", Operation(self._popular.popular_commands)),
            )

    async def open(self) -> None:
        """Prepare to run programs, as this takes too long during the first program."""
        await self._assistant.programs.warm()

    async def close(self) -> None:
        """Do nothing: running turns belong to the assistant."""

    async def _converse(self, socket: WebSocket) -> None:
        """Talk, and follow the dialog from all clients."""
        await self._serve(socket, lambda: _speaker(socket))

    async def _converse_anonymously(self, socket: WebSocket) -> None:
        """Talk without a token."""
        if socket.visitor.kind == "person":
            socket.close(POLICY_VIOLATION, "this address is for those without a token")
            return
        await self._serve(
            socket,
            lambda: find_speaker(
                ANONYMOUS, conversation=_conversation(socket), secret=socket.query("secret")
            ),
        )

    async def _send_results(self, socket: WebSocket) -> None:
        """Follow the results and errors of running programs."""
        try:
            speaker = _speaker(socket)
        except BadInput as error:
            end_refused(socket, error, error_frame)
            return
        await ResultStream(self._assistant, speaker, socket).run()

    async def _serve(self, socket: WebSocket, whose: Callable[[], Speaker]) -> None:
        try:
            speaker, opening = whose(), _opening(socket)
            dialect = find_dialect(socket.query("protocol"), SECOND)
        except BadInput as error:
            end_refused(socket, error, error_frame)
            return
        if _is_set(socket, "sync_devices"):
            opening.devices = frames(await self._devices.load_devices(speaker))
        if self._welcome and opening.after is None and not _is_set(socket, "hide_welcome"):
            await self._say_welcome(speaker, self._welcome)
        talk = Conversation(self._assistant, speaker, socket, dialect, self._take)
        await talk.run(opening)

    async def _say_welcome(self, speaker: Speaker, words: str) -> None:
        """Say the welcome in a dialog in which nothing has been said."""
        if await self._assistant.store.feed_tail(speaker.user, speaker.dialog, 1, None):
            return
        key = f"welcome/{speaker.dialog}"
        await self._assistant.notify(speaker.user, words, dialog=speaker.dialog, key=key)

    async def _take(
        self, input: TurnInput, show: Callable[[TurnEvent], Awaitable[None]] | None = None
    ) -> TurnResult:
        """Run the turn of an input, and show its events."""
        result = await take_turn(self._assistant, input, show)
        if not result.repeated:
            await self._popular.count(input.parsed)
        return result


def _page(
    show: Callable[[TypedRequest[P, B]], Awaitable[HttpResponse]], *, shows_errors: bool = False
) -> Operation:
    refused = {400: "A page that says what is wrong."} if shows_errors else None
    return Operation(show, consumes=[FORM], produces="text/html", statuses=refused)


def _oauth_routes(base: str, oauth: OAuthEndpoints) -> list[Route]:
    back = {303: "The person is sent back to the application."}
    agree = Operation(oauth.authorize_page, produces="text/html", statuses=back)
    agreed = Operation(oauth.authorize, consumes=[FORM], produces="text/html", statuses=back)
    refused = {400: "Why there is no token.", 401: "The application is not known."}
    token = Operation(
        oauth.token, consumes=[FORM], returns=IssuedToken | TokenRefused, statuses=refused
    )
    return [
        Route("GET", f"{base}/authorize", agree),
        Route("POST", f"{base}/authorize", agreed),
        Route("POST", f"{base}/token", token, "all"),
    ]


def _speaker(socket: WebSocket) -> Speaker:
    return find_speaker(
        socket.visitor,
        user=socket.query("user"),
        conversation=_conversation(socket),
        secret=socket.query("secret"),
    )


def _conversation(socket: WebSocket) -> str | None:
    return socket.query("id") or socket.query("conversationId")


def _opening(socket: WebSocket) -> ConversationOptions:
    return ConversationOptions(
        after=_id(socket.query("after")),
        history=not _is_set(socket, "skip_history"),
        events=_is_set(socket, "events"),
        skill=socket.query("skill"),
    )


def _is_set(socket: WebSocket, name: str) -> bool:
    return socket.query(name) in ("1", "true", "")


def _id(given: str | None) -> int | None:
    if given is None or given == "":
        return None
    if not _WHOLE.fullmatch(given):
        raise BadInput("after is the id of a message, a whole number", field="after")
    return int(given)
