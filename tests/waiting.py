"""Waiting for what no event tells."""

import asyncio
from collections.abc import Callable
from typing import Any


async def until(true: Callable[[], Any]) -> None:
    """Wait until a condition is true."""
    while not true():  # noqa: ASYNC110
        await asyncio.sleep(0.005)
