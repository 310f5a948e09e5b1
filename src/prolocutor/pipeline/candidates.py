"""Slots and hypotheses, kept as the bytes that they will be."""

from __future__ import annotations

from typing import Any

from prolocutor.dialog.plain import encode

Order = int
"""Position of a service in the declared order."""

Slots = dict[str, bytes]
"""Annotations by name, in declared order, each as a member of a JSON object: `"name":value`."""


class Candidate:
    """A hypothesis in its slot: `id` is `<skill>.<position>` and nobody else's to give."""

    __slots__ = ("_front", "_slots", "encoded", "id", "skill", "value")

    def __init__(self, skill: str, position: int, value: dict[str, Any]) -> None:
        self.skill = skill
        self.id = f"{skill}.{position}"
        self.value = value
        shown = {"skill_name": skill, **value, "hypothesis_id": self.id}
        self._slots = slots_of(shown.pop("annotations", None) or {})
        self._front = encode(shown)[:-1]
        self._encode()

    @property
    def annotations(self) -> Slots:
        """What candidate annotators (and the skill itself) noted."""
        return self._slots

    def annotate(self, name: str, encoded: bytes, order: dict[str, Order]) -> None:
        """Fill a candidate annotator's slot."""
        self._slots = filled(self._slots, name, encoded, order)
        self._encode()

    def _encode(self) -> None:
        self.encoded = b'%b,"annotations":%b}' % (self._front, object_of(self._slots))


def filled(slots: Slots, name: str, encoded: bytes, order: dict[str, Order]) -> Slots:
    """Fill one slot, keeping declared order whatever the order of arrival."""
    late = slots and order.get(name, -1) < order.get(next(reversed(slots)), -1)
    every = {**slots, name: b"%b:%b" % (encode(name), encoded)}
    if late:
        return dict(sorted(every.items(), key=lambda slot: order.get(slot[0], -1)))
    return every


def slots_of(values: dict[str, Any]) -> Slots:
    """Return the slots that hold these values."""
    return {name: b"%b:%b" % (encode(name), encode(value)) for name, value in values.items()}


def object_of(slots: Slots) -> bytes:
    """Return the JSON object of what the slots hold."""
    return b"{%b}" % b",".join(slots.values())
