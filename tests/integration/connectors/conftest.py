"""What speaks HTTP is tested on both event loops that it runs on."""

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    is_http = item.path.name.startswith(("test_http", "test_openai"))
    return LOOPS if is_http else {"asyncio": LOOPS["asyncio"]}
