"""From settings to an assistant that answers."""

import sys
from pathlib import Path

import pytest

from prolocutor.config.building import build, build_assistant
from prolocutor.config.loading import load
from prolocutor.config.settings import Settings
from prolocutor.errors import ConfigError

SERVER = '''\
"""Answers every request with the same hypothesis, over HTTP."""

import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer


class Answer(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        reply = json.dumps([{"text": f"from {self.path}", "confidence": 1.0}]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *words):
        pass


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Answer).serve_forever()
'''


async def test_an_assistant_built_from_a_file_answers(tmp_path: Path) -> None:
    (tmp_path / "shouter_for_build.py").write_text(
        "async def shout(request):\n"
        "    text = request['utterances'][-1]['text'].upper()\n"
        "    return {'text': text, 'confidence': 1.0}\n"
    )
    settings = _settings(tmp_path, "skills: {shout: 'shouter_for_build:shout'}\nname: Shouter\n")

    async with build_assistant(settings, store="memory:") as assistant:
        reply = await assistant.reply("hello", user="ann")

    assert assistant.name == "Shouter"
    assert reply.text == "HELLO"
    assert reply.active_skill == "shout"


async def test_processes_are_started_before_the_assistant_and_reached_at_their_path(
    tmp_path: Path,
) -> None:
    (tmp_path / "server.py").write_text(SERVER)
    settings = _settings(
        tmp_path,
        "processes: {books: {run: '{python} server.py'}}\n"
        "skills: {books: {call: {process: books, path: /answer}}}\n",
    )

    async with build_assistant(settings, store="memory:") as assistant:
        reply = await assistant.reply("hello", user="ann")

    assert reply.text == "from /answer"


async def test_what_the_file_says_reaches_the_assistant(tmp_path: Path) -> None:
    settings = _settings(
        tmp_path, "fallback: Nobody knows.\nstore: sqlite:///here.db\nskills: {a: 'builtins:len'}\n"
    )

    async with build_assistant(settings) as assistant:
        reply = await assistant.reply("hello", user="ann")

    assert reply.text == "Nobody knows."
    assert (tmp_path / "here.db").is_file()


def test_a_function_that_is_not_there_is_refused_when_the_assistant_is_built(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigError, match="has no 'nothing'"):
        build(_settings(tmp_path, "skills: {a: 'json:nothing'}\n"), store="memory:")


def _settings(folder: Path, text: str) -> Settings:
    file = folder / "assistant.yaml"
    file.write_text(text, encoding="utf-8")
    return load(file, environ={})


@pytest.fixture(autouse=True)
def _search_path_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
