"""AgentCard: the description of an A2A agent, read from a card of any version."""

from __future__ import annotations

from typing import Any

import msgspec

from prolocutor.dialog.plain import JsonObject
from prolocutor.errors import BadReply
from prolocutor.plugins.a2a.wire.core import JSONRPC, LEGACY_VERSION, VERSION, drop_nulls


class AgentInterface(msgspec.Struct, frozen=True):
    """An interface of an agent: its URL, binding, version and tenant."""

    url: str
    binding: str
    version: str
    tenant: str = ""

    @property
    def is_legacy(self) -> bool:
        """Whether the interface speaks version 0.3."""
        return self.version.startswith("0.")


class AgentSkill(msgspec.Struct, rename="camel"):
    """A skill of an agent."""

    id: str = ""
    name: str = ""
    description: str = ""
    tags: list[str] = []
    examples: list[str] = []


class AgentCapabilities(msgspec.Struct, rename="camel"):
    """The optional parts of the protocol that an agent supports."""

    streaming: bool = False
    push_notifications: bool = False
    extended_agent_card: bool = False


class AgentCard(msgspec.Struct, rename="camel"):
    """The description of an agent; `interfaces` are in its order of preference."""

    name: str = ""
    description: str = ""
    version: str = ""
    capabilities: AgentCapabilities = msgspec.field(default_factory=AgentCapabilities)
    skills: list[AgentSkill] = []
    interfaces: list[AgentInterface] = []

    def describe_skills(self) -> JsonObject:
        """Return `description` and `examples` of all skills, from which routers learn."""
        told = [self.description, *(skill.description for skill in self.skills)]
        examples = [text for skill in self.skills for text in skill.examples]
        return {
            "description": "\n".join(dict.fromkeys(text for text in told if text)),
            "examples": list(dict.fromkeys(examples)),
        }


def read_card(body: bytes) -> AgentCard:
    """Read a card of version 1.0 or 0.3; raise `BadReply` for anything else."""
    try:
        given = drop_nulls(msgspec.json.decode(body))
        if not isinstance(given, dict) or not {"name", "skills", "url"} & given.keys():
            raise BadReply("this is not an agent card: it has no name")
        card = msgspec.convert(given, AgentCard)
        card.interfaces = _interfaces(given)
    except msgspec.ValidationError as error:
        raise BadReply(f"this is not an agent card: {error}") from None
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply(f"this is not an agent card, not even JSON: {error}") from None
    return card


def _interfaces(given: JsonObject) -> list[AgentInterface]:
    """Return the interfaces of 1.0, then the interfaces that only 0.3 knows."""
    listed = given.get("supportedInterfaces")
    interfaces = [
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
                interfaces.append(interface)
    return list(dict.fromkeys(interfaces))


def _text(given: Any, key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
