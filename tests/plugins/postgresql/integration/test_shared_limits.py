"""Quotas at the doors of several replicas of one database."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

import aiohttp

from prolocutor.assistant.assistant import Assistant
from prolocutor.plugins.page.channel import Page
from prolocutor.plugins.postgresql.postgresql_store import PostgresqlStore
from prolocutor.plugins.postgresql.replicas.shared_quotas import SharedQuotas
from prolocutor.testing.channel_kit import Gate, pipeline, running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

PNG = b"\x89PNG\r\n\x1a\n".ljust(900_000, b"0")
OPEN = AccessPolicy(anonymous=True, loopback=False)


async def test_a_flood_of_uploads_at_all_replicas_passes_as_at_one(database: str) -> None:
    async with AsyncExitStack() as stack:
        doors, apps = [], []
        for _ in range(3):
            store = PostgresqlStore(database, durability="relaxed")
            assistant = await stack.enter_async_context(Assistant(pipeline(Gate()), store=store))
            app = Listener(assistant, [Page(DoorContext(assistant))], auth=OPEN)
            url = await stack.enter_async_context(running(app))
            doors.append(await stack.enter_async_context(aiohttp.ClientSession(url)))
            apps.append(app)
        async with asyncio.timeout(60):
            while not all(quotas and quotas.replicas == 3 for quotas in heard(apps)):  # noqa: ASYNC110
                await asyncio.sleep(0.05)

        async def upload(number: int) -> tuple[int, bool]:
            query = {"id": f"web-{number:032x}"}
            async with doors[number % 3].post("/uploads", params=query, data=PNG) as response:
                return response.status, "Retry-After" in response.headers

        answers = await asyncio.gather(*map(upload, range(60)))

    statuses = Counter(status for status, _ in answers)
    assert statuses.keys() == {201, 429}
    assert statuses[201] <= 15
    assert all(told for status, told in answers if status == 429)


def heard(apps: list[Listener]) -> list[SharedQuotas | None]:
    return [app.shared_quotas for app in apps]
