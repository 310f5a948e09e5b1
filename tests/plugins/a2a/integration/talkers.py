"""The assistant of the tests of the A2A door."""

import asyncio
from typing import Any

from prolocutor.plan.pipeline import Pipeline, Service

CHOICES = [{"type": "choice", "title": title} for title in ("tea", "milk")]
RICH = [
    {"type": "text", "text": "look"},
    {"type": "picture", "url": "https://example.org/a.png", "alt": "a hotel"},
    {"type": "button", "title": "book", "json": {"room": 1}},
]


class Talker:
    """A skill that does what it is told; `entered` is set while it waits for `opened`."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()
        self.seen: list[dict[str, Any]] = []

    async def __call__(self, request: dict[str, Any]) -> dict[str, Any]:
        said = request["human_utterances"][-1]
        self.seen.append({"text": said["text"], **said["attributes"]})
        if "answer" in request:
            return {"text": f"answer {request['answer'].get('value')!r}", "confidence": 1.0}
        match said["text"]:
            case "ask":
                return {"text": "Sure?", "confidence": 1.0, "ask": "yesno"}
            case "ask picture":
                return {"text": "Show me.", "confidence": 1.0, "ask": "picture"}
            case "choose":
                messages = [{"type": "text", "text": "Which?"}, *CHOICES]
                return {"text": "", "messages": messages, "ask": "choice", "confidence": 1.0}
            case "rich":
                return {"text": "", "messages": RICH, "confidence": 1.0}
            case "slow":
                self.entered.set()
                await self.opened.wait()
        return {"text": f"heard: {said['text']}", "confidence": 1.0}


def pipeline(talker: Talker) -> Pipeline:
    """Make a pipeline of the talker, and of another skill that is less sure."""
    card = {"description": "It talks.", "examples": ["talk to me"]}
    return Pipeline(
        skills=[
            Service("talker", talker, timeout=30.0, card=card),
            Service("other", lambda _: {"text": "the other one", "confidence": 0.1}),
        ]
    )
