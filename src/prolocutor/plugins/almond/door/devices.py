"""The devices API: the assistant's skills, and the devices that a person has set up."""

from __future__ import annotations

import hashlib
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.services import ServiceStatus
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, Forbidden
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.almond.door.speakers import PREFIX, Speaker, UserQuery, find_speaker
from prolocutor.plugins.almond.programs.device_classes import KIND
from prolocutor.plugins.almond.thingtalk.manifests import OURS
from prolocutor.web.operations import OpenStruct, TypedRequest

MAX_DEVICES: Final = 1_000
MAX_BYTES: Final = 10_000
MAX_KIND: Final = 200

_NO_KIND: Final = f"kind is needed, a text of at most {MAX_KIND} characters"


class AlmondDevice(msgspec.Struct, frozen=True, rename="camel"):
    """A skill or a device as Almond's clients list it."""

    unique_id: str
    name: str
    description: str
    kind: str
    version: int = 0
    owner_tier: str = "global"
    device_class: str = msgspec.field(default="online", name="class")
    is_transient: bool = False
    auth_type: str = "none"


class AlmondProfile(msgspec.Struct, frozen=True):
    """The speaker as shown by Almond's clients; unknown fields are null."""

    id: str
    username: str
    full_name: str
    email: str | None = None
    email_verified: bool = False
    locale: str = "en-US"
    timezone: str | None = None


class NewDevice(OpenStruct):
    """A device to record, with the texts, numbers and truth values that it is set up with."""

    kind: Annotated[str, Meta(min_length=1, max_length=MAX_KIND, extra={"error": _NO_KIND})]


class DeviceEndpoints:
    """Lists and records a person's devices; the values of a device are never shown."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        skills = [service for service in assistant.services() if service.stage is Stage.SKILL]
        self._skills = {device.kind: device for device in map(_skill_device, skills)}

    async def list_devices(self, request: TypedRequest[UserQuery, None]) -> list[AlmondDevice]:
        """Return skills and devices, by name."""
        return await self.load_devices(find_speaker(request.visitor, user=request.params.user))

    async def profile(self, request: TypedRequest[UserQuery, None]) -> AlmondProfile:
        """Return who speaks."""
        speaker = find_speaker(request.visitor, user=request.params.user)
        name = speaker.user.removeprefix(PREFIX)
        return AlmondProfile(speaker.user, name, name)

    async def create_device(self, request: TypedRequest[UserQuery, NewDevice]) -> AlmondDevice:
        """Record a device."""
        speaker = find_speaker(request.visitor, user=request.params.user)
        return await self.add(speaker, request.body.kind, request.body.extra)

    async def load_devices(self, speaker: Speaker) -> list[AlmondDevice]:
        """Return all devices of a person by name."""
        records = await self._assistant.store.records(speaker.user, KIND)
        found = dict(self._skills)
        for id_, body in records.items():
            found[id_] = self._make_device(id_, plain.decode(body))
        return sorted(found.values(), key=lambda device: device.name.lower())

    async def add(self, speaker: Speaker, kind: str, values: dict[str, Any]) -> AlmondDevice:
        """Record a device; the same values twice are one device. Raise `BadInput` or
        `Forbidden`.
        """
        if speaker.anonymous:
            raise Forbidden("devices are for those who come with a token; see /user/register")
        if not 0 < len(kind) <= MAX_KIND:
            raise BadInput(_NO_KIND, field="kind")
        kind = OURS + kind if OURS + kind in self._skills else kind
        values = {**_check_values(values), "kind": kind}
        id_ = _device_id(values)
        known = await self._assistant.store.records(speaker.user, KIND)
        if id_ not in known and len(known) >= MAX_DEVICES:
            raise BadInput(f"a person has at most {MAX_DEVICES:,} devices", field="kind")
        await self._assistant.store.put_record(speaker.user, KIND, id_, plain.encode(values))
        return self._make_device(id_, values)

    def _make_device(self, id_: str, values: dict[str, Any]) -> AlmondDevice:
        kind = values["kind"]
        if kind in self._skills:
            skill = self._skills[kind]
            return msgspec.structs.replace(skill, unique_id=id_, is_transient=False)
        name = values.get("name") or kind
        auth = "none" if set(values) <= {"kind", "name"} else "custom"
        return AlmondDevice(id_, str(name), f"This is {name}", kind, auth_type=auth)


def frames(devices: list[AlmondDevice]) -> list[dict[str, Any]]:
    """Return the frames that announce devices, without their values."""
    return [
        {
            "type": "new-device",
            "uniqueId": device.unique_id,
            "state": {"kind": device.kind, "name": device.name},
        }
        for device in devices
    ]


def _skill_device(service: ServiceStatus) -> AlmondDevice:
    card = service.card or {}
    description = card.get("description") or f"The skill {service.name}"
    kind = OURS + service.name
    name = str(card.get("name") or service.name)
    return AlmondDevice(kind, name, str(description), kind, device_class="data", is_transient=True)


def _check_values(values: dict[str, Any]) -> dict[str, Any]:
    for key, value in values.items():
        if not isinstance(value, str | int | float):
            raise BadInput(f"{key} should be a text, a number, true or false", field=key[:100])
    if len(plain.encode(values)) > MAX_BYTES:
        raise BadInput(f"a device is set up with at most {MAX_BYTES:,} bytes")
    return values


def _device_id(values: dict[str, Any]) -> str:
    """Return the kind, followed by a digest of any further values."""
    kind: str = values["kind"]
    if set(values) <= {"kind", "name"}:
        return kind
    digest = hashlib.blake2b(plain.encode(sorted(values.items())), digest_size=4)
    return f"{kind}-{digest.hexdigest()}"
