"""External models for routers and rankers: encoders and chat endpoints, by options."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import msgspec

from prolocutor.connectors.parts.url import http_url
from prolocutor.contracts.pairing import Encoder
from prolocutor.errors import ProlocutorError
from prolocutor.plan.pipeline import Call
from prolocutor.plugins.pairing.encoders.meanings import Patience
from prolocutor.plugins.pairing.encoders.vector_cache import (
    EndpointEncoder,
    ModelGone,
    StoredEncoder,
    cache_file,
)
from prolocutor.plugins.pairing.endpoints import ChatEndpoint, make_connector
from prolocutor.plugins.pairing.measuring.fitting import PairingModels
from prolocutor.plugins.pairing.method_catalog import Need, load_encoder

_ANY_MODEL: Final = "default"
"""The model that an endpoint is asked for where its URL names none; many have only one."""


_LONGEST_CALL: Final = 120.0
"""Seconds after which an endpoint that has not answered a call is given up."""


class ModelLocations(msgspec.Struct, frozen=True, kw_only=True):
    """Where the external models are, as the command's options name them."""

    encoder: str | None = None
    chat: str | None = None

    @property
    def needs(self) -> frozenset[Need]:
        """The needs of methods met here, labels included."""
        there: dict[Need, str | None] = {
            "encoder": self.encoder,
            "chat": self.chat,
        }
        return frozenset({"labels", *(need for need, place in there.items() if place)})


@asynccontextmanager
async def open_models(
    locations: ModelLocations,
    *,
    on_texts: Callable[[int, int], None] = lambda done, number: None,
) -> AsyncIterator[PairingModels]:
    """Open the models and close them at the end; `ConfigError` or `NotFound` for a bad one.

    An encoder is asked at once, and if it fails then or later, `ProlocutorError` says so. Its
    vectors are stored from one run to the next. `on_texts` is called as texts are encoded.
    """
    try:
        async with AsyncExitStack() as stack:
            yield await _open_models(locations, stack, on_texts)
    except ModelGone as gone:
        raise ProlocutorError(f"{gone.what}; nothing is learned or measured without it") from None


async def _open_models(
    locations: ModelLocations,
    stack: AsyncExitStack,
    on_texts: Callable[[int, int], None],
) -> PairingModels:
    encoder: Encoder | None = None
    complete = None
    if locations.encoder is not None:
        encoder = await _encoder(locations.encoder, stack, on_texts)
    if locations.chat is not None:
        chat = ChatEndpoint("openai_chat", Call(locations.chat), name="chat")
        stack.push_async_callback(chat.connector.aclose)
        complete = chat.complete
    return PairingModels(encoder=encoder, complete=complete)


async def _encoder(
    where: str, stack: AsyncExitStack, on_texts: Callable[[int, int], None]
) -> Encoder:
    made: Any
    if "://" in where:
        given = http_url(where)
        model = given.parameters.get("model") or _ANY_MODEL
        call = Call(where, options={"model": model})
        endpoint = make_connector("openai_embeddings", call, name="encoder", verb="embed")
        stack.push_async_callback(endpoint.aclose)
        patience = Patience(_LONGEST_CALL)

        async def embed(texts: Sequence[str]) -> Sequence[Sequence[float]]:
            return await patience.wait_for(endpoint.embed(texts))

        made, place = EndpointEncoder(embed, name=model), str(given)
        shown = str(msgspec.structs.replace(given, user=None, password=None))
    else:
        made, place, shown = load_encoder(where), where, where
        stack.push_async_callback(made.aclose)
    stored = StoredEncoder(made, cache_file(place), shown, on_texts=on_texts)
    stack.callback(stored.close)
    await stored.open()
    return stored
