"""`serve --dream DIR` runs the connectors and formatters of a folder of DREAM's own code."""

import json
import os
import re
import subprocess
import sys
import urllib.request
import venv
from pathlib import Path
from typing import Any

CONNECTOR = """
import asyncio
from pathlib import Path

WORDS = Path("common/words.txt").read_text()


class EchoConnector:
    def __init__(self, ending):
        self.ending = ending

    async def send(self, payload, callback):
        said = payload["payload"]["sentences"][0]
        reply = [[f"{WORDS} {said}{self.ending}"], [0.9]]
        asyncio.create_task(callback(task_id=payload["task_id"], response=reply))
"""
FORMATTERS = """
def last_utt_dialog(dialog):
    return [{"sentences": [dialog["human_utterances"][-1]["text"].upper()]}]


def skill_with_attributes_formatter_service(payload):
    return [{"text": text, "confidence": sure} for text, sure in zip(*payload)]
"""


def dream(folder: Path) -> tuple[Path, Path]:
    """Make a folder of code as DREAM's is laid out, and a pipeline file elsewhere."""
    home = folder / "dream"
    for package in ("common", "state_formatters", "skills/echo"):
        (home / package).mkdir(parents=True)
    (home / "common" / "words.txt").write_text("heard")
    (home / "skills" / "echo" / "connector.py").write_text(CONNECTOR)
    (home / "state_formatters" / "dp_formatters.py").write_text(FORMATTERS)
    echo = {
        "connector": {
            "protocol": "python",
            "class_name": "skills.echo.connector:EchoConnector",
            "ending": "!",
        },
        "dialog_formatter": "state_formatters.dp_formatters:last_utt_dialog",
        "response_formatter": "state_formatters.dp_formatters:"
        "skill_with_attributes_formatter_service",
        "state_manager_method": "add_hypothesis",
    }
    file = folder / "pipeline_conf.json"
    file.write_text(json.dumps({"services": {"skills": {"echo": echo}}}))
    return home, file


def command(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "prolocutor", *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )


def said(address: str, text: str) -> Any:
    body = json.dumps({"user_id": "ann", "payload": text}).encode()
    request = urllib.request.Request(
        f"{address}/", body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["response"]


def reply_of(folder: Path, home: Path, file: Path) -> Any:
    words = ("serve", file.name, "--dream", home.name, "--port", "0", "--store", "kept.db")
    with command(folder, *words) as server:
        assert server.stdout is not None
        found = re.search(r"http://\S+", server.stdout.readline())
        assert found is not None
        reply = said(found[0], "hi")
        server.terminate()
    return reply


def test_connectors_and_formatters_are_those_of_the_folder(tmp_path: Path) -> None:
    home, file = dream(tmp_path)

    assert reply_of(tmp_path, home, file) == "heard HI!"
    assert (tmp_path / "kept.db").exists()


def test_connectors_that_need_more_run_in_the_folders_own_python(tmp_path: Path) -> None:
    home, file = dream(tmp_path)
    venv.create(home / ".venv", symlinks=True)
    [packages] = (home / ".venv").glob("lib/*/site-packages")
    (packages / "library_of_dream.py").write_text("import sentry_sdk; sentry_sdk.init(None)")
    (home / ".env").write_text("# names\nNAMED_BY_ENV=common/words.txt\n")
    needing = "import os, library_of_dream\n" + CONNECTOR.replace(
        '"common/words.txt"', 'os.environ["NAMED_BY_ENV"]'
    )
    (home / "skills" / "echo" / "connector.py").write_text(needing)

    with command(tmp_path, "check", file.name, "--dream", home.name) as checked:
        shown, _ = checked.communicate()

    assert "connectors imported, each in a process of" in shown
    assert reply_of(tmp_path, home, file) == "heard HI!"


def test_a_class_of_the_folder_goes_before_a_built_in_one_of_its_name(tmp_path: Path) -> None:
    home, file = dream(tmp_path)
    for each in (file, home / "skills" / "echo" / "connector.py"):
        each.write_text(each.read_text().replace("EchoConnector", "DummySkillConnector"))

    assert reply_of(tmp_path, home, file) == "heard HI!"


def test_a_check_says_what_is_imported_and_what_cannot_be(tmp_path: Path) -> None:
    home, file = dream(tmp_path)
    (home / "state_formatters" / "dp_formatters.py").unlink()

    with command(tmp_path, "check", file.name, "--dream", home.name) as checked:
        shown, _ = checked.communicate()

    assert checked.returncode == 0, shown
    assert "connectors imported: skills.echo.connector:EchoConnector" in shown
    assert "dp_formatters cannot be imported (there is no module" in shown


def test_the_folder_goes_with_a_pipeline_file_alone(tmp_path: Path) -> None:
    (tmp_path / "assistant.yaml").write_text("skills: {echo: {call: 'os.path:join'}}")

    with command(tmp_path, "serve", "assistant.yaml", "--dream", ".") as server:
        _, errors = server.communicate()

    assert server.returncode == 1
    assert "leave out --dream" in errors
