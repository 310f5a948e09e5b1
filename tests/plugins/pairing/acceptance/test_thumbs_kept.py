"""No thumb is lost, whatever becomes of the folder of the model and of the process."""

import asyncio
import json
import signal
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load
from tests.acceptance.commands import Commands

THUMBS = 64
BOT = "async def reply(request):\n    return {'text': 'so', 'confidence': 0.5}\n"
YAML = """store: 'sqlite:///{store}'
skills:
  red: {{call: "bots:reply", card: {{description: Knows red.}}}}
  blue: {{call: "bots:reply", card: {{description: Sells blue.}}}}
skill_selector: {{router: learned, model: {model}, budget: top:1}}
"""


def post(url: str, body: dict[str, Any]) -> Any:
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read() or b"{}")


def ask_and_rate(url: str, number: int) -> None:
    user = f"u{number}"
    reply = post(url, {"user_id": user, "payload": f"what is the number of room {number}"})
    rating = {"utt_id": reply["utt_id"], "rating": 1, "user_id": user}
    post(f"{url}/rating/utterance", rating)


def an_assistant(folder: Path, model: str) -> Path:
    (folder / "bots.py").write_text(BOT)
    file = folder / "assistant.yaml"
    file.write_text(YAML.format(store=folder / "d.db", model=model))
    return file


async def learned(file: Path) -> set[str]:
    """Return the questions that the router of a process knows that starts now."""
    async with build_assistant(load(file, environ={})) as assistant:
        (used,) = assistant.models
        return {one.text for one in used.source.latest.method.lessons}


@pytest.mark.parametrize("model", ["models/router", "file/router"], ids=["missing", "unwritable"])
def test_all_thumbs_outlive_the_folder_and_a_kill(
    model: str, commands: Commands, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    file = an_assistant(tmp_path, model)
    with commands.serving(file) as server:
        with ThreadPoolExecutor() as people:
            assert len([*people.map(partial(ask_and_rate, server.url), range(THUMBS))]) == THUMBS
        server.end(signal.SIGKILL)
        said = server.errors()

    assert (f"{model}: no model can be written: Not a directory" in said) is (model[0] == "f")
    assert (tmp_path / model).is_dir() is (model[0] == "m")
    file = an_assistant(tmp_path, "elsewhere")
    assert len(asyncio.run(learned(file))) == THUMBS
