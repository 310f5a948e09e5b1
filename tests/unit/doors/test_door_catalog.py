"""Channels by name."""

import msgspec
import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.door_catalog import DOORS
from prolocutor.errors import ConfigError
from prolocutor.testing.channel_kit import Gate, pipeline
from prolocutor.web.door_context import DoorContext


@pytest.mark.parametrize("name", DOORS.names())
def test_every_name_is_that_of_its_channel(name: str) -> None:
    assert issubclass(DOORS.load(name), msgspec.Struct)


def test_a_channel_is_made_for_an_assistant() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")

    assert DOORS.load("deeppavlov")().build(DoorContext(assistant)).prefix == ""


def test_an_unknown_name_gets_a_hint() -> None:
    with pytest.raises(ConfigError, match="did you mean 'deeppavlov'"):
        DOORS.load("deepavlov")
