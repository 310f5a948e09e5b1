"""The pytest plugin: async tests without settings, an assistant as a fixture, cassettes by a mark.

    @pytest.mark.cassette("tea.cassette")
    async def test_tea_is_known(assistant):
        reply = await assistant.reply("how long does green tea take?", user="ann")
        assert reply.text == "Green tea takes 3 minutes."

It is found by pytest wherever Prolocutor is installed, and imports nothing until a test needs it.
Tests and fixtures of other plugins, such as pytest-asyncio, are left to these.
"""

from __future__ import annotations

import asyncio
import importlib
import inspect
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest

_TESTED = "prolocutor.plugins.cassettes.tested_assistant"
_RUNNER = pytest.StashKey[asyncio.Runner]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the command line and of pytest's settings."""
    group = parser.getgroup("prolocutor")
    group.addoption(
        "--update-cassettes",
        action="store_true",
        help="write cassettes anew, with live agents",
    )
    parser.addini("prolocutor_assistant", "the assistant's file; the nearest assistant.yaml")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Register the marks, and ignore warnings of our own dependencies."""
    config.addinivalue_line(
        "markers",
        "cassette(file, assistant=FILE, live=NAMES): agents answer from this cassette, which is"
        " recorded where there is none",
    )
    config.addinivalue_line("markers", "assistant(file): the file of the fixture `assistant`")
    # pytest-asyncio, where it is installed, wants a setting that its tests do not need
    warnings.filterwarnings("ignore", r"The configuration option .asyncio_default_fixture_loop")
    if config.getini("filterwarnings"):
        return  # who has rules of their own knows better
    for module in ("dateparser", "dateutil", "websockets", "uvicorn", "opentelemetry"):
        config.addinivalue_line("filterwarnings", f"ignore::DeprecationWarning:{module}")


@pytest.fixture
async def assistant(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """Return the assistant of the marks or the nearest `assistant.yaml`, with an empty store."""
    tested = importlib.import_module(_TESTED)
    async with tested.assistant_of_test(request.node, request.config) as made:
        yield made


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: pytest.FixtureRequest) -> Iterator[None]:
    """Run an async fixture in the event loop of its test, if this plugin runs the test."""
    function = fixturedef.func
    if not _is_ours(request.node) or not _is_async(function):
        return (yield)
    runner = _find_runner(request.node)
    if inspect.isasyncgenfunction(function):
        fixturedef.func = _generator(function, runner, request)
    else:
        fixturedef.func = _function(function, runner)
    try:
        return (yield)
    finally:
        fixturedef.func = function


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an async test that no other plugin runs."""
    if not _is_ours(pyfuncitem):
        return None
    wanted = inspect.signature(pyfuncitem.obj).parameters
    arguments = {name: pyfuncitem.funcargs[name] for name in wanted}
    _find_runner(pyfuncitem).run(pyfuncitem.obj(**arguments))
    return True


def _is_async(function: Any) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)


def _is_ours(node: Any) -> bool:
    """Return whether a test is async and belongs neither to pytest-asyncio nor to anyio."""
    if not isinstance(node, pytest.Function) or not inspect.iscoroutinefunction(node.obj):
        return False
    if type(node) is not pytest.Function:  # pytest-asyncio has items of its own
        return False
    return not any(node.get_closest_marker(name) for name in ("asyncio", "anyio", "trio"))


def _find_runner(item: pytest.Item) -> asyncio.Runner:
    if _RUNNER not in item.stash:
        item.stash[_RUNNER] = runner = asyncio.Runner()
        item.addfinalizer(runner.close)
    return item.stash[_RUNNER]


def _function(function: Any, runner: asyncio.Runner) -> Any:
    async def call_function(arguments: dict[str, Any]) -> Any:
        return await function(**arguments)

    def made(**arguments: Any) -> Any:
        return runner.run(call_function(arguments))

    return made


def _generator(function: Any, runner: asyncio.Runner, request: pytest.FixtureRequest) -> Any:
    def made(**arguments: Any) -> Any:
        steps = function(**arguments)

        async def step() -> Any:
            return await anext(steps)

        async def end() -> None:
            with suppress(StopAsyncIteration):
                await anext(steps)

        request.addfinalizer(lambda: runner.run(end()))
        return runner.run(step())

    return made
