"""A function hosted over HTTP, and the way to it: both keep what every connector keeps."""

import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest

from prolocutor.connectors.http import HttpConnector
from prolocutor.contracts.connector import Connector
from prolocutor.processes.host import FunctionHost
from prolocutor.testing.connector_kit import ConnectorKit

HOST = [sys.executable, "-m", "prolocutor.processes.host"]


class Hosts:
    """One process for each function that the tests ask for, started at the first asking."""

    def __init__(self) -> None:
        self._running: dict[str, tuple[subprocess.Popen[str], str]] = {}

    def url(self, behaviour: str, *options: str) -> str:
        if behaviour not in self._running:
            words = [*HOST, f"prolocutor.testing.behaviours:{behaviour}", "--port", "0", *options]
            process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"running on (\S+)", line):
                    self._running[behaviour] = process, found[1]
                    break
        return self._running[behaviour][1]

    def close(self) -> None:
        processes = [process for process, _ in self._running.values()]
        for process in processes:
            process.terminate()
        for process in processes:
            process.communicate(timeout=60)


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    hosts = Hosts()
    yield hosts
    hosts.close()


class TestKit(ConnectorKit):
    @pytest.fixture(autouse=True)
    def _keep(self, hosts: Hosts) -> None:
        self.hosts = hosts

    async def connect(self, behaviour: str) -> Connector:
        return HttpConnector(self.hosts.url(behaviour), name=behaviour)

    async def connect_batched(self, behaviour: str) -> Connector:
        return HttpConnector(self.hosts.url(behaviour, "--batch"), name=behaviour, batched=True)


@pytest.mark.parametrize(
    ("method", "path", "body", "answer"),
    [
        ("GET", "/health", b"", (200, "ok")),
        ("GET", "/other", b"", (405, {"error": "POST a request, or GET /health"})),
        ("POST", "/any/path", b"[1]", (200, [1])),
        ("POST", "/", b"[", (400, {"error": "this is not a request: Input data was truncated"})),
        ("POST", "/", b'{"raise":"no"}', (500, {"error": "ValueError: no"})),
    ],
)
async def test_it_answers_plainly(
    hosts: Hosts, method: str, path: str, body: bytes, answer: tuple[int, object]
) -> None:
    async with (
        aiohttp.ClientSession(hosts.url("echo")) as session,
        session.request(method, path, data=body) as response,
    ):
        assert (response.status, await response.json()) == answer


def test_it_listens_on_loopback_only(hosts: Hosts) -> None:
    assert hosts.url("echo").startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("json:no", "json:no cannot be imported: AttributeError: module 'json' has no attribute"),
        ("no_such:f", "no_such:f cannot be imported: ModuleNotFoundError: No module named"),
        ("sys:path", "sys:path cannot be called"),
    ],
)
def test_a_target_that_cannot_be_hosted_is_one_clear_line(target: str, complaint: str) -> None:
    run = subprocess.run([*HOST, target], capture_output=True, text=True, check=False)

    assert run.returncode == 1
    assert run.stderr.startswith(complaint)
    assert run.stderr.count("\n") == 1


async def poet(request: Any) -> AsyncIterator[str]:
    yield "Ro"
    if "fail" in request:
        raise ValueError("no")
    yield "ses"


@pytest.mark.parametrize(
    ("accept", "body", "answer"),
    [
        (b"*/*", b"{}", b'{"text":"Roses","confidence":0.5}'),
        (
            b"application/json, text/event-stream",
            b"{}",
            (
                b'data: {"delta":"Ro","confidence":null}\n\n'
                b'data: {"delta":"ses","confidence":null}\n\n'
                b'data: {"text":"Roses","confidence":0.5}\n\n'
            ),
        ),
        (
            b"text/event-stream",
            b'{"fail": 1}',
            b'data: {"delta":"Ro","confidence":null}\n\n',
        ),
        (
            b"text/event-stream",
            b"{",
            b'{"error":"this is not a request: Input data was truncated"}',
        ),
    ],
)
async def test_the_words_of_a_function_are_sent_to_a_client_that_takes_events(
    accept: bytes, body: bytes, answer: bytes
) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/", "headers": [(b"accept", accept)]}
    await FunctionHost(poet)(scope, receive, send)

    assert b"".join(message.get("body", b"") for message in sent) == answer
