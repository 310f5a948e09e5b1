"""Measures dp-agent 2.2.0 on the standard pipeline, its database replaced by dictionaries.

    bench/.peers/dp-agent/bin/python bench/peers/run_dp_agent.py --dialogs 10 --variant stats-off

--door http      through its aiohttp server, in a process of its own whose CPU alone is counted
--services http  with its services behind HTTP, each call sleeping 20 ms; or --service-url URL
--database bson  its documents go through BSON, as MongoDB's driver would send and get them
--from-turn 490  the cost of turn 490 and later; the turns before are put into the dictionaries
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from argparse import Namespace
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING, Any

import dp_database
from bson.objectid import ObjectId
from load import Figures, Load, Usage, WrongReply, load_of, measure, own_usage, parser, run
from services import CONFIDENCES, expected

if TYPE_CHECKING:
    from deeppavlov_agent.core.agent import Agent

HERE = Path(__file__).resolve().parent

VARIANTS = {
    "stats-off": "no clean-up of its response statistics, no log of every call",
    "cleanup-off": "no clean-up of its response statistics",
    "as-shipped": "as it comes",
}


def main() -> None:
    options = arguments()
    if options.serve:
        asyncio.run(serve(options))
        return
    load = load_of(options)
    name = options.variant
    if options.door == "http":
        name += "+http-door"
    if wants_http_services(options):
        name += "+http-services"
    if options.database == "bson":
        name += "+bson"
    run("dp-agent", version("deeppavlov-agent"), name, load, figures(load, options))


def arguments() -> Namespace:
    made = parser(list(VARIANTS))
    made.add_argument("--door", choices=["python", "http"], default="python", help="the way in")
    made.add_argument("--services", choices=["python", "http"], default="python", help="the calls")
    made.add_argument("--database", choices=["dict", "bson"], default="dict", help="its store")
    made.add_argument("--service-url", help="base of services that run already (slow_services.py)")
    made.add_argument("--serve", action="store_true", help="be the server of --door http")
    return made.parse_args()


def wants_http_services(options: Namespace) -> bool:
    return options.services == "http" or options.service_url is not None


async def figures(load: Load, options: Namespace) -> Figures:
    """Sets up what the options ask for and measures it."""
    async with AsyncExitStack() as stack:
        if wants_http_services(options) and not options.service_url:
            services = await stack.enter_async_context(child(HERE / "slow_services.py"))
            options.service_url = json.loads(await services.stdout.readline())["url"]
        if options.door == "http":
            return await through_http(load, options, stack)
        folder = stack.enter_context(TemporaryDirectory())
        agent, session = set_up(options, Path(folder))
        if session:
            stack.push_async_callback(session.close)
        turn = partial(take_turn, agent)
        return await measure(load, lambda: turn, prepare=partial(fill, agent))


def set_up(options: Namespace, folder: Path) -> tuple[Agent, Any]:
    """The agent, made by its own `setup_agent`, and the HTTP session of its services if any."""
    configure(options, folder)
    from deeppavlov_agent.setup_agent import setup_agent

    agent, session, _ = setup_agent()
    return agent, session


def configure(options: Namespace, folder: Path) -> None:
    """Gives dp-agent its settings module, its files and its database before it is imported."""
    dp_database.install(through_bson=options.database == "bson")
    (folder / "logs").mkdir()
    (folder / "db.json").write_text(json.dumps({"host": "none", "port": 1, "name": "bench"}))
    (folder / "pipeline.json").write_text(json.dumps(pipeline(options.service_url)))
    settings = ModuleType("dp_agent_settings")
    settings.db_config = str(folder / "db.json")
    settings.pipeline_config = str(folder / "pipeline.json")
    settings.response_logger = options.variant != "stats-off"
    sys.modules["dp_agent_settings"] = settings

    from deeppavlov_agent.core import log

    log.agent_path = folder
    if options.variant != "as-shipped":
        log.LocalResponseLogger._cleanup = lambda self, time: None


def pipeline(service_url: str | None) -> dict[str, Any]:
    """The standard pipeline in dp-agent's configuration form."""

    def service(name: str, formatter: str, method: str | None, previous: str | None) -> dict:
        made: dict[str, Any] = {"dialog_formatter": formatter, "connector": connector(name)}
        if method:
            made["state_manager_method"] = method
        if previous:
            made["previous_services"] = [previous]
        return made

    def connector(name: str) -> dict[str, str]:
        if service_url:
            return {"protocol": "http", "url": f"{service_url}/{name}"}
        return {
            "protocol": "python",
            "class_name": "dp_connector:InstantConnector",
            "service": name,
        }

    def fallback(tag: str) -> dict[str, Any]:
        return {
            "connector": {
                "protocol": "python",
                "class_name": "PredefinedTextConnector",
                "response_text": tag,
            },
            "state_manager_method": "add_bot_utterance_last_chance",
            "tags": [tag],
        }

    text, hypotheses = "base_last_utterances_formatter_in", "all_hypotheses_formatter_in"
    selector = service("rules", text, None, "annotators") | {"tags": ["selector"]}
    return {
        "services": {
            "annotators": {
                name: service(name, text, "add_annotation", None) for name in ("tokens", "words")
            },
            "skill_selectors": {"rules": selector},
            "skills": {
                name: service(name, text, "add_hypothesis", "skill_selectors")
                for name in CONFIDENCES
            },
            "candidate_annotators": {
                "length": service("length", hypotheses, "add_hypothesis_annotation_batch", "skills")
            },
            "response_selectors": {
                "best": service("best", hypotheses, "add_bot_utterance", "candidate_annotators")
            },
            "postprocessors": {"strip": service("strip", text, "add_text", "response_selectors")},
            "last_chance": fallback("last_chance"),
            "timeout": fallback("timeout"),
        }
    }


def words(number: int) -> str:
    return f"what is {number} percent of eighty"


async def take_turn(agent: Agent, user: str, number: int) -> None:
    """One turn as dp-agent's own command line client takes it."""
    text = words(number)
    record = await agent.register_msg(
        utterance=text,
        user_external_id=user,
        user_device_type="cmd",
        date_time=datetime.now(),  # noqa: DTZ005 - as dp-agent does
        location="",
        channel_type="cmd_client",
        require_response=True,
    )
    check(record["dialog"].utterances[-1].text, text)


def check(reply: str, text: str) -> None:
    if reply != expected(text):
        raise WrongReply(f"dp-agent answered {reply!r} to {text!r}")


async def fill(agent: Agent, user: str, number: int) -> None:
    """Makes a dialog long by repeating its second turn in the dictionaries."""
    for earlier in (1, 2):
        await take_turn(agent, user, earlier)
    human = await agent.state_manager._db["user"].find_one({"external_id": user})
    dialog = await agent.state_manager._db["dialog"].find_one({"_human_id": human["_id"]})
    for name in ("human_utterance", "bot_utterance"):
        collection = agent.state_manager._db[name]
        model = collection.matching({"_dialog_id": dialog["_id"]})[-1]
        for place in range(1, number - 2):
            made = ObjectId()
            changed = {
                "_id": made,
                "utt_id": f"{made}{place:08x}",
                "_in_dialog_id": model["_in_dialog_id"] + 2 * place,
                "annotations": dict(model["annotations"]),
            }
            if "hypotheses" in model:
                changed["hypotheses"] = [dict(hypothesis) for hypothesis in model["hypotheses"]]
            collection.put(model | changed)


async def through_http(load: Load, options: Namespace, stack: AsyncExitStack) -> Figures:
    """Drives dp-agent's HTTP server in a process of its own; only its CPU counts."""
    import aiohttp

    asked = [__file__, "--serve", "--variant", options.variant, "--database", options.database]
    if options.service_url:
        asked += ["--service-url", options.service_url]
    server = await stack.enter_async_context(child(*asked))
    url = json.loads(await server.stdout.readline())["url"]
    connector = aiohttp.TCPConnector(limit=0)
    client = await stack.enter_async_context(aiohttp.ClientSession(connector=connector))

    async def turn(user: str, number: int) -> None:
        text = words(number)
        async with client.post(url, json={"user_id": user, "payload": text}) as response:
            check((await response.json())["response"], text)

    async def usage() -> Usage:
        server.stdin.write(b"usage\n")
        await server.stdin.drain()
        return Usage(**json.loads(await server.stdout.readline()))

    return await measure(load, lambda: turn, meter=usage)


async def serve(options: Namespace) -> None:
    """Runs dp-agent's HTTP server; says what it has used for each line on standard input."""
    with TemporaryDirectory() as folder:
        configure(options, Path(folder))
        from aiohttp import web
        from deeppavlov_agent.http_api import app_factory

        runner = web.AppRunner(await app_factory())
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        print(json.dumps({"url": f"http://127.0.0.1:{runner.addresses[0][1]}/"}), flush=True)
        await answer_usage()
    os._exit(0)  # its shutdown cancels every task, this one among them


async def answer_usage() -> None:
    """Prints what this process has used for each line on standard input, until that ends."""
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while await lines.readline():
        used = await own_usage()
        print(json.dumps({"cpu": used.cpu, "rss": used.rss}), flush=True)


@asynccontextmanager
async def child(*command: object) -> AsyncIterator[asyncio.subprocess.Process]:
    """A Python process that lives as long as the block, and ends with its standard input."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *map(str, command),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield process
    finally:
        process.stdin.close()
        try:
            async with asyncio.timeout(5):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


if __name__ == "__main__":
    main()
