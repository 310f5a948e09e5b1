"""Make a running assistant of settings: start its processes first, end them last."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

from prolocutor.assistant.assistant import Assistant
from prolocutor.assistant.assistant_settings import DEFAULT_STORE, TurnSettings
from prolocutor.assistant.call_recording import current_recorder
from prolocutor.config.agent_cards import add_agent_cards, add_prices, describing
from prolocutor.config.imported_functions import add_search_folder
from prolocutor.config.loading import load
from prolocutor.config.selector_making import make_selectors
from prolocutor.config.settings import Settings
from prolocutor.config.store_location import store_url
from prolocutor.contracts.observer import Observer
from prolocutor.contracts.store import Store
from prolocutor.pipeline.prepared import StageDeadlines
from prolocutor.plan.pipeline import Pipeline
from prolocutor.processes.supervisor import Supervisor
from prolocutor.reading.locales.locale import add_folder
from prolocutor.stores.store_catalog import open_store


@asynccontextmanager
async def build_assistant(
    settings: Settings,
    *,
    store: str | Store | None = None,
    observers: Sequence[Observer] = (),
    patient: bool = False,
    recording: bool = True,
) -> AsyncIterator[Assistant]:
    """Start the processes, then the assistant; close the assistant, then the processes.

    While the processes start, the assistant's modules are imported in a thread; but agents with
    descriptions are asked first. `store` replaces the store in the settings; with `patient` an
    unreachable database is waited for. Without `recording` no records of turns are kept. The folder
    of the settings stays on the search path for modules, as functions may import others later.
    """
    supervisor = Supervisor(settings.processes, folder=settings.folder)
    pipeline = settings.resolve_processes(
        {name: supervisor.url(name) for name in settings.processes}
    )
    if (recorder := current_recorder()) is not None:
        recorder.begin(settings.name, settings.pipeline, Path(settings.file))
    make = partial(build, settings, store=store, observers=observers, recording=recording)
    async with aclosing(supervisor):
        if describing(pipeline):
            await supervisor.start()
            assistant = await asyncio.to_thread(make, await add_agent_cards(pipeline))
        else:
            building = asyncio.to_thread(make, pipeline)
            _, assistant = await asyncio.gather(supervisor.start(), building)
        await assistant.start(patient=patient)
        try:
            yield assistant
        finally:
            await assistant.aclose()


def assistant_of_file(
    path: str | Path, *, store: str | Store | None = None, observers: Sequence[Observer] = ()
) -> AbstractAsyncContextManager[Assistant]:
    """Start the assistant described by a file, as `build_assistant` does.

    Raise `ConfigFaults` for a faulty file.
    """
    return build_assistant(load(path), store=store, observers=observers)


def build(
    settings: Settings,
    pipeline: Pipeline | None = None,
    *,
    store: str | Store | None = None,
    observers: Sequence[Observer] = (),
    recording: bool = True,
) -> Assistant:
    """Make the assistant of the settings, not yet started; `ConfigError` if it cannot be made.

    `pipeline` is that of the settings with the addresses of its processes, if it has any.
    """
    add_search_folder(settings.folder)
    if settings.languages is not None:
        add_folder(settings.folder / settings.languages)
    limits = StageDeadlines.divide_deadline(settings.deadline, settings.reserve)
    kept = store or (store_url(None, settings) if settings.file else DEFAULT_STORE)
    kept = open_store(kept, durability=settings.durability) if isinstance(kept, str) else kept
    wanted = pipeline or settings.pipeline
    for addition in settings.additions:
        wanted = addition.added_to(wanted)
    selectors = make_selectors(wanted, settings.folder, limits)
    options = {key: getattr(settings, key) for key in TurnSettings.__struct_fields__}
    return Assistant(
        add_prices(selectors.pipeline, settings.folder),
        **(options if recording else options | {"records": None}),
        store=kept,
        queue_limit=settings.limits.queue,
        max_text=settings.limits.text,
        replica=settings.replica,
        observers=[*observers, *selectors.observers],
        models=selectors.models,
    )
