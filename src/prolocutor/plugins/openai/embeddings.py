"""OpenAiEmbeddings: texts become vectors, by any server of OpenAI's embeddings.

Source: OpenAI's API, `POST {base}/embeddings`. Unknown keys are left alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final

import msgspec

from prolocutor.bounds import about
from prolocutor.contracts.connector import AgentOptions, BearerKey, ServiceContext
from prolocutor.dialog.ids import new_id
from prolocutor.errors import BadReply
from prolocutor.plugins.openai.endpoint import OpenAiEndpoint, error_text

PATH: Final = "/embeddings"
MAX_REPLY_BYTES: Final = 16_000_000
"""Most bytes of a reply: 32 vectors of 4,096 numbers have about 2,500,000."""


class OpenAiEmbeddings:
    """The way to a model behind `{url}/embeddings`; `embed` is made for an `EndpointEncoder`.

    `key` and `model` as of `OpenAiChatConnector`; `parameters` are further keys of the body
    (`dimensions`, ...).
    """

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        key: str | None = None,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        endpoint = OpenAiEndpoint(url, PATH, model=model, key=key)
        self._client = endpoint.client
        self.model = endpoint.model
        self._body = {"model": endpoint.model, **(parameters or {})}

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return a vector for each text, in order; raise `ServiceError` with the fault."""
        if not texts:
            return []
        body = {**self._body, "input": list(texts), "encoding_format": "float"}
        reply = await self._client.post(
            msgspec.json.encode(body), {"Idempotency-Key": new_id()}, max_bytes=MAX_REPLY_BYTES
        )
        return _read(reply.body, len(texts))

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()


class _Embedding(msgspec.Struct):
    embedding: list[float]
    index: int | None = None


class _Embeddings(msgspec.Struct):
    data: list[_Embedding] = []
    error: Any = None


_decode: Final = msgspec.json.Decoder(_Embeddings).decode


def _read(reply: bytes, number: int) -> list[list[float]]:
    """Put the vectors in the order of the texts, since servers may return another order."""
    try:
        found = _decode(reply)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadReply(f"these are not embeddings: {error}") from None
    if found.error:
        raise BadReply(error_text(found.error))
    places = [place if one.index is None else one.index for place, one in enumerate(found.data)]
    if sorted(places) != list(range(number)):
        found_number = len(set(places) & {*range(number)})
        raise BadReply(f"vectors of {found_number} of {number} texts", path="$.data")
    by_place = dict(zip(places, found.data, strict=True))
    return [by_place[place].embedding for place in range(number)]


class EmbeddingModel(AgentOptions, frozen=True, kw_only=True):
    """A model behind a server of OpenAI's embeddings."""

    url: Annotated[str, about("The address of the API.", what="a URL")]
    model: Annotated[str | None, about("The name of the model.", what="the name of a model")] = None
    key: BearerKey = None
    parameters: Annotated[dict[str, Any] | None, about("Further keys of every request.")] = None

    def build(self, context: ServiceContext) -> Any:
        """Make the way to the model."""
        return OpenAiEmbeddings(
            self.url, model=self.model, key=self.key, parameters=self.parameters
        )
