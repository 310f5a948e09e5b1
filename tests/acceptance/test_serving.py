"""`prolocutor serve` on real sockets: beside other commands, ended, and killed."""

import json
import signal
import socket
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from prolocutor.cli.owner import OwnerNote
from prolocutor.stores.sqlite.ownership import Ownership
from tests.acceptance.commands import Commands, descendants
from tests.integration.pids import is_gone


def post(url: str, body: dict[str, Any]) -> dict[str, Any]:
    """Say something over HTTP."""
    request = urllib.request.Request(
        url, json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        answer: dict[str, Any] = json.load(response)
        return answer


def test_serve_answers_over_http_and_ends_in_good_order(commands: Commands, own: Path) -> None:
    with commands.serving(own) as server:
        reply = post(server.url, {"user_id": "ann", "payload": "hello"})

        assert reply["response"] == "Hello! What is your name?"
        assert server.end(signal.SIGTERM) == 0
        assert server.errors() == ""
    assert commands.output("dialogs", "list", "--store", own, "--user", "ann").split("\t")[3] == "1"


def test_a_port_for_monitoring_needs_no_key(commands: Commands) -> None:
    with commands.serving("--store", "memory:", "--metrics-port", "0") as server:
        assert server.process.stdout is not None
        said = [server.process.stdout.readline() for _ in range(7)]
        word, url = said[-1].split()
        with urllib.request.urlopen(url, timeout=60) as response:
            figures = response.read().decode()

    assert word == "Metrics:"
    assert "prolocutor_busy 0.0" in figures


def test_once_ends_after_one_turn(commands: Commands, own: Path) -> None:
    with commands.serving(own, "--once") as server:
        assert post(server.url, {"user_id": "ann", "payload": "say abc backwards"})["response"] == (
            "cba"
        )

        assert server.process.wait(60) == 0


def test_other_commands_come_in_by_the_door_of_the_server(commands: Commands, own: Path) -> None:
    with commands.serving(own) as server:
        post(server.url, {"user_id": "ann", "payload": "my name is Ann"})

        asked = commands.output("ask", "hello", "--assistant", own, "--user", "ann")
        turn = json.loads(
            commands.output("ask", "hi", "--assistant", own, "--user", "ann", "--json")
        )
        chatted = commands.output("chat", own, "--user", "ann", said="hello\n/who\n/new\n")
        listed = commands.output("dialogs", "list", "--store", own).split("\t")
        rated = commands.output("dialogs", "rate", "--store", own, turn["reply"]["utt_id"], "5")
        shown = commands.output("dialogs", "show", "--store", own, listed[0])
        deleted = commands.output("dialogs", "delete", "--store", own, "--user", "ann", "--yes")
        left = commands.output("dialogs", "list", "--store", own)

    assert asked == "Hello, Ann!"
    assert turn["record"]["asked"] == ["greeter", "mirror"]
    assert "greeter answered" in chatted
    assert listed[2:4] == ["ann", "4"]
    assert rated == f"The utterance {turn['reply']['utt_id']} is rated 5."
    assert "rated 5" in shown
    assert "deleted" in deleted
    assert left == ""


def test_the_owners_door_is_no_door_for_pages_of_others(commands: Commands, own: Path) -> None:
    with commands.serving(own) as server:
        request = urllib.request.Request(
            f"{server.url}/owner/delete",
            b'{"user": "ann"}',
            {"Content-Type": "application/json", "Origin": "https://elsewhere.example"},
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request, timeout=60)
        refused.value.close()

    assert refused.value.code == 403


def test_a_server_that_is_killed_leaves_no_processes_and_no_lock(commands: Commands) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("finding the processes of others (needs Linux)")
    with commands.serving() as server:
        started = descendants(server.process.pid)
        server.end(signal.SIGKILL)

        assert len(started) >= 4  # two agents, each under its launcher
        assert all(is_gone(pid) for pid in started)
    assert commands.output("ask", "what is 3 plus 4?") == "3 + 4 = 7"


def test_a_port_in_use_is_one_clear_line(commands: Commands, own: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]

        complaint = commands.complaint("serve", own, "--port", port)

    assert complaint == (
        f"prolocutor: port {port} of 127.0.0.1 is in use; choose another one with --port"
    )


@pytest.mark.parametrize("command", ["ask", "serve", "chat"])
def test_a_store_of_somebody_else_is_one_clear_line(
    command: str, commands: Commands, own: Path
) -> None:
    commands.store.parent.mkdir(parents=True)
    owner = Ownership(commands.store)
    owner.take()
    owner.note(OwnerNote("train").text())
    words = ["ask", "hi", "--assistant", own] if command == "ask" else [command, own]
    words += ["--store", commands.store]
    try:
        complaint = commands.complaint(*words)
    finally:
        owner.release()

    assert complaint.startswith(f"prolocutor: {commands.store}: process ")
    assert "(prolocutor train) has this store to itself; end it, or" in complaint


def test_another_assistant_does_not_answer_for_the_one_that_was_meant(
    commands: Commands, own: Path
) -> None:
    with commands.serving(own):
        complaint = commands.complaint("ask", "hello", "--store", own)

    assert f"its assistant is {own}: choose another store with --store" in complaint
