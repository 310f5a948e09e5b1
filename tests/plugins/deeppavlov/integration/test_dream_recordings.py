"""DREAM's pipelines, served as they stand, ask what DeepPavlov Agent asked (recordings of it)."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(__file__).parents[5] / "shared"
PIPELINES = SHARED / "data" / "dream"
TOOL = SHARED / "tools" / "fake_dream.py"
PATIENCE = 120  # seconds
WORDS = "I really do not know what to say."

NAMES = sorted(file.stem for file in PIPELINES.glob("*.json"))
DIVERSE = {
    "dream",
    "dream_mini_persona_based",
    "dream_multimodal",
    "multiskill_ai_assistant",
    "universal_prompted_assistant",
}
"""Pipelines that show all that the others do; the others are long."""
RACES = {
    "dream_bot_kg_prompted": {"response_annotators.bot_knowledge_memorizer": {"9:differs"}},
    "universal_prompted_assistant": {
        "skills.dff_universal_prompted_skill": {"5:differs", "12:differs"}
    },
}
"""Requests of recordings that show, or lack, what a service beside them said, otherwise than those
of the same service in the other turns."""

pytestmark = pytest.mark.skipif(not TOOL.is_file(), reason="../shared has the recordings")


@contextmanager
def served(file: Path, words: Path) -> Iterator[str]:
    """Serve a file by the command, and give the address."""
    command = [sys.executable, "-m", "prolocutor", "serve", str(file)]
    with subprocess.Popen(
        [*command, "--store", "memory:", "--port", "0", "--deadline", str(PATIENCE)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "FALLBACK_FILE": str(words)},
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found is not None, "the server did not start"
            yield found[0]
        finally:
            process.terminate()


def tool() -> Any:
    """Import the tool that plays DREAM's services."""
    spec = importlib.util.spec_from_file_location("fake_dream", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def compared(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    """Compare pipelines with their recordings, four at a time: most of a run is waiting."""
    tests = [item for item in request.session.items if item.path == request.path]
    names = [item.callspec.params["name"] for item in tests if isinstance(item, pytest.Function)]
    folders = [tmp_path_factory.mktemp(name) for name in names]
    with ThreadPoolExecutor(4) as threads:
        found = dict(zip(names, threads.map(comparison, names, folders), strict=True))
    for name, folder in zip(names, folders, strict=True):
        if not is_equal(name, found[name]):  # once more, with the machine to itself
            found[name] = comparison(name, folder)
    return found


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in DIVERSE else pytest.mark.long) for one in NAMES]
)
def test_requests_replies_and_the_stored_state_are_those_of_the_recording(
    name: str, compared: dict[str, Any]
) -> None:
    result = compared[name]

    assert is_equal(name, result), result["services"]
    assert result["replies_differ"] == 0
    assert result["state"] == {}


def is_equal(name: str, result: dict[str, Any]) -> bool:
    """Return whether no request differs but those that were a race in the recording."""
    races = RACES.get(name, {})
    return all(
        {*turns} <= races.get(service, set()) for service, turns in result["services"].items()
    )


GAPS = (0.003, 0.03, 0.1)
"""Seconds between the answers of services that run side by side.

Some requests show what a service beside them has said, so the recorded order of answers counts. A
busy machine may mix them up where they are close together.
"""


def patient(pipeline: Any) -> Any:
    """Give every service time enough on a busy machine: no recorded one was late."""
    for entry in [pipeline.get("connectors", {}), *pipeline["services"].values()]:
        for one in [entry, *(service for service in entry.values() if isinstance(service, dict))]:
            connector = one.get("connector", one)
            if isinstance(connector, dict) and "url" in connector:
                connector["timeout"] = PATIENCE
    return pipeline


def comparison(name: str, folder: Path) -> Any:
    """Compare a pipeline with its recording, with wider gaps where it differs."""
    for gap in GAPS:
        result = compared_once(name, folder, gap)
        if is_equal(name, result):
            break
    return result


def compared_once(name: str, folder: Path, gap: float) -> Any:
    """Serve a pipeline, play its recorded turns, and compare all that was asked and said."""
    fake_dream = tool()
    pipeline = fake_dream.load(PIPELINES / f"{name}.json")
    services = fake_dream.Fake(pipeline, gap).start(0)
    address = f"http://127.0.0.1:{services.server.server_address[1]}"
    file, words = folder / "pipeline_conf.json", folder / "words.json"
    file.write_text(json.dumps(patient(fake_dream.rewrite(pipeline, address))))
    words.write_text(json.dumps([WORDS]))
    try:
        with served(file, words) as agent:
            run = list(fake_dream.drive(agent, address, fake_dream.TURNS))
    finally:
        services.server.shutdown()
        services.server.server_close()

    recordings = [PIPELINES / "golden" / f"{name}{end}.jsonl.gz" for end in ("", "_patched")]
    golden = fake_dream.read(next(recording for recording in recordings if recording.is_file()))
    return fake_dream.compare(golden, run, pipeline, dummy=WORDS)
