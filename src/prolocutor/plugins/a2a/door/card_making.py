"""CardMaker: makes the agent cards of the assistant and of its skills."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Any, Final
from urllib.parse import quote

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.services import ServiceStatus
from prolocutor.dialog import plain
from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import NotFound
from prolocutor.plugins.a2a.door.signing import CardSigner
from prolocutor.plugins.a2a.wire.core import JSONRPC, LEGACY_VERSION, REST, VERSION

BASE: Final = "/a2a"
SKILLS: Final = "/a2a/skills"
MODES: Final = ("text/plain", "application/json")
MAX_EXAMPLES: Final = 50
"""Examples of a skill on the card."""

MAX_CARDS: Final = 100
"""Cards that are cached."""

EXTENSION: Final = "https://github.com/prolocutor/prolocutor/blob/main/docs/howto/a2a.md#extension"
"""What replies say more than A2A itself has; the address is where it is written down."""

_EXTENDS: Final = (
    "Replies say in metadata which skill has spoken and how sure it is, and what is asked for in"
    " data parts: {type: ask} and the messages of the reply."
)


class MadeCard(msgspec.Struct, frozen=True):
    """An encoded card and its ETag."""

    body: bytes
    etag: str


class CardOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of the file for the agent card."""

    url: Annotated[
        str | None,
        Meta(description="The public address of the server, where clients use another one."),
    ] = None
    description: Annotated[
        str | None, Meta(description="What the card says; those of the skills where it is empty.")
    ] = None
    version: Annotated[str | None, Meta(description="The version of the agent.")] = None
    provider: Annotated[
        JsonObject | None, Meta(description="Who offers it: {organization, url}.")
    ] = None
    documentation_url: Annotated[str | None, Meta(description="Where the agent is described.")] = (
        None
    )
    icon_url: Annotated[str | None, Meta(description="Where its picture is.")] = None
    secured: Annotated[
        bool | None,
        Meta(
            description="Whether the card says that a key or a token is needed; as `auth` has it"
            " where nothing is said."
        ),
    ] = None


class CardMaker:
    """Makes cards and caches the last ones by server address."""

    def __init__(
        self, assistant: Assistant, options: CardOptions, signer: CardSigner | None, *, pushes: bool
    ) -> None:
        self._assistant = assistant
        self._pushes = pushes
        self._options = options
        self._signer = signer
        self._made: OrderedDict[tuple[str, str | None, bool], MadeCard] = OrderedDict()

    def card(self, server: str, skill: str | None = None, *, extended: bool = False) -> MadeCard:
        """Return the card for clients of a server address; raise `NotFound` for an unknown skill.

        `extended`: the card also lists the addresses of the skills.
        """
        key = (server, skill, extended)
        made = self._made.get(key)
        if made is None:
            body = plain.encode(self._card(self._options.url or server, skill, extended))
            made = MadeCard(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
            self._made[key] = made
            if len(self._made) > MAX_CARDS:
                self._made.popitem(last=False)
        return made

    def skill_names(self) -> list[str]:
        """Return the names of the skills that clients may ask directly."""
        return [skill.name for skill in self._skills()]

    def _skills(self) -> list[ServiceStatus]:
        return [service for service in self._assistant.services() if service.stage == "skills"]

    def _card(self, server: str, skill: str | None, extended: bool) -> JsonObject:
        options = self._options
        skills = self._skills()
        own: list[ServiceStatus] = [one for one in skills if one.name == skill]
        if skill is not None and not own:
            raise NotFound(f"there is no skill {skill!r:.80}", field="tenant")
        base = server.rstrip("/") + (BASE if skill is None else f"{SKILLS}/{quote(skill, safe='')}")
        told = own or skills
        card: JsonObject = {
            "name": self._assistant.name if skill is None else skill,
            "description": self._description(told, skill),
            "version": options.version or version("prolocutor"),
            "supportedInterfaces": _interfaces(base),
            "capabilities": {
                "streaming": True,
                "pushNotifications": self._pushes,
                "extendedAgentCard": True,
                "extensions": [{"uri": EXTENSION, "description": _EXTENDS}],
            },
            "defaultInputModes": [*MODES],
            "defaultOutputModes": [*MODES],
            "skills": [_skill(one) for one in told],
        }
        if extended and skill is None:
            card["supportedInterfaces"] += [
                {
                    "url": base,
                    "protocolBinding": binding,
                    "protocolVersion": VERSION,
                    "tenant": one.name,
                }
                for one in skills
                for binding in (JSONRPC, REST)
            ]
        named = {
            "provider": options.provider,
            "documentationUrl": options.documentation_url,
            "iconUrl": options.icon_url,
        }
        card |= {key: one for key, one in named.items() if one}
        if options.secured:
            scheme = {"httpAuthSecurityScheme": {"scheme": "Bearer"}}
            card["securitySchemes"] = {"bearer": scheme}
            card["securityRequirements"] = [{"schemes": {"bearer": {"list": []}}}]
        if self._signer is not None:
            card["signatures"] = [self._signer.sign_card(card)]
        return card | _legacy(card, base)

    def _description(self, told: Sequence[ServiceStatus], skill: str | None) -> str:
        if skill is None and self._options.description:
            return self._options.description
        said = [_card_text(one, "description") for one in told]
        lines = [text for text in dict.fromkeys(said) if text]
        if lines:
            return "\n".join(lines)
        names = ", ".join(one.name for one in told)
        return f"{skill or self._assistant.name}: {names}" if names else self._assistant.name


def _interfaces(base: str) -> list[JsonObject]:
    return [
        {"url": base, "protocolBinding": binding, "protocolVersion": number}
        for number in (VERSION, LEGACY_VERSION)
        for binding in (JSONRPC, REST)
    ]


def _skill(skill: ServiceStatus) -> JsonObject:
    examples = (skill.card or {}).get("examples") or []
    languages = (skill.card or {}).get("languages") or []
    found: JsonObject = {
        "id": skill.name,
        "name": skill.name,
        "description": _card_text(skill, "description") or skill.name,
        "tags": [skill.name, *(str(language) for language in languages)],
    }
    texts = [example for example in examples if isinstance(example, str) and example][:MAX_EXAMPLES]
    return {**found, "examples": texts} if texts else found


def _card_text(skill: ServiceStatus, key: str) -> str:
    value: Any = (skill.card or {}).get(key)
    return value.strip() if isinstance(value, str) else ""


def _legacy(card: JsonObject, base: str) -> JsonObject:
    """Return the fields that clients of 0.3 read, beside the fields of 1.0."""
    found: JsonObject = {
        "protocolVersion": "0.3.0",
        "url": base,
        "preferredTransport": JSONRPC,
        "additionalInterfaces": [
            {"url": base, "transport": JSONRPC},
            {"url": base, "transport": REST},
        ],
        "supportsAuthenticatedExtendedCard": True,
    }
    if "securitySchemes" in card:
        scheme = card["securitySchemes"]["bearer"]
        found["securitySchemes"] = {"bearer": {**scheme, "type": "http", "scheme": "Bearer"}}
        found["security"] = [{"bearer": []}]
    return found
