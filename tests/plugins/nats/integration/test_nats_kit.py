"""The connector to workers behind NATS keeps the contract of connectors, with real workers."""

import asyncio
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from prolocutor.contracts.connector import Connector
from prolocutor.plugins.nats.connector import NatsConnector
from prolocutor.testing.connector_kit import MISBEHAVIOURS, ConnectorKit
from tests.nats_server import nats_server, worker_process

SINGLE = ["echo", "nothing", *MISBEHAVIOURS]
BATCHED = ["echo_batch", "short_batch"]
MODULE = "prolocutor.testing.behaviours"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("workers")
    lines = [f'  {name}: {{call: "{MODULE}:{name}"}}' for name in SINGLE]
    lines += [f'  {name}: {{call: "{MODULE}:{name}", batch_size: 8}}' for name in BATCHED]
    (folder / "workers.yaml").write_text("skills:\n" + "\n".join(lines) + "\n")
    with asyncio.Runner() as runner:
        stack = AsyncExitStack()

        async def start() -> str:
            server = await stack.enter_async_context(nats_server())
            words = ["workers.yaml", *SINGLE, *BATCHED, "--messages", server.url]
            worker = await stack.enter_async_context(worker_process(*words, folder=folder))
            await worker.until("short_batch takes calls on")
            return server.url

        yield runner.run(start())
        runner.run(stack.aclose())


class TestNatsConnector(ConnectorKit):
    @pytest.fixture(autouse=True)
    def _at(self, url: str) -> None:
        self._url = url

    async def connect(self, behaviour: str) -> Connector:
        return NatsConnector(f"{self._url}/{behaviour}", name=behaviour)

    async def connect_batched(self, behaviour: str) -> Connector:
        return NatsConnector(f"{self._url}/{behaviour}", name=behaviour, batched=True)
