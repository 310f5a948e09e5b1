"""Channels by name."""

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.doors.door_catalog import CHANNELS
from prolocutor.errors import ConfigError
from prolocutor.testing.channel_kit import Gate, pipeline


@pytest.mark.parametrize("name", CHANNELS.entries)
def test_every_name_is_that_of_its_channel(name: str) -> None:
    assert CHANNELS.load(name).name == name  # type: ignore[attr-defined]
    assert name in CHANNELS.names()


def test_a_channel_is_made_for_an_assistant() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")

    assert CHANNELS.make("deeppavlov", assistant).prefix == ""


def test_an_unknown_name_gets_a_hint() -> None:
    with pytest.raises(ConfigError, match="did you mean 'deeppavlov'"):
        CHANNELS.load("deepavlov")


def test_unknown_options_are_refused() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")

    with pytest.raises(ConfigError, match="the door 'deeppavlov' cannot be made"):
        CHANNELS.make("deeppavlov", assistant, colour="red")
