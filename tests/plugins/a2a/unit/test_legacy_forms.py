"""The objects of A2A 1.0 come through the forms of 0.3 as they were."""

import base64
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prolocutor.errors import BadReply
from prolocutor.plugins.a2a.wire import legacy, legacy_rest
from prolocutor.plugins.a2a.wire.card import read_card
from prolocutor.plugins.a2a.wire.core import (
    AGENT,
    STATES,
    USER,
    A2aArtifact,
    A2aArtifactUpdate,
    A2aEvent,
    A2aMessage,
    A2aPart,
    A2aStatus,
    A2aStatusUpdate,
    A2aTask,
)

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
metadata = st.none() | st.dictionaries(texts, st.integers() | texts, min_size=1, max_size=2)
encoded = st.binary(min_size=1, max_size=8).map(lambda data: base64.b64encode(data).decode())
objects = st.dictionaries(texts, st.integers() | texts | st.none(), min_size=1, max_size=2)
parts = st.one_of(
    st.builds(A2aPart, text=texts, metadata=metadata),
    st.builds(A2aPart, data=objects, metadata=metadata),
    st.builds(A2aPart, data=st.lists(st.integers(), max_size=2) | texts | st.integers()),
    st.builds(A2aPart, url=texts, media_type=st.none() | texts, filename=st.none() | texts),
    st.builds(A2aPart, raw=encoded, media_type=st.none() | texts, metadata=metadata),
)
messages = st.builds(
    A2aMessage,
    message_id=texts,
    context_id=texts | st.just(""),
    role=st.sampled_from([USER, AGENT]),
    parts=st.lists(parts, max_size=3),
    metadata=metadata,
)
statuses = st.builds(A2aStatus, state=st.sampled_from(sorted(STATES)), message=st.none() | messages)
artifacts = st.builds(A2aArtifact, artifact_id=texts, parts=st.lists(parts, max_size=3))
ids = {"task_id": texts, "context_id": texts}
events = st.one_of(
    st.builds(A2aEvent, message=messages),
    st.builds(
        A2aEvent,
        task=st.builds(
            A2aTask,
            id=texts,
            context_id=texts,
            status=statuses,
            artifacts=st.lists(artifacts, max_size=2),
            history=st.lists(messages, max_size=2),
        ),
    ),
    st.builds(A2aEvent, status_update=st.builds(A2aStatusUpdate, status=statuses, **ids)),
    st.builds(
        A2aEvent,
        artifact_update=st.builds(
            A2aArtifactUpdate, artifact=artifacts, append=st.booleans(), **ids
        ),
    ),
)


def by_wire(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@settings(max_examples=30)
@given(events)
def test_events_come_through_json_rpc_of_0_3(event: A2aEvent) -> None:
    assert legacy.read_event(by_wire(legacy.event_out(event))) == event


@settings(max_examples=30)
@given(events)
def test_events_come_through_rest_of_0_3(event: A2aEvent) -> None:
    assert legacy_rest.read_rest_event(by_wire(legacy_rest.event_out(event))) == event


def test_names_in_snake_case_are_read() -> None:
    given = {
        "request": {
            "message_id": "m",
            "role": "ROLE_USER",
            "content": [{"text": "hi"}, {"file": {"file_with_uri": "u", "mime_type": "a/b"}}],
            "metadata": {"as_it_is": 1},
        },
        "configuration": {"blocking": True, "accepted_output_modes": ["text/plain"]},
    }

    assert legacy_rest.upgrade_send_params(given) == {
        "message": {
            "messageId": "m",
            "role": USER,
            "parts": [{"text": "hi"}, {"url": "u", "mediaType": "a/b"}],
            "metadata": {"as_it_is": 1},
        },
        "configuration": {"acceptedOutputModes": ["text/plain"]},
    }


@pytest.mark.parametrize("body", [b"", b"[]", b"{}", b'{"name": 3}', b'{"name": "a", "skills": 1}'])
def test_what_is_no_card_is_a_bad_reply(body: bytes) -> None:
    with pytest.raises(BadReply, match="agent card"):
        read_card(body)


def test_a_card_of_0_3_has_addresses() -> None:
    card = read_card(
        b'{"name": "a", "url": "http://a/rpc", "protocolVersion": "0.3.0", "additionalInterfaces":'
        b' [{"url": "http://a/rest", "transport": "HTTP+JSON"}], "skills": [], "provider": null}'
    )

    assert [
        (interface.url, interface.binding, interface.is_legacy) for interface in card.interfaces
    ] == [
        ("http://a/rpc", "JSONRPC", True),
        ("http://a/rest", "HTTP+JSON", True),
    ]
