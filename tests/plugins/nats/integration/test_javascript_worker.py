"""The worker of `docs/reference/workers.md` in JavaScript keeps the wire that Python's keeps."""

import asyncio
import os
import shutil
import signal
from pathlib import Path

import pytest

from prolocutor.errors import ServiceRaised, ServiceUnreachable
from prolocutor.plugins.nats.connector import NatsConnector
from prolocutor.testing.connector_kit import ask, closing
from tests.nats_server import PATIENCE, WorkerProcess, nats_server
from tests.pages import ROOT, blocks

PAGE = ROOT / "docs" / "reference" / "workers.md"
BEGIN = "async function answer(requests) {"
SLOW = "  if (requests[0]?.slow) await new Promise((next) => setTimeout(next, requests[0].slow));"


def node_modules() -> Path:
    """Return the folder with the package `nats`; skip the test where it is missing."""
    given = Path(os.environ.get("PROLOCUTOR_NODE") or ROOT / "build" / "node")
    if shutil.which("node") is None or not (given / "node_modules" / "nats").is_dir():
        pytest.skip('the worker in JavaScript (no build/node: "make test" makes it)')
    return given / "node_modules"


async def test_the_worker_of_the_page_answers_batches_says_alive_fails_and_drains(
    tmp_path: Path,
) -> None:
    modules = node_modules()
    (script,) = [block.text for block in blocks(PAGE) if block.language == "js"]
    (tmp_path / "node_modules").symlink_to(modules)
    slow = script.replace(BEGIN, f"{BEGIN}\n{SLOW}")
    (tmp_path / "worker.mjs").write_text(slow, "utf-8")
    async with nats_server() as server:
        process = await asyncio.create_subprocess_exec(
            *("node", "worker.mjs", "my weather", server.url),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
        )
        worker = WorkerProcess(process)
        try:
            await worker.until("takes calls on prolocutor.*.call.my%20weather")
            url = f"{server.url}/my%20weather"
            async with closing(NatsConnector(url, name="weather", assistant="bot")) as weather:
                many = await asyncio.gather(*(ask(weather, {"city": str(n)}) for n in range(60)))
                raised = await ask(weather, None)
                held = asyncio.create_task(ask(weather, {"slow": 1500, "city": "Ulm"}))
                await _is_alive(weather)
                status = await worker.end(signal.SIGTERM)
                last, nobody = await held, await ask(weather, {})
        finally:
            await worker.kill()

    texts = [getattr(reply, "value", {"text": reply})["text"] for reply in many]
    assert texts == [f"It is sunny in {n}." for n in range(60)]
    assert getattr(last, "value", last) == {"text": "It is sunny in Ulm.", "confidence": 0.9}
    assert isinstance(raised, ServiceRaised)
    assert "TypeError" in str(raised)
    assert status == 0
    assert isinstance(nobody, ServiceUnreachable)


async def _is_alive(connector: NatsConnector) -> None:
    """Wait until the worker of the only open call says that it is alive."""
    first: float | None = None
    async with asyncio.timeout(PATIENCE):
        while True:
            for request in connector._connection._open.values():
                first = first or request.heard
                if request.heard > first:
                    return
            await asyncio.sleep(0.01)
