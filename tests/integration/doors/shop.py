"""A shop's assistant with a router that has learned too little, for tests of its console."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import yaml

from prolocutor.assistant.assistant import Assistant
from prolocutor.config.building import assistant_of_file
from prolocutor.contracts.pairing import Card, LabelledQuestion, TrainingData, UserQuestion
from prolocutor.doors.http.api import DeepPavlov
from prolocutor.plugins.console.channel import Console, ConsoleDoor
from prolocutor.plugins.page.channel import Page
from prolocutor.plugins.pairing.model_files import save_model, training_card
from prolocutor.plugins.pairing.question_agent.learned import fit
from prolocutor.testing.channel_kit import running
from prolocutor.web.authentication import AccessPolicy
from prolocutor.web.door_context import DoorContext
from prolocutor.web.listener import Listener

ACCESS = AccessPolicy(
    keys={"key-of-eve": "eve", "key-of-bob": "bob"}, tokens={"token-of-ann": "ann"}, loopback=False
)
KNOWN = {
    "why was my card refused": "bank",
    "raise the limit of my card": "bank",
    "is the train on time": "travel",
    "which platform for the night train": "travel",
    "I want a refund": "refunds",
    "refund for a cancelled trip": "refunds",
}
ABOUT = {
    "bank": "Bank cards, payments and loans",
    "travel": "Trains and seats",
    "refunds": "Refunds for late trips",
}


def answer_as(agent: str) -> str:
    return f"This is {agent}."


def bank(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": answer_as("bank"), "confidence": 0.5}


def travel(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": answer_as("travel"), "confidence": 0.5}


def refunds(request: Mapping[str, Any]) -> dict[str, Any]:
    return {"text": answer_as("refunds"), "confidence": 0.5}


class Shop(msgspec.Struct):
    """The assistant of a shop behind its doors, and an operator's client."""

    assistant: Assistant
    url: str
    http: aiohttp.ClientSession

    async def asked(self, text: str, user: str, rating: int | None = None) -> str:
        """Have a person ask something, and perhaps rate the reply; return the reply."""
        result = await self.assistant.turn(text, user=user)
        if rating is not None:
            await self.assistant.archive.rate(result.reply.utt_id, rating, user)
        return result.reply.text

    async def settle(self) -> None:
        """Have the records of turns written now."""
        if self.assistant.records.recorder is not None:
            await self.assistant.records.recorder.settle()

    async def call(
        self, method: str, path: str, body: object = None, key: str | None = None
    ) -> tuple[int, Any]:
        """Call the console's API, as eve or by another key."""
        await self.settle()
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        address = f"/api/console{path}"
        async with self.http.request(method, address, json=body, headers=headers) as response:
            text = await response.text()
            is_json = response.content_type == "application/json"
            return response.status, msgspec.json.decode(text) if text and is_json else text

    async def labelled(self, work: str, *agents: str, **more: Any) -> str:
        """Give a label and return its id."""
        status, made = await self.call("POST", "/labels", {"work": work, "agents": agents, **more})
        assert status == 201, made
        return str(made["id"])

    async def job(self, what: str = "router") -> str:
        """Begin a training."""
        status, begun = await self.call("POST", "/train", {"what": what})
        assert status == 202, begun
        return str(begun["job"])

    async def live(self) -> str:
        """Return the id of the model in use."""
        _, models = await self.call("GET", "/models")
        return next(item["id"] for item in models["items"] if item["state"] == "live")


def write_shop(folder: Path, **doors: Any) -> Path:
    """Write the assistant's file and the model of its router."""
    cards = [Card(name=name, description=about) for name, about in ABOUT.items()]
    known = [
        LabelledQuestion(
            question=UserQuestion(text=text), agents={agent: 1.0}, gold=frozenset({agent})
        )
        for text, agent in KNOWN.items()
    ]
    router = fit(TrainingData(cards=cards, labelled=known))
    save_model(folder / "models" / "router", router.to_model(training_card(len(known))))
    budget = {"policy": "top", "calls": 1}
    file = folder / "assistant.yaml"
    file.write_text(
        yaml.safe_dump(
            {
                "name": "Shop",
                "deadline": 120,
                "skill_selector": {
                    "router": "learned",
                    "model": "models/router",
                    "budget": budget,
                },
                "skills": {
                    name: {
                        "call": f"{__name__}:{name}",
                        "card": {"description": about},
                        "timeout": 60,
                    }
                    for name, about in ABOUT.items()
                },
                **doors,
            }
        )
    )
    return file


@asynccontextmanager
async def a_shop(
    folder: Path,
    *,
    access: AccessPolicy = ACCESS,
    store: str = "memory:",
    more: Mapping[str, Any] | None = None,
    **options: Any,
) -> AsyncIterator[Shop]:
    """Open the shop, with `more` in its file, and these options of its console."""
    file = write_shop(folder, **(more or {}))
    async with assistant_of_file(file, store=store) as it:
        console = Console(DoorContext(it, folder=folder), ConsoleDoor(**options))
        app = Listener(it, [console, DeepPavlov(it), Page(DoorContext(it))], auth=access)
        headers = {"Authorization": "Bearer key-of-eve"} if access is ACCESS else {}
        async with running(app) as url, aiohttp.ClientSession(url, headers=headers) as http:
            yield Shop(it, url, http)
