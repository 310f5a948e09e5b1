"""Runs the assistant of a test, with live agents or with the agents of a cassette."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.loading import FILE_NAME, assistant_file, load
from prolocutor.errors import BadInput, ConfigError
from prolocutor.plugins.cassettes.cassette import read_cassette
from prolocutor.plugins.cassettes.recording import CassetteRecorder
from prolocutor.plugins.cassettes.replaying import CassettePlayer, played_assistant
from prolocutor.plugins.cassettes.running import live_assistant


class ConversationChanged(AssertionError):
    """Requests or replies differ from the cassette."""


@asynccontextmanager
async def replay_assistant(
    assistant: str | Path,
    cassette: str | Path,
    *,
    update: bool = False,
    live: tuple[str, ...] = (),
    pace: float = 0.0,
) -> AsyncIterator[Assistant]:
    """Run the assistant of a file, with agents that answer from a cassette.

    A missing cassette is recorded; `update` records it again. At the end `ConversationChanged` is
    raised if requests, replies or other compared values differ.
    """
    __tracebackhide__ = True  # of pytest
    path, settings = Path(cassette), load(assistant_file(Path(assistant)).absolute())
    if update or _is_missing(path):
        recorder = CassetteRecorder(path, anew=True, together=True)
        async with live_assistant(settings, recorder) as made:
            yield made
        return
    player = CassettePlayer(read_cassette(path), live=live, pace=pace)
    async with played_assistant(settings, player) as made:
        yield made
    player.finish()
    if player.differences:
        told = "\n".join(difference.told() for difference in player.differences[:20])
        raise ConversationChanged(
            f"the conversation is not that of {path}; if it is right now, write it anew"
            f" (pytest --update-cassettes)\n{told}"
        )


def _is_missing(cassette: Path) -> bool:
    """Return whether the cassette is missing; in continuous integration raise `BadInput`."""
    if cassette.exists():
        return False
    if os.environ.get("CI"):
        raise BadInput(f"there is no cassette {cassette}; run the test once where agents are")
    return True


@asynccontextmanager
async def assistant_of_test(item: Any, config: Any) -> AsyncIterator[Assistant]:
    """Run the assistant that the marks of a pytest item, or pytest's settings, name."""
    folder = item.path.parent
    mark = item.get_closest_marker("cassette")
    file = _find_file(item, config, mark)
    if mark is None:
        async with live_assistant(load(file), None) as made:
            yield made
        return
    if not mark.args:
        raise ConfigError('the mark names a file: @pytest.mark.cassette("talk.cassette")')
    live = mark.kwargs.get("live", ())
    live = (live,) if isinstance(live, str) else tuple(live)
    update = config.getoption("--update-cassettes")
    async with replay_assistant(file, folder / mark.args[0], update=update, live=live) as made:
        yield made


def _find_file(item: Any, config: Any, cassette: Any) -> Path:
    own = item.get_closest_marker("assistant")
    said = cassette.kwargs.get("assistant") if cassette is not None else None
    said = said or (own.args[0] if own is not None and own.args else None)
    if said is not None:
        return assistant_file(Path(item.path.parent) / said).absolute()
    if configured := config.getini("prolocutor_assistant"):
        return assistant_file(Path(config.rootpath) / configured).absolute()
    folders: list[Path] = [item.path.parent, *item.path.parent.parents]
    found = next(
        (folder / FILE_NAME for folder in folders[:5] if (folder / FILE_NAME).is_file()), None
    )
    if found is None:
        what = f"no {FILE_NAME} is beside {item.path.name} or above it"
        raise ConfigError(f'{what}; name one: @pytest.mark.assistant("FILE")')
    return found
