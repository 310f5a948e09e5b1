"""Message: what agents say and observe, ParlAI's class in behaviour.

Source: ParlAI 1.7.2, `parlai.core.message`, and its documentation of the class.
"""

from __future__ import annotations

from typing import Any, Final, Self

UNSAFE_FIELDS: Final = frozenset({"metrics"})
"""What `json_safe_payload` leaves out."""


class Message(dict[str, Any]):
    """A dictionary that refuses to set a key which it has already, unless by `force_set`.

    Only `message[key] = value` is guarded. As in ParlAI, `update`, `|=`, `setdefault` and the
    constructor are plain dictionary methods, and `message | other` is a plain dictionary. To give a
    message to a client use `prolocutor.parlai.payload`: that is JSON for certain.
    """

    def __setitem__(self, key: str, value: Any) -> None:
        if key in self:
            raise RuntimeError(
                f"Message already contains key `{key}`. If this was intentional, please use the "
                "function `force_set(key, value)`."
            )
        super().__setitem__(key, value)

    def force_set(self, key: str, value: Any) -> None:
        """Set a key whether it is there or not; its place in the order stays."""
        super().__setitem__(key, value)

    def copy(self) -> Self:
        """Return a shallow copy of the same class."""
        return type(self)(self)

    @classmethod
    def padding_example(cls) -> Self:
        """Make the message that fills up a batch, or follows the last one."""
        return cls({"batch_padding": True, "episode_done": True})

    def is_padding(self) -> bool:
        """Return whether this only fills up a batch."""
        return bool(self.get("batch_padding"))

    def json_safe_payload(self) -> dict[str, Any]:
        """Return a plain dictionary without `metrics`; as in ParlAI nothing else is converted."""
        return {key: value for key, value in self.items() if key not in UNSAFE_FIELDS}
