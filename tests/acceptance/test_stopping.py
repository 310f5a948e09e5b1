"""SIGTERM while turns run: they end and are stored, new ones are told to come again."""

import asyncio
from pathlib import Path

import aiohttp

from tests.acceptance.patient import Patient, ask, place_of, started

SERVICE_RESTART = 1012
PEOPLE = ("ann", "ben", "cleo", "dan")


async def test_turns_that_were_taken_end_and_new_ones_are_refused(tmp_path: Path) -> None:
    agent = Patient()
    async with place_of(agent, tmp_path) as place, started(place) as session:
        asked = [asyncio.create_task(ask(session, user)) for user in (*PEOPLE, "ann")]
        for _ in PEOPLE:
            await agent.calls.get()
        assert await readiness(session) == 200

        ended = asyncio.create_task(place.server.stop())
        while await readiness(session) == 200:
            pass
        refused, error = await ask(session, "eve")
        agent.gate.set()
        answers = await asyncio.gather(*asked)

        assert refused == 503
        assert error["code"] == "stopping"
        assert [status for status, _ in answers] == [200] * len(asked)
        assert await ended == 0
        replies = {
            dialog.human.user_external_id: [utterance.text for utterance in dialog.utterances[1::2]]
            for dialog in await place.dialogs()
        }
        assert replies == {
            "ann": ["at last, ann"] * 2,
            "ben": ["at last, ben"],
            "cleo": ["at last, cleo"],
            "dan": ["at last, dan"],
        }


async def test_sockets_are_told_to_connect_again_once_what_came_by_them_is_answered(
    tmp_path: Path,
) -> None:
    agent = Patient()
    async with (
        place_of(agent, tmp_path) as place,
        started(place) as session,
        session.ws_connect("/chat/ws") as idle,
        session.ws_connect("/chat/ws") as busy,
    ):
        await busy.send_json({"user_id": "ann", "payload": "hello"})
        await agent.calls.get()
        ended = asyncio.create_task(place.server.stop())
        while await readiness(session) == 200:
            pass
        agent.gate.set()
        reply = await busy.receive_json()
        closed = [(await socket.receive()).data for socket in (busy, idle)]

        assert reply["response"] == "at last, ann"
        assert closed == [SERVICE_RESTART, SERVICE_RESTART]
        assert await ended == 0


async def readiness(session: aiohttp.ClientSession) -> int:
    async with session.get("/health/ready") as response:
        return response.status
