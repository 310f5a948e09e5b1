"""The devices API: the assistant's skills, and the devices that a person has set up."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from prolocutor.almond.door.speakers import Speaker, speaker_of
from prolocutor.almond.programs.device_classes import KIND
from prolocutor.almond.thingtalk.manifests import OURS
from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.service_status import ServiceStatus
from prolocutor.contracts.http import HttpRequest, HttpResponse
from prolocutor.dialog import plain
from prolocutor.errors import BadInput, Forbidden
from prolocutor.pipeline.plan import Stage
from prolocutor.web.requests import json_object, json_response

MOST: Final = 1_000
MAX_BYTES: Final = 10_000
MAX_KIND: Final = 200

Device = dict[str, Any]


class DeviceEndpoints:
    """Lists and records a person's devices; the values of a device are never shown."""

    def __init__(self, assistant: Assistant) -> None:
        self._assistant = assistant
        skills = [one for one in assistant.services() if one.stage is Stage.SKILL]
        self._skills = {device["kind"]: device for device in map(_of_skill, skills)}

    async def show(self, request: HttpRequest) -> HttpResponse:
        """Answer `GET /api/devices/list`."""
        speaker = speaker_of(request.visitor, user=request.query("user"))
        return json_response(await self.of(speaker))

    async def create(self, request: HttpRequest) -> HttpResponse:
        """Answer `POST /api/devices/create`."""
        speaker = speaker_of(request.visitor, user=request.query("user"))
        return json_response(await self.add(speaker, await json_object(request)))

    async def of(self, speaker: Speaker) -> list[Device]:
        """Return all devices of a person by name."""
        records = await self._assistant.store.records(speaker.user, KIND)
        found = dict(self._skills)
        for id_, body in records.items():
            found[id_] = self._shown(id_, plain.decode(body))
        return sorted(found.values(), key=lambda device: str(device["name"]).lower())

    async def add(self, speaker: Speaker, values: dict[str, Any]) -> Device:
        """Record a device; the same values twice are one device. `BadInput`, `Forbidden`."""
        if speaker.anonymous:
            raise Forbidden("devices are for those who come with a token; see /user/register")
        kind = self._checked_kind(values.get("kind"))
        values = {**_checked(values), "kind": kind}
        id_ = _id_of(values)
        known = await self._assistant.store.records(speaker.user, KIND)
        if id_ not in known and len(known) >= MOST:
            raise BadInput(f"a person has at most {MOST:,} devices", field="kind")
        await self._assistant.store.put_record(speaker.user, KIND, id_, plain.encode(values))
        return self._shown(id_, values)

    def _checked_kind(self, kind: Any) -> str:
        if not isinstance(kind, str) or not 0 < len(kind) <= MAX_KIND:
            what = f"kind is needed, a text of at most {MAX_KIND} characters"
            raise BadInput(what, field="kind")
        return OURS + kind if OURS + kind in self._skills else kind

    def _shown(self, id_: str, values: dict[str, Any]) -> Device:
        kind = values["kind"]
        if kind in self._skills:
            return {**self._skills[kind], "uniqueId": id_, "isTransient": False}
        name = values.get("name") or kind
        auth = "none" if set(values) <= {"kind", "name"} else "custom"
        return _device(id_, str(name), kind, f"This is {name}", auth)


def frames(devices: list[Device]) -> list[dict[str, Any]]:
    """Return the frames that announce devices, without their values."""
    return [
        {
            "type": "new-device",
            "uniqueId": device["uniqueId"],
            "state": {"kind": device["kind"], "name": device["name"]},
        }
        for device in devices
    ]


def _of_skill(service: ServiceStatus) -> Device:
    card = service.card or {}
    description = card.get("description") or f"The skill {service.name}"
    kind = OURS + service.name
    name = str(card.get("name") or service.name)
    device = _device(kind, name, kind, str(description), "none")
    return {**device, "class": "data", "isTransient": True}


def _device(id_: str, name: str, kind: str, description: str, auth: str) -> Device:
    return {
        "uniqueId": id_,
        "name": name,
        "description": description,
        "kind": kind,
        "version": 0,
        "ownerTier": "global",
        "class": "online",
        "isTransient": False,
        "authType": auth,
    }


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    for key, value in values.items():
        if not isinstance(value, str | int | float):
            raise BadInput(f"{key} should be a text, a number, true or false", field=key[:100])
    if len(plain.encode(values)) > MAX_BYTES:
        raise BadInput(f"a device is set up with at most {MAX_BYTES:,} bytes")
    return values


def _id_of(values: dict[str, Any]) -> str:
    """Return the kind, with a digest of the values where there are any."""
    kind: str = values["kind"]
    if set(values) <= {"kind", "name"}:
        return kind
    digest = hashlib.blake2b(plain.encode(sorted(values.items())), digest_size=4)
    return f"{kind}-{digest.hexdigest()}"
