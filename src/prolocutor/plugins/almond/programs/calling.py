"""Calls of skills: the requests that a program makes of them, and how their replies are read."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, Final

from msgspec.structs import replace

from prolocutor.assistant.rounds import effects
from prolocutor.contracts.connector import Caller
from prolocutor.contracts.store import AgendaEntry, RecordStore
from prolocutor.dialog import plain, schedules
from prolocutor.errors import BadReply, ProlocutorError
from prolocutor.plugins.almond.programs.configured_devices import ConfiguredDevices, choose_device
from prolocutor.plugins.almond.programs.device_classes import ASK, KIND, DeviceClasses
from prolocutor.plugins.almond.programs.failures import ProgramFailure
from prolocutor.plugins.almond.programs.program_user import ProgramUser
from prolocutor.plugins.almond.thingtalk.checked import ResolvedCall
from prolocutor.plugins.almond.thingtalk.manifests import Class, Function
from prolocutor.plugins.almond.thingtalk.tree import DeviceSelector

MOST_CALLS: Final = 50
"""Calls of skills in one run of a program."""

MOST_RESULTS: Final = 1000
"""The number of results used of one call; further results are dropped."""

LONGEST_STRETCH: Final = 0.02
"""Seconds after which a program yields to the event loop."""

Result = dict[str, Any]


class ProgramCalls:
    """The calls of skills in a run of a program, within `seconds` altogether.

    A second run makes the same calls with the same idempotency keys. `learned` are the human
    attributes returned by skills, `entries` and `struck` their changes to the agenda.
    """

    def __init__(
        self,
        devices: DeviceClasses,
        caller: Caller,
        records: RecordStore,
        person: ProgramUser,
        seconds: float,
    ) -> None:
        self.person = person
        self.learned: dict[str, Any] = {}
        self.entries: list[AgendaEntry] = []
        self.struck: list[tuple[str, str]] = []
        self._devices = devices
        self._caller = caller
        self._records = records
        self._ends = monotonic() + seconds
        self._paused = monotonic()
        self._count = 0

    async def results(self, call: ResolvedCall, parameters: dict[str, Any]) -> list[Result]:
        """Call a function and return its results; `ProgramFailure` if the skill fails.

        With `all=true` each of the person's devices of the class is called.
        """
        if not call.call.device.all:
            return await self._results(call, parameters)
        records = await self._records.records(self.person.user, KIND)
        devices = ConfiguredDevices(records).list_kind(call.call.device.kind)
        found: list[Result] = []
        for device in devices:
            one = replace(call, call=choose_device(call.call, device.id))
            found += await self._results(one, parameters)
        return found if devices else await self._results(call, parameters)

    async def _results(self, call: ResolvedCall, parameters: dict[str, Any]) -> list[Result]:
        function, app = call.function, app_name(call.owner, self._devices)
        skill = self._devices.find_skill(call.owner)
        left = self._ends - monotonic()
        if self._count >= MOST_CALLS:
            raise ProgramFailure("", f"a program makes at most {MOST_CALLS} calls at once")
        if left <= 0:
            raise ProgramFailure(app, "the turn had no time left for it")
        if self.person.is_again and not skill.rerun:
            raise ProgramFailure(app, "it was cut off, and may not be called twice")
        self._count += 1
        asks = function.name == ASK and "utterance" in parameters
        request = await self._request(call, parameters)
        try:
            reply = await self._caller.call(
                skill.name,
                request,
                timeout=min(skill.timeout, left),
                key=f"{self.person.run_id}/{skill.name}/{self._count}",
                formatted=asks,
            )
            if isinstance(reply, dict) and set(reply) == {"error"}:
                raise ProgramFailure(app, str(reply["error"])[:500])
            return _answers(reply) if asks else self._read_results(skill.name, function, reply)
        except ProlocutorError as error:
            raise ProgramFailure(app, str(error)) from None

    async def pause(self) -> None:
        """Yield to the event loop now and then; `ProgramFailure` if no time is left."""
        now = monotonic()
        if now >= self._ends:
            raise ProgramFailure("", "it took too long")
        if now - self._paused > LONGEST_STRETCH:
            await asyncio.sleep(0)
            self._paused = monotonic()

    async def _request(self, call: ResolvedCall, parameters: dict[str, Any]) -> dict[str, Any]:
        state = self.person.state()
        state["service"] = self._devices.find_skill(call.owner).name
        if call.function.name == ASK:
            state["utterances"][0]["text"] = str(parameters.get("utterance", ""))
            return state
        state["function"] = {
            "name": call.function.name,
            "class": call.owner.name,
            "parameters": {name: value for name, value in parameters.items() if value is not None},
        }
        device = call.call.device
        if device.id is not None or device.name is not None:
            state["function"]["device"] = await self._device(device)
        return state

    async def _device(self, device: DeviceSelector) -> dict[str, Any]:
        """Return the values with which the person has set up a device."""
        named_by = {"id": device.id, "name": device.name}
        records = await self._records.records(self.person.user, KIND)
        for id_, body in records.items():
            values = plain.decode(body)
            named = device.id is None and values.get("name") == device.name
            if id_ == device.id or (named and values.get("kind") == device.kind):
                return {**values, **named_by, "id": id_}
        return named_by

    def _read_results(self, skill: str, function: Function, reply: Any) -> list[Result]:
        """Read a reply: a list of results, a single result or None, or an object with `results`."""
        if isinstance(reply, dict) and isinstance(reply.get("results"), list):
            self._learn(skill, reply)
            reply = reply["results"]
        results = [] if reply is None else reply if isinstance(reply, list) else [reply]
        names = [each.name for each in function.outputs]
        for index, result in enumerate(results):
            if not isinstance(result, dict):
                raise BadReply("expected an object with outputs", path=f"$[{index}]")
            if function.kind == "query" and names and not result.keys() & set(names):
                raise BadReply(f"expected outputs: {', '.join(names)}", path=f"$[{index}]")
        return [{name: one.get(name) for name in names} for one in results[:MOST_RESULTS]]

    def _learn(self, skill: str, reply: dict[str, Any]) -> None:
        learned = reply.get("human_attributes")
        if isinstance(learned, dict):
            self.learned |= learned
            self.person.attributes.update(learned)
        schedules.check(reply, "$")
        person, lines = self.person, [(skill, reply)]
        self.entries += effects.entries(person.user, person.dialog_name, person.at, lines)
        self.struck += effects.struck(lines)


def app_name(owner: Class, devices: DeviceClasses) -> str:
    """Return the name of a skill for people."""
    name = devices.find_skill(owner).card_members.get("name")
    return name if isinstance(name, str) and name else owner.canonical


def _answers(reply: Any) -> list[Result]:
    """Return the best of a skill's hypotheses as the result of `ask`."""
    hypotheses = reply if isinstance(reply, list) else [reply]
    said = [
        {"response": hypothesis["text"], "confidence": hypothesis.get("confidence")}
        for hypothesis in hypotheses
        if isinstance(hypothesis, dict) and isinstance(hypothesis.get("text"), str)
    ]
    return sorted(said, key=lambda one: -_read_confidence(one["confidence"]))[:1]


def _read_confidence(confidence: Any) -> float:
    number = isinstance(confidence, int | float) and not isinstance(confidence, bool)
    return confidence if number else 0.0
