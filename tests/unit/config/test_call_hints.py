"""Hints for a `call` in a form that other programs understand."""

from pathlib import Path

import pytest

from prolocutor.config.file_check import check
from prolocutor.connectors.connector_catalog import call_hint


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("openai:gpt-4o", "call: {url: 'https://api.openai.com/v1', model: 'gpt-4o'}"),
        ("openai/gpt-4o", "model: 'gpt-4o'"),
        ("ollama:llama3.2:1b", "url: 'http://127.0.0.1:11434/v1', model: 'llama3.2:1b'"),
        ("gpt-4o", "https://api.openai.com/v1"),
        ("a2a:hotel", "connector: a2a, call: hotel"),
        ("wss://h/x", "connector: websocket"),
        ("ws://h/me/api/conversation?id=main", "connector: almond"),
        ("almond:ws://h/x", "connector: almond, call: ws://h/x"),
        ("prolocutor:http://h:4242", "connector: prolocutor, call: http://h:4242"),
        ("a2a+https://h/x", "connector: a2a, call: https://h/x"),
        ("mcp://h/mcp", "connector: mcp, call: http://h/mcp"),
        ("./bot --fast", "connector: command, call: {run: './bot --fast'}"),
        ("node bot.js", "connector: command"),
        ("stdio:bot", "connector: command, call: {run: 'bot'}"),
        (["./bot"], "connector: command"),
        ("127.0.0.1:8000/answer", "'http://127.0.0.1:8000/answer'"),
        ("localhost", "'http://localhost'"),
        ("weather.example.org:80", "'http://weather.example.org:80'"),
        ("skills.dice", "'skills:dice'"),
        ("openai_chat", "connector: openai_chat, call: {url: ...}"),
        ("command", "connector: command, call: {run: ...}"),
        ("my_module", None),
        ("ftp://h/x", None),
        ("http://h/x", None),
        (7, None),
    ],
)
def test_a_wrong_form_gets_the_right_one(call: object, hint: str | None) -> None:
    found = call_hint(call)

    assert found is None if hint is None else hint in str(found)


def test_the_check_of_a_file_shows_the_hint(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    file.write_text("skills:\n  a: {call: 'openai:gpt-4o'}\n  b: {call: 'anthropic:claude'}\n")
    report = check(file)

    told = [str(fault) for fault in report.faults]
    assert len(told) == 2
    assert all("connector: openai_chat" in one for one in told)
