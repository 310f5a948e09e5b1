"""Agents for the tests of worlds."""

from typing import Any


class Scripted:
    """Says what it was told to say, and keeps what it hears."""

    def __init__(self, name: str, *acts: Any) -> None:
        self.name = name
        self.acts = list(acts)
        self.heard: list[Any] = []
        self.resets = 0

    def getID(self) -> str:  # noqa: N802
        return self.name

    def observe(self, observation: Any) -> Any:
        self.heard.append(observation["text"])
        return observation

    def act(self) -> Any:
        act = self.acts.pop(0) if self.acts else f"{self.name} {len(self.heard)}"
        return {"id": self.name, "text": act} if isinstance(act, str) else act

    def reset(self) -> None:
        self.resets += 1


class Reporting(Scripted):
    def __init__(self, name: str, **figures: Any) -> None:
        super().__init__(name)
        self.figures = figures

    def report(self) -> dict[str, Any]:
        return self.figures


class Batched:
    """Answers for all of its copies at once, as neural agents do."""

    def __init__(self, opt: Any = None, shared: Any = None) -> None:
        self.opt = opt or {}
        self.batches: list[Any] = shared["batches"] if shared else []
        self.own: list[str] = []

    def share(self) -> dict[str, Any]:
        return {"class": type(self), "opt": self.opt, "batches": self.batches}

    def observe(self, observation: Any) -> Any:
        return observation

    def self_observe(self, act: Any) -> None:
        self.own.append(act["text"])

    def batch_act(self, observations: list[Any]) -> list[Any]:
        self.batches.append([one.get("text") for one in observations])
        return [{"text": str(one.get("text")).upper()} for one in observations]
