"""A2a: the door for A2A clients, at `/a2a`; the agent card lists its other addresses.

Source: the A2A protocol, version 1.0, and 0.3 beside it, over JSON-RPC and REST.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final
from urllib.parse import unquote

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.contracts.channel import DoorPlace, ErrorForm, NotFoundText, Route, WebSocketRoute
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import ConfigError, NotFound, Unauthenticated
from prolocutor.plugins.a2a.door.archive import TaskArchive
from prolocutor.plugins.a2a.door.calls import (
    ADD_WEBHOOK,
    CANCEL,
    DELETE_WEBHOOK,
    GET,
    GET_WEBHOOK,
    LIST,
    LIST_WEBHOOKS,
    SEND,
    STREAM,
    SUBSCRIBE,
    A2aCall,
    convert_params,
    is_stream,
    legacy_rest_result,
    read_params,
)
from prolocutor.plugins.a2a.door.card_making import (
    BASE,
    EXTENSION,
    SKILLS,
    CardMaker,
    CardOptions,
)
from prolocutor.plugins.a2a.door.operations import AgentOperations
from prolocutor.plugins.a2a.door.places import PERSONS, PREFIX
from prolocutor.plugins.a2a.door.push_delivery import PushDelivery
from prolocutor.plugins.a2a.door.push_rules import PushRules
from prolocutor.plugins.a2a.door.rpc import Identify, RpcEndpoint, make_fault, request_user
from prolocutor.plugins.a2a.door.running_tasks import A2aCaller
from prolocutor.plugins.a2a.door.sending import TaskSender
from prolocutor.plugins.a2a.door.signing import KEY_FILES, CardKey, CardSigner
from prolocutor.plugins.a2a.door.webhooks import TaskWebhooks
from prolocutor.plugins.a2a.wire import legacy_rest
from prolocutor.plugins.a2a.wire.core import CARD_PATH
from prolocutor.plugins.a2a.wire.faults import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    VERSION_NOT_SUPPORTED,
    A2aFault,
)
from prolocutor.web.door_context import USER_HEADER, DoorContext
from prolocutor.web.error_table import error_response
from prolocutor.web.event_writing import event_stream, server_event

_VERSION: Final = "a2a-version"

log = logging.getLogger(__name__)

MEDIA: Final = "application/a2a+json"
JSON: Final = "application/json"
_ID: Final = r"(?P<id>[^/]+?)"
_HOOKS: Final = rf"tasks/{_ID}/pushNotificationConfigs"

_CARDS: Final = ("extendedAgentCard", "card", "agent/authenticatedExtendedCard")
_QUERY: Final = (
    "contextId",
    "status",
    "pageSize",
    "pageToken",
    "historyLength",
    "statusTimestampAfter",
    "includeArtifacts",
)


class A2aDoor(CardOptions, frozen=True, kw_only=True):
    """The assistant, and each of its skills, as an A2A agent at `/a2a`."""

    is_usual: ClassVar[bool] = True
    sign: Annotated[
        CardKey | None, Meta(description="The key that signs the card; unsigned without.")
    ] = None
    push: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="The addresses that webhooks may have: beginnings of URLs, hosts,"
            " `loopback` or `public`; null switches push notifications off."
        ),
    ] = ()
    own_contexts: Annotated[
        bool, Meta(description="Whether a client may choose the ids of its contexts.")
    ] = True

    def check(self, place: DoorPlace) -> None:
        """Raise `ConfigError` for a key that cannot sign."""
        _signer(self.sign, place.folder)

    def build(self, context: DoorContext) -> A2a:
        """Return the door."""
        secured = context.secured if self.secured is None else self.secured
        options = msgspec.structs.replace(self, secured=secured)
        return A2a(context.assistant, options, context.folder)


class A2a:
    """The door for A2A clients, with its own namespace of users.

    `folder` is the base of the path of the key that signs the card.
    """

    name: Final = "a2a"
    prefix: Final = PREFIX

    def __init__(
        self,
        assistant: Assistant,
        options: A2aDoor | None = None,
        folder: Path | None = None,
    ) -> None:
        options = options or A2aDoor()
        rules = PushRules(options.push)
        signer = _signer(options.sign, folder)
        self._cards = CardMaker(assistant, options, signer, pushes=rules.enabled)
        archive = TaskArchive(assistant)
        webhooks = TaskWebhooks(assistant, rules)
        self._sender = TaskSender(assistant, archive, webhooks, own_contexts=options.own_contexts)
        self._delivery = PushDelivery(assistant, webhooks, archive)
        operations = AgentOperations(assistant, archive, self._sender, webhooks)
        self._rpc, self._rest = RpcEndpoint(operations), RestEndpoint(operations)
        self._skills = frozenset(self._cards.skill_names())
        self.routes: list[Route | WebSocketRoute | NotFoundText | ErrorForm] = [
            Route("GET", CARD_PATH, self.agent_card, "all"),
            Route("GET", f"{SKILLS}/{{skill}}{CARD_PATH}", self.skill_card, "all"),
            Route("POST", BASE, self.call, any_secret=True),
            Route("POST", f"{BASE}/message:send", self.send_message, any_secret=True),
            Route("POST", f"{BASE}/message:stream", self.stream_message, any_secret=True),
            Route("GET", f"{BASE}/tasks", self.list_tasks, any_secret=True),
            Route("GET", f"{BASE}/extendedAgentCard", self.extended_card, any_secret=True),
            Route("POST", f"{SKILLS}/{{skill}}", self.call_skill, any_secret=True),
            Route("GET", f"{SKILLS}/{{skill}}/{{path:path}}", self.ask_skill, any_secret=True),
            Route("POST", f"{SKILLS}/{{skill}}/{{path:path}}", self.ask_skill, any_secret=True),
            Route("DELETE", f"{SKILLS}/{{skill}}/{{path:path}}", self.ask_skill, any_secret=True),
            Route("GET", f"{BASE}/{{path:path}}", self.get, any_secret=True),
            Route("POST", f"{BASE}/{{path:path}}", self.post, any_secret=True),
            Route("DELETE", f"{BASE}/{{path:path}}", self.delete, any_secret=True),
            ErrorForm(BASE, refusal_response),
        ]

    async def open(self) -> None:
        """Resume the delivery to stored webhooks."""
        await self._delivery.open()

    async def close(self) -> None:
        """Stop the delivery to webhooks; running turns go on in the assistant."""
        await self._delivery.aclose()
        await self._sender.aclose()

    # -- cards ------------------------------------------------------------------------------

    async def agent_card(self, request: HttpRequest) -> HttpResponse:
        """Return the card of the assistant as an A2A agent."""
        return self._card(request, None)

    async def skill_card(self, request: HttpRequest) -> HttpResponse:
        """Return the card of a skill as a separate agent."""
        return self._card(request, _skill(request))

    def _card(self, request: HttpRequest, skill: str | None) -> HttpResponse:
        made = self._cards.card(_server(request), skill)
        headers = {"ETag": made.etag, "Cache-Control": "max-age=60", "Vary": "Host"}
        known = request.header("if-none-match")
        if known is not None and _matches(known, made.etag):
            return HttpResponse(status=304, headers=headers)
        return HttpResponse(made.body, headers=headers)

    # -- JSON-RPC ---------------------------------------------------------------------------

    async def call(self, request: HttpRequest) -> HttpResponse:
        """Call a method of A2A by JSON-RPC."""
        return await self._call_rpc(request, None)

    async def call_skill(self, request: HttpRequest) -> HttpResponse:
        """Call a method of A2A by JSON-RPC, for a single skill."""
        return await self._call_rpc(request, _skill(request))

    async def _call_rpc(self, request: HttpRequest, skill: str | None) -> HttpResponse:
        body = await request.body()
        response = await self._rpc.answer(
            body,
            lambda: _version(request),
            lambda tenant, legacy, named: self._caller(request, skill or tenant, legacy, named),
            lambda tenant: self._extended_card(request, skill or tenant),
        )
        return _activate_extensions(request, response)

    # -- REST -------------------------------------------------------------------------------

    async def send_message(self, request: HttpRequest) -> HttpResponse:
        """Send a message; return its task."""
        return await self._call_rest(request, "message:send", None)

    async def stream_message(self, request: HttpRequest) -> HttpResponse:
        """Send a message; return the events of its task."""
        return await self._call_rest(request, "message:stream", None)

    async def list_tasks(self, request: HttpRequest) -> HttpResponse:
        """List the tasks of a person, the latest first."""
        return await self._call_rest(request, "tasks", None)

    async def extended_card(self, request: HttpRequest) -> HttpResponse:
        """Return the card for admitted callers, which also lists the addresses of the skills."""
        return await self._call_rest(request, "extendedAgentCard", None)

    async def get(self, request: HttpRequest) -> HttpResponse:
        """Get a task, its webhooks or its events."""
        return await self._call_rest(request, request.params["path"], None)

    async def post(self, request: HttpRequest) -> HttpResponse:
        """Send to a skill, cancel a task, subscribe to it, or add a webhook."""
        return await self._call_rest(request, request.params["path"], None)

    async def delete(self, request: HttpRequest) -> HttpResponse:
        """Remove a webhook of a task."""
        return await self._call_rest(request, request.params["path"], None)

    async def ask_skill(self, request: HttpRequest) -> HttpResponse:
        """Call an operation for a single skill."""
        return await self._call_rest(request, request.params["path"], _skill(request))

    async def _call_rest(self, request: HttpRequest, path: str, skill: str | None) -> HttpResponse:
        response = await self._rest.answer(
            request,
            path,
            _version(request),
            lambda tenant, legacy, named: self._caller(request, skill or tenant, legacy, named),
            lambda tenant: self._extended_card(request, skill or tenant),
        )
        return _activate_extensions(request, response)

    # -- both -------------------------------------------------------------------------------

    def _caller(self, request: HttpRequest, tenant: str, legacy: bool, named: object) -> A2aCaller:
        tenant = unquote(tenant)
        if tenant and tenant not in self._skills:
            what = f"there is no skill {tenant!r:.80} to be a tenant"
            raise A2aFault(INVALID_PARAMS, what, field="tenant")
        visitor = request.visitor
        header = request.header(USER_HEADER.lower())
        speaker = PERSONS.speaker(visitor, request.query("user"), header, named)
        trusted = visitor.kind == "operator"
        return A2aCaller(speaker, trusted, tenant or None, legacy, request.left)

    def _extended_card(self, request: HttpRequest, tenant: str) -> bytes:
        # A2A 1.0, 3.1.11: by one of the schemes that the public card declares. Without keys it
        # declares none, and whoever comes in is admitted.
        if request.visitor.kind == "anonymous":
            raise Unauthenticated("the extended card needs a token, as Authorization: Bearer ...")
        try:
            return self._cards.card(_server(request), tenant or None, extended=True).body
        except NotFound as error:
            raise A2aFault(INVALID_PARAMS, str(error), field="tenant") from None


def _signer(sign: CardKey | None, folder: Path | None) -> CardSigner | None:
    if sign is None:
        return None
    key = sign.key
    if not key:
        raise ConfigError("sign needs a key: {key: FILE.pem, kid: NAME}", key="doors.a2a.sign")
    if folder is not None and key.endswith(KEY_FILES) and "\n" not in key:
        key = str(folder / key)
    return CardSigner(key, kid=sign.kid, jku=sign.jku)


def _activate_extensions(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Activate our extension for clients that name it (A2A 1.0, "Extensions")."""
    wanted = (request.header("a2a-extensions") or "").split(",")
    if EXTENSION not in [one.strip() for one in wanted]:
        return response
    headers = {**response.headers, "A2A-Extensions": EXTENSION}
    return msgspec.structs.replace(response, headers=headers)


def _skill(request: HttpRequest) -> str:
    return unquote(request.params["skill"])


def _server(request: HttpRequest) -> str:
    """Return the base URL by which the client reached the assistant."""
    host = request.header("host") or "localhost"
    scheme = (request.header("x-forwarded-proto") or "http").partition(",")[0].strip()
    return f"{'https' if scheme == 'https' else 'http'}://{host}{request.root}"


def _version(request: HttpRequest) -> str | None:
    """Return the version that a client announces; raise `A2aFault` for an unsupported version."""
    said = request.header(_VERSION) or request.query("A2A-Version")
    if not said:
        return None
    numbers = said.strip().split(".")
    if numbers[0] == "1":
        return "1.0"
    if numbers[:2] == ["0", "3"]:
        return "0.3"
    what = f"version {said!r:.40} is not spoken here; there are 1.0 and 0.3"
    raise A2aFault(VERSION_NOT_SUPPORTED, what, field="A2A-Version")


def _matches(known: str, etag: str) -> bool:
    candidates = [one.strip().removeprefix("W/") for one in known.split(",")]
    return "*" in candidates or etag in candidates


class RestRule(msgspec.Struct, frozen=True):
    """A method and a pattern of paths, and the operation that they call."""

    method: str
    pattern: re.Pattern[str]
    call: A2aCall


def _rule(method: str, path: str, call: A2aCall) -> RestRule:
    return RestRule(method, re.compile(path), call)


_RULES: Final = (
    _rule("POST", r"message:send", SEND),
    _rule("POST", r"message:stream", STREAM),
    _rule("POST", rf"tasks/{_ID}:cancel", CANCEL),
    _rule("GET", rf"tasks/{_ID}:subscribe", SUBSCRIBE),
    _rule("POST", rf"tasks/{_ID}:subscribe", SUBSCRIBE),
    _rule("GET", rf"tasks/{_ID}", GET),
    _rule("GET", r"tasks", LIST),
    _rule("POST", _HOOKS, ADD_WEBHOOK),
    _rule("GET", _HOOKS, LIST_WEBHOOKS),
    _rule("GET", rf"{_HOOKS}/(?P<hook>[^/]+)", GET_WEBHOOK),
    _rule("DELETE", rf"{_HOOKS}/(?P<hook>[^/]+)", DELETE_WEBHOOK),
)


class RestEndpoint:
    """Answers the requests below the door's address."""

    def __init__(self, operations: AgentOperations) -> None:
        self._operations = operations

    async def answer(
        self,
        request: HttpRequest,
        path: str,
        version: str | None,
        identify: Identify,
        card: Callable[[str], bytes],
    ) -> HttpResponse:
        """Answer a request; `path` is the part after the door's address."""
        is_legacy = path.startswith("v1/")
        tenant, path = "", path.removeprefix("v1/")
        if version is not None and is_legacy != (version != "1.0"):
            is_legacy = version != "1.0"
        found = _found(request.method, path)
        if found is None and not is_legacy and path not in _CARDS:
            tenant, _, path = path.partition("/")
            found = _found(request.method, path)
        if request.method == "GET" and path in _CARDS:
            return HttpResponse(card(tenant), content_type=JSON if is_legacy else MEDIA)
        if found is None:
            what = f"there is no operation at {request.method} {request.path:.200}"
            raise A2aFault(METHOD_NOT_FOUND, what)
        call, names = found
        params = await _params(call, request, names, is_legacy)
        caller = identify(tenant or getattr(params, "tenant", ""), is_legacy, request_user(params))
        value = await call.answer(self._operations, params, caller)
        if is_stream(value):
            events = (
                server_event(plain.encode(legacy_rest_result(event) if is_legacy else event))
                async for event in value
            )
            return event_stream(events, _failure)
        if is_legacy:
            return HttpResponse(plain.encode(legacy_rest_result(value) or {}))
        return HttpResponse(plain.encode({} if value is None else value), content_type=MEDIA)


def refusal_response(error: Exception) -> HttpResponse:
    """Return the response to an error, in the form of `google.rpc.Status` and of 0.3."""
    fault = make_fault(error)
    headers = {} if isinstance(error, A2aFault) else error_response(error).headers
    return HttpResponse(plain.encode(_status(fault)), fault.kind.status, headers=headers)


def _status(fault: A2aFault) -> dict[str, Any]:
    kind = fault.kind
    status = {
        "code": kind.status,
        "status": kind.grpc,
        "message": str(fault),
        "details": fault.details(),
    }
    return {"error": status, "type": kind.legacy, "message": str(fault)}


def _found(method: str, path: str) -> tuple[A2aCall, Mapping[str, str]] | None:
    for rule in _RULES:
        if rule.method == method and (match := rule.pattern.fullmatch(path)):
            return rule.call, match.groupdict()
    return None


async def _params(
    call: A2aCall, request: HttpRequest, names: Mapping[str, str], is_legacy: bool
) -> Any:
    """Return the parameters of a call from the path, the query and the body."""
    if call in (SEND, STREAM):
        body = await request.body()
        if not is_legacy:
            return read_params(call, body, is_legacy=False)
        return convert_params(call, legacy_rest.upgrade_send_params(_object(body)))
    if call is ADD_WEBHOOK:
        given = _object(await request.body())
        if is_legacy:
            given = legacy_rest.upgrade_push(given)
        return convert_params(call, {**given, "taskId": names["id"]})
    values: dict[str, Any] = {}
    for name in _QUERY:
        if (value := request.query(name)) is not None and value != "":
            values[name] = value
    if "hook" in names:
        values |= {"taskId": names["id"], "id": names["hook"]}
    elif call is LIST_WEBHOOKS:
        values["taskId"] = names["id"]
    elif "id" in names:
        values["id"] = names["id"]
    if is_legacy and values.get("historyLength") == "0":
        del values["historyLength"]
    return convert_params(call, values, strict=False)


def _object(body: bytes) -> dict[str, Any]:
    try:
        given = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise A2aFault(PARSE_ERROR, f"this is not JSON: {error}") from None
    if not isinstance(given, dict):
        raise A2aFault(INVALID_PARAMS, "the body should be a JSON object, {...}")
    return given


def _failure(error: Exception) -> bytes:
    return server_event(plain.encode(_status(make_fault(error))), b"error")
