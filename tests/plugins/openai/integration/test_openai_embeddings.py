"""Embeddings over real sockets: a vector for each text in order, and errors that say what."""

from contextlib import aclosing
from typing import Any

import pytest

from prolocutor.errors import BadReply, ConfigError, ServiceRefused, ServiceUnreachable
from prolocutor.plugins.openai.embeddings import OpenAiEmbeddings
from prolocutor.plugins.pairing.encoders.vector_cache import EndpointEncoder
from tests.embeddings_peer import embeddings_peer


async def test_vectors_come_in_the_order_of_the_texts() -> None:
    async with (
        embeddings_peer() as peer,
        aclosing(OpenAiEmbeddings(peer.url, model="m", parameters={"dimensions": 2})) as endpoint,
    ):
        assert await endpoint.embed(["a", "bbb", "cc"]) == [[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]
        assert await endpoint.embed([]) == []

    assert peer.asked == [
        {"model": "m", "input": ["a", "bbb", "cc"], "encoding_format": "float", "dimensions": 2}
    ]


async def test_an_encoder_asks_it_in_batches_and_remembers() -> None:
    async with (
        embeddings_peer(key="s3cret") as peer,
        aclosing(OpenAiEmbeddings(f"{peer.url}?model=m".replace("//", "//:s3cret@"))) as endpoint,
    ):
        encoder = EndpointEncoder(endpoint.embed)
        found = await encoder.encode(["x" * n for n in range(1, 101)] + [""])
        await encoder.encode(["x"])

    assert len(found) == 101
    assert [len(body["input"]) for body in peer.asked] == [32, 32, 32, 5]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"data": []}, "vectors of 0 of 1 texts"),
        ({"data": [{"index": 7, "embedding": [1.0]}]}, "vectors of 0 of 1 texts"),
        ({"data": [{"embedding": "AACAPw=="}]}, "not embeddings"),
        ({"data": [{"embedding": [None]}]}, "not embeddings"),
        ({"error": {"message": "overheated"}}, "overheated"),
    ],
)
async def test_invalid_embeddings_are_a_bad_reply(change: dict[str, Any], why: str) -> None:
    async with (
        embeddings_peer(**change) as peer,
        aclosing(OpenAiEmbeddings(peer.url, model="m")) as endpoint,
    ):
        with pytest.raises(BadReply, match=why):
            await endpoint.embed(["a"])


async def test_refusals_and_silence_are_told() -> None:
    async with (
        embeddings_peer(key="s3cret") as peer,
        aclosing(OpenAiEmbeddings(peer.url, model="m", key="wrong")) as stranger,
    ):
        with pytest.raises(ServiceRefused, match="Incorrect API key") as refused:
            await stranger.embed(["a"])
    assert "wrong" not in str(refused.value)
    async with aclosing(OpenAiEmbeddings(peer.url, model="m")) as late:
        with pytest.raises(ServiceUnreachable):
            await late.embed(["a"])
    with pytest.raises(ConfigError, match="embeddings needs a model"):
        OpenAiEmbeddings("http://127.0.0.1:1/v1")
