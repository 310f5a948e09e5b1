"""An assistant of files for tests of cassettes, and what records and replays it."""

from pathlib import Path
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.call_recording import record_calls
from prolocutor.plugins.cassettes.cassette import Cassette, read_cassette
from prolocutor.plugins.cassettes.recording import CassetteRecorder
from prolocutor.plugins.cassettes.reports import TestOutcome
from prolocutor.plugins.cassettes.running import TestOptions, TestRun, test_files

ASSISTANT = """
name: Kitchen
fallback: I only know about tea.
annotators:
  mood: agents:mood
skill_selector: {call: agents:route, name: route}
skills:
  tea: {call: agents:tea, formatter: agents:last_words}
  clock: {call: agents:clock, timeout: 3}
  diary: {call: agents:diary}
"""
AGENTS = '''
"""Agents, and the assistant's own functions, for tests of cassettes."""

import itertools
import os

served = itertools.count(1)


def mood(request):
    return {"loud": request["human_utterances"][-1]["text"].isupper()}


def route(request):
    return ["tea", "clock", "diary"]


def last_words(state):
    return {"words": state["human_utterances"][-1]["text"]}


def tea(request):
    if "tea" not in request["words"].lower():
        return []
    text = f"Tea number {next(served)}."
    return [{"text": text, "confidence": 0.9, "human_attributes": {"tea": 1}}]


def clock(request):
    if "clock" not in request["human_utterances"][-1]["text"]:
        return []
    if "broken" in request["human_utterances"][-1]["text"]:
        raise ValueError("no clock")
    return {"text": "It is late.", "confidence": 0.8}


def diary(request):
    if request.get("answer"):
        return {"text": f"Noted for {request['answer']['value']}.", "confidence": 1.0}
    if "diary" in request["human_utterances"][-1]["text"]:
        return {"text": "For which day?", "confidence": 1.0, "ask": "date"}
    return []
'''
SAID = ["Tea, please", "TEA", "what does the clock say?", "a broken clock", "coffee"]


def write_assistant(folder: Path, text: str = ASSISTANT) -> Path:
    """Write the assistant and its agents; return its file."""
    (folder / "agents.py").write_text(AGENTS)
    file = folder / "assistant.yaml"
    file.write_text(text)
    return file


async def record(file: Path, *said: str, user: str = "ann") -> Cassette:
    """Record what an assistant replies to words, into `talk.cassette` beside its file."""
    recorder = CassetteRecorder(file.parent / "talk.cassette", anew=True)
    with record_calls(recorder):
        async with Assistant.from_file(file, store="memory:") as assistant:
            for words in said:
                await assistant.reply(words, user)
    return read_cassette(recorder.written[0])


async def outcomes(*paths: Path, **options: Any) -> list[TestOutcome]:
    """Run the tests of files and folders."""
    run = TestRun(TestOptions(**options), lambda outcome: None)
    await run.run(test_files(paths))
    return run.outcomes
