"""Message: ParlAI's class in behaviour, and a typed, read-only view of its standard fields.

Source: ParlAI 1.7.2, `parlai.core.message`, and its documentation of messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Self

from prolocutor.errors import BadInput

UNSAFE_FIELDS: Final = frozenset({"metrics"})
"""The fields that `json_safe_payload` leaves out."""

STANDARD_FIELDS: Final = (
    "text",
    "id",
    "labels",
    "eval_labels",
    "label_candidates",
    "text_candidates",
    "episode_done",
    "reward",
    "image",
    "metrics",
    "beam_texts",
    "batch_padding",
)
"""The fields shared by ParlAI's agents and teachers; all other fields are extended fields."""


class Message(dict[str, Any]):
    """A dictionary that refuses to set an existing key, unless by `force_set`.

    Only `message[key] = value` is guarded. As in ParlAI, `update`, `|=`, `setdefault` and the
    constructor are plain dictionary methods, and `message | other` is a plain dictionary. For
    clients use `payload.to_json`, which always gives valid JSON.
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
        """Make the message that fills up a batch, or follows the last message of the data."""
        return cls({"batch_padding": True, "episode_done": True})

    def is_padding(self) -> bool:
        """Return whether this only fills up a batch."""
        return bool(self.get("batch_padding"))

    def json_safe_payload(self) -> dict[str, Any]:
        """Return a plain dictionary without `metrics`; like ParlAI, convert nothing else."""
        return {key: value for key, value in self.items() if key not in UNSAFE_FIELDS}


class MessageFields:
    """The standard fields of a message, with types; absent fields are empty."""

    __slots__ = ("_message",)

    def __init__(self, message: Mapping[str, Any]) -> None:
        self._message = message

    @property
    def text(self) -> str | None:
        """The text said."""
        return self._optional_text("text")

    @property
    def id(self) -> str | None:
        """Who says it."""
        return self._optional_text("id")

    @property
    def labels(self) -> tuple[str, ...]:
        """The gold answers, where they may be learned from."""
        return self._texts("labels")

    @property
    def eval_labels(self) -> tuple[str, ...]:
        """The gold answers, where they are only for comparing."""
        return self._texts("eval_labels")

    @property
    def gold(self) -> tuple[str, ...]:
        """The gold answers, wherever they stand."""
        return self.labels if self._message.get("labels") is not None else self.eval_labels

    @property
    def is_training(self) -> bool:
        """Whether it may be learned from."""
        return "labels" in self._message

    @property
    def label_candidates(self) -> tuple[str, ...]:
        """The answers to choose from."""
        return self._texts("label_candidates")

    @property
    def text_candidates(self) -> tuple[str, ...]:
        """The answers as an agent ranks them, best first."""
        return self._texts("text_candidates")

    @property
    def episode_done(self) -> bool:
        """Whether this ends the episode."""
        return self._flag("episode_done")

    @property
    def is_padding(self) -> bool:
        """Whether this only fills up a batch."""
        return bool(self._message.get("batch_padding"))

    @property
    def reward(self) -> float:
        """The reward, 0 if absent."""
        value = self._message.get("reward")
        if value is None:
            return 0.0
        if isinstance(value, bool) or not hasattr(value, "__float__"):
            raise self._wrong("reward", value, "a number")
        return float(value)

    @property
    def image(self) -> Any:
        """The image, in whatever form the image mode gave it."""
        return self._message.get("image")

    @property
    def metrics(self) -> Mapping[str, Any]:
        """The agent's own metrics of this act: name -> metric or number."""
        value = self._message.get("metrics")
        if value is None:
            return {}
        if not isinstance(value, Mapping):
            raise self._wrong("metrics", value, "a dictionary")
        return value

    @property
    def beam_texts(self) -> tuple[tuple[str, float], ...]:
        """A generator's other candidates, with their scores."""
        value = self._message.get("beam_texts")
        if value is None:
            return ()
        try:
            return tuple((str(text), float(score)) for text, score in value)
        except (TypeError, ValueError):
            raise self._wrong("beam_texts", value, "a list of [text, score]") from None

    @property
    def extended(self) -> dict[str, Any]:
        """All other fields."""
        return {key: one for key, one in self._message.items() if key not in STANDARD_FIELDS}

    def _optional_text(self, field: str) -> str | None:
        value = self._message.get(field)
        if value is not None and not isinstance(value, str):
            raise self._wrong(field, value, "a text")
        return value

    def _texts(self, field: str) -> tuple[str, ...]:
        value = self._message.get(field)
        if value is None:
            return ()
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            raise self._wrong(field, value, "a list of texts")
        texts = tuple(value)
        for text in texts:
            if not isinstance(text, str):
                raise self._wrong(field, text, "a list of texts")
        return texts

    def _flag(self, field: str) -> bool:
        value = self._message.get(field, False)
        if not isinstance(value, bool):
            raise self._wrong(field, value, "true or false")
        return value

    def _wrong(self, field: str, value: Any, wanted: str) -> BadInput:
        return BadInput(f"{field} is {wanted}, not a {type(value).__name__}", field=field)
