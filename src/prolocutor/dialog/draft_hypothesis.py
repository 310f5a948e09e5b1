"""A hypothesis in its slot, and slots of annotations: in declared order, encoded once."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any, Final

from prolocutor.dialog.plain import Plain, encode

Order = dict[str, int]
"""Position of each service in the declared order, by name."""

Slots = dict[str, Plain]
"""Annotations by name, in declared order."""

_RESERVED: Final = frozenset({"skill_name", "hypothesis_id", "annotations"})


def filled(slots: Slots, name: str, reply: Plain, order: Order) -> Slots:
    """Return the slots with one more filled, in declared order whatever the order of arrival."""
    every = {**slots, name: reply}
    if slots and order.get(name, -1) < order.get(next(reversed(slots)), -1):
        return {one: every[one] for one in sorted(every, key=partial(_place, order))}
    return every


def _place(order: Order, name: str) -> int:
    return order.get(name, -1)


def slots_of(values: dict[str, Any]) -> Slots:
    """Return the slots that hold these values."""
    return {name: Plain(value, encode(value)) for name, value in values.items()}


def values_of(slots: Slots) -> dict[str, Any]:
    """Return the values that the slots hold, not copied."""
    return {name: reply.value for name, reply in slots.items()}


def encoded_slots(slots: Slots) -> bytes:
    """Return the JSON object of what the slots hold."""
    members = [b"%b:%b" % (_encoded_name(name), reply.encoded) for name, reply in slots.items()]
    return b"{%b}" % b",".join(members)


_encoded_name: Final = lru_cache(maxsize=1024)(encode)
"""Encodes names of services, of which there are few."""


class DraftHypothesis:
    """A hypothesis in its slot: `id` is `<skill>.<position>`, whatever keys the skill gave.

    `value` is the skill's own object, `checked` its JSON where it was taken over as it came, and
    `slots` what candidate annotators (and the skill itself) noted. `template` is its agent state,
    to be copied and not to be changed.
    """

    __slots__ = ("_checked", "_encoded", "id", "position", "skill", "slots", "template", "value")

    def __init__(
        self,
        skill: str,
        position: int,
        value: dict[str, Any],
        checked: bytes | None = None,
        slots: Slots | None = None,
    ) -> None:
        self.skill = skill
        self.position = position
        self.id = f"{skill}.{position}"
        self.value = value
        if slots is None:
            given = value.get("annotations")
            slots = slots_of(given) if given else {}
        self.slots = slots
        self.template = template = {"skill_name": skill, **value, "hypothesis_id": self.id}
        template.pop("annotations", None)
        template["annotations"] = values_of(slots)
        self._checked = checked
        self._encoded: bytes | None = None

    def annotated(self, name: str, reply: Plain, order: Order) -> DraftHypothesis:
        """Return the hypothesis with a candidate annotator's slot filled."""
        slots = filled(self.slots, name, reply, order)
        return DraftHypothesis(self.skill, self.position, self.value, self._checked, slots)

    @property
    def encoded(self) -> bytes:
        """The agent state of the hypothesis as JSON."""
        if self._encoded is None:
            self._encoded = b'%b,"annotations":%b}' % (self._front(), encoded_slots(self.slots))
        return self._encoded

    def _front(self) -> bytes:
        """Return the JSON object up to its annotations: the checked bytes, where they will do."""
        if self._checked is None or not _RESERVED.isdisjoint(self.value):
            front = {**self.template}
            del front["annotations"]
            return encode(front)[:-1]
        name, members, own = _encoded_name(self.skill), self._checked[1:-1], encode(self.id)
        return b'{"skill_name":%b,%b,"hypothesis_id":%b' % (name, members, own)
