"""Agents as they are written for ParlAI, for the tests of its connector; none of them needs it."""

import threading
from typing import Any


class Remembering:
    """Says everything that it observed, and its own words, in the order they came."""

    def __init__(self, opt: dict[str, Any], shared: dict[str, Any] | None = None) -> None:
        self.opt = opt
        self.heard: list[str] = []
        self.shared = shared

    def share(self) -> dict[str, Any]:
        return {"class": type(self), "opt": self.opt, "model": "heavy"}

    def observe(self, observation: dict[str, Any]) -> dict[str, Any]:
        self.heard.append(observation["text"])
        return observation

    def act(self) -> dict[str, Any]:
        return {"id": "remembering", "text": "|".join(self.heard), **self.opt.get("act", {})}


class HearingItself(Remembering):
    """Keeps its own words too, as ParlAI's neural agents do."""

    def act(self) -> dict[str, Any]:
        act = super().act()
        self.self_observe(act)
        return act

    def self_observe(self, act: dict[str, Any]) -> None:
        self.heard.append(f"<{act['text']}>")


class Silent(Remembering):
    def act(self) -> dict[str, Any]:
        return {"id": "silent", "episode_done": False}


class Waiting(Remembering):
    """Blocks at its first act until it is let go."""

    gate = threading.Event()
    blocked = threading.Event()

    def act(self) -> dict[str, Any]:
        if self.heard == ["wait"]:
            self.blocked.set()
            self.gate.wait(10)
        return super().act()


class Numbered:
    """Has neither `share` nor `clone`."""

    def __init__(self, opt: dict[str, Any]) -> None:
        self.count = 0

    def observe(self, observation: dict[str, Any]) -> dict[str, Any]:
        self.count += 1
        return observation

    def act(self) -> dict[str, Any]:
        return {"text": f"{self.count}"}


class Speechless:
    def observe(self, observation: Any) -> Any:
        return observation


def make(opt: dict[str, Any]) -> Remembering:
    return Remembering({"act": {"confidence": 0.9}})
