"""Channels by name."""

import pytest

from prolocutor.assistant.assistant import Assistant
from prolocutor.channels.catalog import OURS, channel_class, make_channel, names
from prolocutor.errors import ConfigError
from prolocutor.testing.channel_kit import Gate, pipeline


@pytest.mark.parametrize("name", OURS)
def test_every_name_is_that_of_its_channel(name: str) -> None:
    assert channel_class(name).name == name  # type: ignore[attr-defined]
    assert name in names()


def test_a_channel_is_made_for_an_assistant() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")

    assert make_channel("deeppavlov", assistant).prefix == ""


def test_an_unknown_name_gets_a_hint() -> None:
    with pytest.raises(ConfigError, match="did you mean 'deeppavlov'"):
        channel_class("deepavlov")


def test_unknown_options_are_refused() -> None:
    assistant = Assistant(pipeline(Gate()), store="memory:")

    with pytest.raises(ConfigError, match="the door 'deeppavlov' cannot be made"):
        make_channel("deeppavlov", assistant, colour="red")
