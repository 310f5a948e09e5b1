"""Vectors are made once, in batches, at length 1, and what is no vector is refused."""

from collections.abc import Sequence
from typing import Any

import pytest

from prolocutor.errors import BadReply
from prolocutor.plugins.pairing.encoders.vector_cache import (
    MAX_CHARACTERS,
    EndpointEncoder,
    VectorCache,
)


class Endpoint:
    """Gives each text a vector of its length, and keeps what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self.asked: list[list[str]] = []
        self._replies = list(replies)

    async def __call__(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        self.asked.append(list(texts))
        return self._replies.pop(0) if self._replies else [[3.0 * len(one), 4.0] for one in texts]


async def test_a_text_is_encoded_once_and_vectors_have_length_1() -> None:
    endpoint = Endpoint()
    encoder = EndpointEncoder(endpoint)

    first = await encoder.encode(["a", "bb", "a"])
    again = await encoder.encode(["bb", "c"])

    assert endpoint.asked == [["a", "bb"], ["c"]]
    assert [pytest.approx(value) for value in first[0]] == [0.6, 0.8]
    assert first[2] == first[0]
    assert again[0] == first[1]


async def test_batches_are_bounded_and_the_oldest_is_forgotten() -> None:
    endpoint = Endpoint()
    cache = VectorCache(endpoint, batch=2, most=3)

    await cache.vectors(["a", "b", "c"])
    await cache.vectors(["a", "d"])
    await cache.vectors(["a", "b"])

    assert endpoint.asked == [["a", "b"], ["c"], ["d"], ["b"]]
    assert len(cache) == 3


async def test_more_texts_than_are_kept_are_encoded_all_the_same() -> None:
    cache = VectorCache(Endpoint(), batch=2, most=1)

    assert len(await cache.vectors(["a", "b", "c", "a"])) == 4


async def test_long_texts_are_cut_and_empty_ones_are_not_sent() -> None:
    endpoint = Endpoint()

    await EndpointEncoder(endpoint).encode(["x" * 9000, " ", ""])

    assert [len(text) for text in endpoint.asked[0]] == [MAX_CHARACTERS, 1, 1]
    assert endpoint.asked[0][1:] == [".", "."]


@pytest.mark.parametrize(
    "reply",
    [
        [[1.0, 2.0]],
        [[1.0, 2.0], [1.0]],
        [[], []],
        [[1.0, float("nan")], [1.0, 1.0]],
        [[1.7e308, 1.7e308], [1.0, 1.0]],
    ],
)
async def test_what_is_no_vector_for_each_text_is_refused(reply: Any) -> None:
    with pytest.raises(BadReply):
        await EndpointEncoder(Endpoint(reply)).encode(["a", "b"])


async def test_a_vector_of_nothing_stays_so() -> None:
    assert [*(await EndpointEncoder(Endpoint([[0.0, 0.0]])).encode(["a"]))[0]] == [0.0, 0.0]
