"""`prolocutor acp`: an assistant as an agent of an editor, over standard input and output."""

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
from prolocutor.plugins.acp.agent import AcpAgent
from prolocutor.web.door_context import LOCAL


@click.command(short_help="Offer an assistant to an editor (ACP), over stdio.")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@STORE_OPTION
@click.option("--user", default=LOCAL, show_default=True, help="The person who speaks.")
def acp(file: Path | None, store: str | None, user: str) -> None:
    """Serve an assistant to the editor that starts this command: the demo, or FILE's.

    The editor talks over standard input and output (Agent Client Protocol, version 1); logs go to
    stderr.

    \b
    Example, as Zed's settings have it:
      {"agent_servers": {"Parrot": {"command": "prolocutor", "args": ["acp", "assistant.yaml"]}}}
    and by hand:
      prolocutor acp my-assistant/assistant.yaml
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    pipes = take_pipes()
    settings = load_assistant(file)
    url = store_url(store, settings)
    check_free(url)
    run(_serve(settings, url, user, pipes))


async def _serve(
    settings: Settings, store: str, user: str, pipes: tuple[BinaryIO, BinaryIO]
) -> None:
    async with build_assistant(settings, store=store) as assistant:
        await AcpAgent(assistant, user=user).serve(*pipes)
