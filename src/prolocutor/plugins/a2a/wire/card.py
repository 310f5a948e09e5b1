"""AgentCard: what an A2A agent says of itself, read from a card of any version."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadReply
from prolocutor.plugins.a2a.wire.core import JSONRPC, LEGACY_VERSION, VERSION, without_nulls


class AgentInterface(msgspec.Struct, frozen=True):
    """One address of an agent: where, by which binding, in which version, for which tenant."""

    url: str
    binding: str
    version: str
    tenant: str = ""

    @property
    def is_legacy(self) -> bool:
        """Whether version 0.3 is spoken there."""
        return self.version.startswith("0.")


class AgentSkill(msgspec.Struct, rename="camel"):
    """One thing that an agent can do."""

    id: str = ""
    name: str = ""
    description: str = ""
    tags: list[str] = []
    examples: list[str] = []


class AgentCapabilities(msgspec.Struct, rename="camel"):
    """What of the protocol an agent can do."""

    streaming: bool = False
    push_notifications: bool = False
    extended_agent_card: bool = False


class AgentCard(msgspec.Struct, rename="camel"):
    """What an agent says of itself; `interfaces` in the order in which it prefers them."""

    name: str = ""
    description: str = ""
    version: str = ""
    capabilities: AgentCapabilities = msgspec.field(default_factory=AgentCapabilities)
    skills: list[AgentSkill] = []
    interfaces: list[AgentInterface] = []

    def described(self) -> JsonObject:
        """Return what routers learn from: `description` and `examples` of all skills."""
        told = [self.description, *(skill.description for skill in self.skills)]
        examples = [text for skill in self.skills for text in skill.examples]
        return {
            "description": "\n".join(dict.fromkeys(text for text in told if text)),
            "examples": list(dict.fromkeys(examples)),
        }


def read_card(body: bytes) -> AgentCard:
    """Read a card of version 1.0 or 0.3; raise `BadReply` for what is none."""
    try:
        given = without_nulls(msgspec.json.decode(body))
        if not isinstance(given, dict) or not {"name", "skills", "url"} & given.keys():
            raise BadReply("this is no agent card: it has no name")
        card = msgspec.convert(given, AgentCard)
        card.interfaces = _interfaces(given)
    except msgspec.ValidationError as error:
        raise BadReply(f"this is no agent card: {error}") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply(f"this is no agent card, not even JSON: {error}") from None
    return card


def _interfaces(given: JsonObject) -> list[AgentInterface]:
    """Return the addresses: those of 1.0, and behind them those that only 0.3 knows."""
    listed = given.get("supportedInterfaces")
    found = [
        AgentInterface(
            url=_text(one, "url"),
            binding=_text(one, "protocolBinding") or JSONRPC,
            version=_text(one, "protocolVersion") or VERSION,
            tenant=_text(one, "tenant"),
        )
        for one in (listed if isinstance(listed, list) else ())
        if isinstance(one, dict) and _text(one, "url")
    ]
    if url := _text(given, "url"):
        version = _text(given, "protocolVersion") or LEGACY_VERSION
        first = {"url": url, "transport": _text(given, "preferredTransport") or JSONRPC}
        others = given.get("additionalInterfaces")
        for one in [first, *(others if isinstance(others, list) else ())]:
            if isinstance(one, dict) and (place := _text(one, "url")):
                interface = AgentInterface(place, _text(one, "transport"), version)
                found.append(interface)
    return list(dict.fromkeys(found))


def _text(given: Any, key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
