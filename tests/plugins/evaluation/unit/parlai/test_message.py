"""Message behaves as ParlAI's: a dictionary with one guard."""

import copy
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from prolocutor.plugins.evaluation.parlai.message import Message

KEYS = st.sampled_from(["text", "id", "labels", "metrics", "batch_padding", "x"])
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.text()))
FIELDS = st.dictionaries(KEYS, VALUES)


class Spoken(Message):
    """A class of somebody's own."""


def test_a_key_cannot_be_set_again() -> None:
    message = Message(text="hi")

    with pytest.raises(RuntimeError) as refused:
        message["text"] = "hi"

    assert str(refused.value) == (
        "Message already contains key `text`. If this was intentional, "
        "please use the function `force_set(key, value)`."
    )
    assert message == {"text": "hi"}


def test_force_set_keeps_the_place_in_the_order() -> None:
    message = Message(text="hi", id="ann")

    message.force_set("text", "ho")

    assert list(message.items()) == [("text", "ho"), ("id", "ann")]


def test_a_deleted_key_can_be_set() -> None:
    message = Message(text="hi")
    del message["text"]

    message["text"] = "ho"

    assert message.pop("text") == "ho"


def test_update_and_in_place_or_are_not_guarded() -> None:
    message = Message(text="hi")

    message.update(text="ho")
    message |= {"text": "hu", "id": "ann"}

    assert type(message) is Message
    assert message == {"text": "hu", "id": "ann"}


def test_or_gives_a_plain_dictionary_of_either_side() -> None:
    message = Message(text="hi")

    assert type(message | {"text": "ho"}) is dict
    assert type({"text": "ho"} | message) is dict
    assert {"text": "ho"} | message == {"text": "hi"}


def test_from_keys_goes_through_the_guard() -> None:
    assert Message.fromkeys(["a", "b"]) == {"a": None, "b": None}
    with pytest.raises(RuntimeError):
        Message.fromkeys(["a", "a"])


def test_the_constructor_lets_the_last_value_win() -> None:
    assert Message([("a", 1), ("a", 2)], b=3) == {"a": 2, "b": 3}


def test_an_unhashable_key_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        Message()[[]] = 1  # type: ignore[index]


def test_a_message_is_unhashable_and_looks_like_a_dictionary() -> None:
    assert repr(Message(text="hi")) == "{'text': 'hi'}"
    with pytest.raises(TypeError):
        hash(Message())


def test_copy_is_shallow_keeps_the_class_and_loses_attributes() -> None:
    spoken = Spoken(labels=["a"])
    spoken.by = "ann"  # type: ignore[attr-defined]

    copied = spoken.copy()

    assert type(copied) is Spoken
    assert copied["labels"] is spoken["labels"]
    assert not hasattr(copied, "by")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_class_fields_and_attributes(protocol: int) -> None:
    spoken = Spoken(text="hi")
    spoken.by = "ann"  # type: ignore[attr-defined]

    again = pickle.loads(pickle.dumps(spoken, protocol))

    assert type(again) is Spoken
    assert again == {"text": "hi"}
    assert again.by == "ann"


def test_the_copy_module_gives_messages_with_their_attributes() -> None:
    message = Message(labels=["a"])
    message.by = "ann"  # type: ignore[attr-defined]

    shallow, deep = copy.copy(message), copy.deepcopy(message)  # noqa: TID251

    assert type(shallow) is type(deep) is Message
    assert shallow["labels"] is message["labels"] is not deep["labels"]
    assert shallow.by == deep.by == "ann"  # type: ignore[attr-defined]


def test_padding_fills_a_batch_and_ends_an_episode() -> None:
    padding = Spoken.padding_example()

    assert type(padding) is Spoken
    assert padding == {"batch_padding": True, "episode_done": True}
    assert padding.is_padding()


@pytest.mark.parametrize(
    ("value", "expected"), [("no", True), (1, True), (0, False), ("", False), (None, False)]
)
def test_padding_goes_by_the_truth_of_the_field(value: Any, expected: bool) -> None:
    assert Message(batch_padding=value).is_padding() is expected


def test_the_payload_leaves_out_only_metrics_and_converts_nothing() -> None:
    inner = {"metrics": 1}
    message = Message(text=b"raw", metrics={}, more=inner)

    payload = message.json_safe_payload()

    assert type(payload) is dict
    assert payload == {"text": b"raw", "more": inner}
    assert payload["more"] is inner


class MessageMachine(RuleBasedStateMachine):
    """A message and a plain dictionary under the same operations."""

    def __init__(self) -> None:
        super().__init__()
        self.message = Message()
        self.model: dict[str, Any] = {}

    @rule(key=KEYS, value=VALUES)
    def set_item(self, key: str, value: Any) -> None:
        if key in self.model:
            with pytest.raises(RuntimeError, match=key):
                self.message[key] = value
        else:
            self.message[key] = self.model[key] = value

    @rule(key=KEYS, value=VALUES)
    def force_set(self, key: str, value: Any) -> None:
        self.model[key] = value
        self.message.force_set(key, value)

    @rule(key=KEYS, value=VALUES)
    def set_default(self, key: str, value: Any) -> None:
        assert self.message.setdefault(key, value) == self.model.setdefault(key, value)

    @rule(key=KEYS)
    def pop(self, key: str) -> None:
        assert self.message.pop(key, "none") == self.model.pop(key, "none")

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        if key in self.model:
            del self.message[key], self.model[key]
        else:
            with pytest.raises(KeyError):
                del self.message[key]

    @rule()
    def pop_item(self) -> None:
        if self.model:
            assert self.message.popitem() == self.model.popitem()

    @rule(fields=FIELDS, in_place=st.booleans())
    def update(self, fields: dict[str, Any], in_place: bool) -> None:
        if in_place:
            self.message |= fields
        else:
            self.message.update(fields)
        self.model.update(fields)

    @rule(fields=FIELDS)
    def either(self, fields: dict[str, Any]) -> None:
        assert self.message | fields == self.model | fields
        assert fields | self.message == fields | self.model

    @rule(how=st.sampled_from(["copy", "copy module", "pickle", "constructor"]))
    def become_a_copy(self, how: str) -> None:
        self.message = {
            "copy": lambda: self.message.copy(),
            "copy module": lambda: copy.copy(self.message),
            "pickle": lambda: pickle.loads(pickle.dumps(self.message)),
            "constructor": lambda: Message(**self.message),
        }[how]()

    @rule()
    def clear(self) -> None:
        self.message.clear()
        self.model.clear()

    @invariant()
    def both_are_the_same(self) -> None:
        assert type(self.message) is Message
        assert list(self.message.items()) == list(self.model.items())
        assert self.message.is_padding() is bool(self.model.get("batch_padding"))
        safe = {key: one for key, one in self.model.items() if key != "metrics"}
        assert self.message.json_safe_payload() == safe


TestMessageUnderRandomOperations = MessageMachine.TestCase


@given(FIELDS)
def test_messages_equal_dictionaries(fields: dict[str, Any]) -> None:
    assert Message(fields) == fields
    assert dict(Message(fields)) == fields
