"""The assistant of a test: that of a file, with live agents or with those of a cassette."""

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
    """What was asked or replied differs from the cassette."""


@asynccontextmanager
async def replayed(
    assistant: str | Path,
    cassette: str | Path,
    *,
    update: bool = False,
    live: tuple[str, ...] = (),
    pace: float = 0.0,
) -> AsyncIterator[Assistant]:
    """Run the assistant of a file; its agents answer from a cassette.

    The cassette is recorded where there is none, and written anew with `update`. At the end
    `ConversationChanged` is raised where a request, a reply, or what else is compared differs.
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
        told = "\n".join(one.told() for one in player.differences[:20])
        raise ConversationChanged(
            f"the conversation is not that of {path}; if it is right now, write it anew"
            f" (pytest --update-cassettes)\n{told}"
        )


def _is_missing(cassette: Path) -> bool:
    """Return whether there is no cassette; `BadInput` where continuous integration runs."""
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
    file = _file_of(item, config, mark)
    if mark is None:
        async with live_assistant(load(file), None) as made:
            yield made
        return
    if not mark.args:
        raise ConfigError('the mark names a file: @pytest.mark.cassette("talk.cassette")')
    live = mark.kwargs.get("live", ())
    live = (live,) if isinstance(live, str) else tuple(live)
    update = config.getoption("--update-cassettes")
    async with replayed(file, folder / mark.args[0], update=update, live=live) as made:
        yield made


def _file_of(item: Any, config: Any, cassette: Any) -> Path:
    own = item.get_closest_marker("assistant")
    said = cassette.kwargs.get("assistant") if cassette is not None else None
    said = said or (own.args[0] if own is not None and own.args else None)
    if said is not None:
        return assistant_file(Path(item.path.parent) / said).absolute()
    if named := config.getini("prolocutor_assistant"):
        return assistant_file(Path(config.rootpath) / named).absolute()
    folders: list[Path] = [item.path.parent, *item.path.parent.parents]
    found = next((one / FILE_NAME for one in folders[:5] if (one / FILE_NAME).is_file()), None)
    if found is None:
        what = f"no {FILE_NAME} is beside {item.path.name} or above it"
        raise ConfigError(f'{what}; name one: @pytest.mark.assistant("FILE")')
    return found
