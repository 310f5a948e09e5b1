"""Serves a DREAM pipeline by dp-agent 2.2.0, as far as that version can be brought to load one.

    bench/.peers/dp-agent/bin/python bench/peers/run_dp_dream.py pipeline_conf.json [DREAM]

It prints the address of its HTTP API and serves until its standard input ends. What 2.2.0 lacks is
put in from outside, each by the cheapest means, and what it does not do stays undone:

- Formatters, response formatters and Python connectors of DREAM: those of this repository, which
  make the same requests without DREAM's deep copies; the formatters are DREAM's own where its
  folder is named. An object as formatter becomes a function.
- `update_attributes` and `add_annotation_and_reset_human_attributes_for_first_turn`: added to its
  state manager.
- Skill selectors are told the names of the pipeline's services, which stand in its dialogs since.
- Left out: time-outs of connectors, and response annotators in the first turn (their selector then
  names none, which skips all of them in 2.2.0).
- Its database is replaced by dictionaries, and it writes no log of every call.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "src")]

import dp_database  # noqa: E402 - found by the path above

from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS  # noqa: E402
from prolocutor.plugins.deeppavlov.formatters.replies import RESPONSE_FORMATTERS  # noqa: E402
from prolocutor.plugins.deeppavlov.python_connectors.built_in_connectors import make_built_in  # noqa: E402
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment  # noqa: E402

MODULE = "dream_of_dp_agent"
NAMES: list[str] = []
"""The full names of the pipeline's services."""


class BuiltInConnector:
    """A Python connector of DREAM's, by the short name of its class."""

    def __init__(self, kind: str, **arguments: Any) -> None:
        self._call = make_built_in(kind, arguments, DreamEnvironment.read(os.environ))

    async def send(self, payload: dict[str, Any], callback: Any) -> None:
        task = payload["payload"]
        for dialog in task.get("states_batch", ()):
            dialog["attributes"] = {"pipeline": NAMES}
        try:
            response = self._call(task)
        except Exception as error:
            response = error
        await callback(task_id=payload["task_id"], response=response)


async def update_attributes(self: Any, dialog: Any, payload: Any, label: str, **_: Any) -> None:
    """Applies attributes at once, as the development line does."""
    await self.update_human(dialog.human, payload)
    await self.update_bot(dialog.bot, payload)


async def annotate_and_reset(self: Any, dialog: Any, payload: Any, label: str, **_: Any) -> None:
    """Annotates, and in a dialog's first turn forgets what was known of the human."""
    await self.add_annotation(dialog, payload, label)
    if len(dialog.utterances) == 1:
        disliked = dialog.human.attributes.get("disliked_skills", [])
        dialog.human.attributes = {"disliked_skills": disliked}


def formatter(given: str, ours: Any) -> Any:
    """Return DREAM's own function where its folder is named, else ours."""
    if len(sys.argv) < 3:
        return ours
    module, _, name = given.partition(":")
    return getattr(import_module(module), name)


def translated(content: dict[str, Any], module: ModuleType) -> dict[str, Any]:
    """Return a pipeline file for 2.2.0, and put the functions that it names into a module."""

    def translate(service: dict[str, Any], full: str) -> None:
        NAMES.append(full)
        given = service.get("dialog_formatter")
        if given is not None:
            options = given if isinstance(given, dict) else {"name": given}
            name = options["name"].rpartition(":")[2]
            arguments = {key: value for key, value in options.items() if key != "name"}
            made = f"{name}_of_{full}".replace(".", "_")
            function = formatter(options["name"], FORMATTERS[name].format)
            setattr(module, made, partial(function, **arguments))
            service["dialog_formatter"] = f"{MODULE}:{made}"
        given = service.get("response_formatter")
        if given is not None:
            name = given.rpartition(":")[2]
            setattr(module, name, formatter(given, RESPONSE_FORMATTERS.get(name)))
            service["response_formatter"] = f"{MODULE}:{name}"
        connector = service["connector"]
        if isinstance(connector, dict) and connector.get("protocol") == "python":
            kind = connector["class_name"].rpartition(":")[2]
            if kind != "PredefinedTextConnector":
                connector |= {"class_name": f"{MODULE}:BuiltInConnector", "kind": kind}

    for group, entry in content["services"].items():
        if "connector" in entry:
            translate(entry, group)
        else:
            for label, service in entry.items():
                translate(service, f"{group}.{label}")
    return content


def install(file: Path, folder: Path) -> None:
    """Gives dp-agent its settings, its files and its database before it is imported."""
    dp_database.install()
    module = ModuleType(MODULE)
    module.BuiltInConnector = BuiltInConnector
    sys.modules[MODULE] = module
    content = translated(json.loads(file.read_text()), module)
    (folder / "logs").mkdir()
    (folder / "db.json").write_text(json.dumps({"host": "none", "port": 1, "name": "bench"}))
    (folder / "pipeline.json").write_text(json.dumps(content))
    settings = ModuleType("dp_agent_settings")
    settings.db_config = str(folder / "db.json")
    settings.pipeline_config = str(folder / "pipeline.json")
    settings.response_logger = False
    sys.modules["dp_agent_settings"] = settings

    from deeppavlov_agent.core import log
    from deeppavlov_agent.core.state_manager import StateManager

    log.agent_path = folder
    StateManager.update_attributes = update_attributes
    reset = "add_annotation_and_reset_human_attributes_for_first_turn"
    setattr(StateManager, reset, annotate_and_reset)


async def serve(file: Path) -> None:
    """Runs dp-agent's HTTP server until standard input ends."""
    with TemporaryDirectory() as folder:
        install(file, Path(folder))
        from aiohttp import web
        from deeppavlov_agent.http_api import app_factory

        runner = web.AppRunner(await app_factory())
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)  # its shutdown cancels every task, this one among them


if __name__ == "__main__":
    pipeline = Path(sys.argv[1]).absolute()
    for dream in sys.argv[2:3]:  # where its modules are, and the files that they read
        sys.path.insert(0, dream)
        os.chdir(dream)
    asyncio.run(serve(pipeline))
