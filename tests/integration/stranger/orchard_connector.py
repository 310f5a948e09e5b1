"""The way to the orchard."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from prolocutor.bounds import about
from prolocutor.contracts.connector import AgentOptions, Replies, Request, ServiceContext
from prolocutor.dialog import plain


class OrchardConnector:
    def __init__(self, ripe: int) -> None:
        self._ripe = ripe

    async def send(self, requests: Sequence[Request]) -> Replies:
        request = requests[0].value()
        if request.get("answer"):
            return [plain.check(f"{self._ripe} {request['answer']['value']}s for you.")]
        return [plain.check({"text": "Which fruit?", "confidence": 0.9, "ask": "fruit"})]

    async def aclose(self) -> None:
        pass


class Orchard(AgentOptions, frozen=True, kw_only=True):
    """An orchard that sells fruit."""

    url: Annotated[str, about("Where it lies.", what="a URL")] = ""
    ripe: Annotated[int, Meta(ge=1, le=99), about("How many are ripe.")] = 3

    def build(self, context: ServiceContext) -> OrchardConnector:
        return OrchardConnector(self.ripe)
