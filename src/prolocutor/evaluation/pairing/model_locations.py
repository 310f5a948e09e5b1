"""Models of others that some routers and rankers need: encoders and chat endpoints, by options."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import msgspec

from prolocutor.config.endpoints import ChatEndpoint
from prolocutor.connectors.openai_embeddings import OpenAiEmbeddings
from prolocutor.evaluation.pairing.fitting import PairingModels
from prolocutor.pairing.encoders.endpoint import EndpointEncoder
from prolocutor.pairing.method_catalog import Need, load_model_class
from prolocutor.pipeline.plan import Addressed


class ModelLocations(msgspec.Struct, frozen=True, kw_only=True):
    """Where the external models are, as the command's options name them."""

    encoder: str | None = None
    pair_scorer: str | None = None
    chat: str | None = None

    @property
    def needs(self) -> frozenset[Need]:
        """What methods may need here, labels included."""
        there: dict[Need, str | None] = {
            "encoder": self.encoder,
            "pair_scorer": self.pair_scorer,
            "chat": self.chat,
        }
        return frozenset({"labels", *(need for need, place in there.items() if place)})


@asynccontextmanager
async def open_models(locations: ModelLocations) -> AsyncIterator[PairingModels]:
    """Open the models and close them at the end; `ConfigError` or `NotFound` for a bad one."""
    async with AsyncExitStack() as stack:
        encoder = scorer = complete = None
        if locations.encoder is not None and "://" in locations.encoder:
            endpoint = OpenAiEmbeddings(locations.encoder)
            stack.push_async_callback(endpoint.aclose)
            encoder = EndpointEncoder(endpoint.embed)
        elif locations.encoder is not None:
            encoder = load_model_class("onnx")(locations.encoder)
            stack.push_async_callback(encoder.aclose)
        if locations.pair_scorer is not None:
            scorer = load_model_class("pairs")(locations.pair_scorer)
            stack.push_async_callback(scorer.aclose)
        if locations.chat is not None:
            chat = ChatEndpoint("openai_chat", Addressed(locations.chat), name="chat")
            stack.push_async_callback(chat.connector.aclose)
            complete = chat.complete
        yield PairingModels(encoder=encoder, pair_scorer=scorer, complete=complete)
