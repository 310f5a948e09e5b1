"""A turn that is cut off by a kill runs once more with the same ids, then is closed and marked."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest

from tests.acceptance.patient import Patient, Place, ask, place_of, started


async def test_a_turn_that_was_cut_off_runs_again_with_the_same_ids(tmp_path: Path) -> None:
    agent = Patient()
    async with place_of(agent, tmp_path) as place:
        first = await cut_off(place, agent)
        agent.gate.set()
        async with started(place) as session:
            status, answer = await ask(session, "ann", "key")
            second = await agent.calls.get()
            assert await place.server.stop() == 0
            assert status == 200

        (dialog,) = await place.dialogs()

        assert second["X-Turn-Id"] == first["X-Turn-Id"]
        assert second["Idempotency-Key"] == first["Idempotency-Key"]
        assert [utterance.text for utterance in dialog.utterances] == ["hello", "at last, ann"]
        assert answer["response"] == "at last, ann"
        assert answer["utt_id"] == dialog.utterances[1].utt_id


async def cut_off(place: Place, agent: Patient) -> Mapping[str, str]:
    """Kill the server while the agent works at what ann said; give how the agent was called."""
    async with started(place) as session:
        asked = asyncio.create_task(ask(session, "ann", "key"))
        call = await agent.calls.get()
        await place.server.kill()
        with pytest.raises(aiohttp.ClientError):
            await asked
    return call
