"""`prolocutor mcp`: an assistant as an MCP server over standard input and output."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import BinaryIO

import click

from prolocutor.assistant.runner import run
from prolocutor.cli.options import STORE_OPTION
from prolocutor.cli.owner import check_free
from prolocutor.cli.stdio_lines import take_pipes
from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load_assistant
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import store_url
from prolocutor.plugins.mcp.door.stdio import StdioDoor
from prolocutor.web.door_context import LOCAL


@click.command(short_help="Offer an assistant to an MCP client, over stdio.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@STORE_OPTION
@click.option("--skills", is_flag=True, help="Offer each skill as a tool of its own, too.")
@click.option("--user", default=LOCAL, show_default=True, help="The person who speaks.")
def mcp(file: Path | None, store: str | None, skills: bool, user: str) -> None:
    """Serve an assistant to the MCP client that starts this command: the demo, or FILE's.

    The client talks over standard input and output; logs go to stderr. The tool is `ask(text,
    conversation_id?)`. For clients that speak HTTP, `prolocutor serve` has /mcp.

    \b
    Example, as a client's configuration has it:
      {"mcpServers": {"parrot": {"command": "prolocutor", "args": ["mcp", "assistant.yaml"]}}}
    and by hand:
      prolocutor mcp my-assistant/assistant.yaml
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    pipes = take_pipes()
    settings = load_assistant(file)
    url = store_url(store, settings)
    check_free(url)
    run(_serve(settings, url, skills, user, pipes))


async def _serve(
    settings: Settings, store: str, skills: bool, user: str, pipes: tuple[BinaryIO, BinaryIO]
) -> None:
    async with build_assistant(settings, store=store) as assistant:
        door = StdioDoor(assistant, skills=skills, user=user, starters=settings.starters)
        await door.serve(*pipes)
