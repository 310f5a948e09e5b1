"""Configured devices: which of a person's devices a call of a program means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from prolocutor.dialog import plain
from prolocutor.plugins.almond.thingtalk.nodes import SyntaxNode, fault, transform
from prolocutor.plugins.almond.thingtalk.tree import Invocation, Program
from prolocutor.reading.plain_text import plain as plain_words

MAX_LISTED: Final = 20
"""The number of devices named in an error message."""


class ConfiguredDevice(msgspec.Struct, frozen=True):
    """A device set up by a person."""

    id: str
    kind: str
    name: str
    values: dict[str, Any]


class OpenChoice(msgspec.Struct, frozen=True):
    """A call with several possible devices."""

    call: Invocation
    devices: list[ConfiguredDevice]


class ConfiguredDevices:
    """The devices set up by a person, from their records."""

    def __init__(self, records: Mapping[str, bytes]) -> None:
        self._devices = [_device(id_, plain.decode(body)) for id_, body in records.items()]

    def list_kind(self, kind: str) -> list[ConfiguredDevice]:
        """Return the devices of a kind, by name."""
        devices = [device for device in self._devices if device.kind == kind]
        return sorted(devices, key=lambda device: (device.name.lower(), device.id))

    def settle_devices(self, program: Program) -> Program | OpenChoice:
        """Name the device of each call by its id; return the first ambiguous call instead.

        Raise `ThingTalkError` for an unknown id or name of a device. A skill without devices of the
        person is called itself.
        """
        open_: list[OpenChoice] = []

        def put(node: SyntaxNode) -> SyntaxNode:
            if not isinstance(node, Invocation) or node.device.all:
                return node
            meant = self._meant(node)
            if len(meant) > 1:
                open_.append(OpenChoice(node, meant))
            return choose_device(node, meant[0].id) if len(meant) == 1 else node

        settled = transform(program, put)
        return open_[0] if open_ else settled

    def _meant(self, call: Invocation) -> list[ConfiguredDevice]:
        """Return the devices that a call may mean; empty for the skill itself."""
        device, devices = call.device, self.list_kind(call.device.kind)
        if device.id is not None:
            found = [one for one in devices if one.id == device.id]
            if not found and device.id != device.kind:
                raise _unknown_device(call, "id", device.id, (one.id for one in devices))
            return found
        if device.name is not None:
            found = _find_named(device.name, devices)
            if not found:
                raise _unknown_device(call, "name", device.name, (one.name for one in devices))
            return found
        return devices


def choose_device(call: Invocation, id_: str) -> Invocation:
    """Return a call of the device with an id."""
    return replace(call, device=replace(call.device, id=id_))


def device_titles(devices: Iterable[ConfiguredDevice]) -> list[str]:
    """Return names for a list of choices; equal names have their id beside them."""
    found = list(devices)
    names = [device.name for device in found]
    return [
        device.name if names.count(device.name) == 1 else f"{device.name} ({device.id})"
        for device in found
    ]


def _find_named(name: str, devices: list[ConfiguredDevice]) -> list[ConfiguredDevice]:
    """Return the devices of a name, else the devices whose name has all its words."""
    said = plain_words(name)
    whole = [device for device in devices if plain_words(device.name) == said]
    words = set(said.split())
    return whole or [
        device for device in devices if words and words <= set(plain_words(device.name).split())
    ]


def _unknown_device(call: Invocation, what: str, given: str, known: Iterable[str]) -> Exception:
    names = ", ".join(f"“{one!s:.60}”" for one in list(known)[:MAX_LISTED])
    do = f"there are {names}" if names else "none is set up: see /api/devices/create"
    kind = call.device.kind
    return fault(f"you have no @{kind!s:.80} with the {what} “{given!s:.80}”", call.position, do)


def _device(id_: str, values: dict[str, Any]) -> ConfiguredDevice:
    kind = str(values.get("kind"))
    return ConfiguredDevice(id_, kind, str(values.get("name") or kind), values)
