"""BatchWorld: copies of a world whose agents act together in batches.

Source: ParlAI 1.7.2, `parlai.core.worlds.BatchWorld`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prolocutor.errors import BadReply, ConfigError
from prolocutor.plugins.evaluation.parlai.metrics.reports import Report
from prolocutor.plugins.evaluation.parlai.worlds import (
    Act,
    MultiAgentDialogWorld,
    Opt,
    agent_name,
    checked_act,
)


class BatchWorld:
    """`batchsize` copies of a world, in step: all teachers act, all agents observe, and so on.

    An agent with `batch_act` answers for all of its copies in one call, padding included, and
    returns an act for each observation. The acting agent gets its act by `self_observe`, the others
    by `observe`, which has to return the observation.
    """

    def __init__(self, opt: Opt | None, world: MultiAgentDialogWorld) -> None:
        self.opt: Opt = {} if opt is None else opt
        size = int(self.opt.get("batchsize", 1))
        if size < 1:
            raise ConfigError(f"a batch has a size of at least 1, not {size}", key="batchsize")
        self.world = world
        self.worlds = [_copy(world, index) for index in range(size)]
        self._observed: list[list[Any]] = [[None] * size for _ in world.agents]
        self.acts: list[list[Act]] = [[] for _ in world.agents]
        self.total_parleys = 0

    def parley(self) -> None:
        """Let the agents of all worlds act once each."""
        for acting in range(len(self.world.agents)):
            acts = self._batch_act(acting)
            self.acts[acting] = acts
            for index in range(len(self.world.agents)):
                if index == acting:
                    self._self_observe(index, acts)
                else:
                    self._observed[index] = self._observe(index, acts)
        self.total_parleys += 1

    def episode_done(self) -> bool:
        """Return whether all episodes are done: never, as they end at times of their own."""
        return False

    def epoch_done(self) -> bool:
        """Return whether the data is at its end in all worlds."""
        return all(world.epoch_done() for world in self.worlds)

    def report(self) -> Report:
        """Return the figures of the first world: its agents share theirs with their copies."""
        return self.world.report()

    def reset(self) -> None:
        """Reset all worlds and agents."""
        for world in (self.world, *self.worlds):
            world.reset()
        self._observed = [[None] * len(self.worlds) for _ in self.world.agents]

    def reset_metrics(self) -> None:
        """Reset all figures."""
        self.world.reset_metrics()

    def shutdown(self) -> None:
        """Shut down all agents, the copies first."""
        for world in (*self.worlds, self.world):
            world.shutdown()

    def get_agents(self) -> list[Any]:
        """Return the agents of the first world."""
        return self.world.agents

    def num_examples(self) -> int:
        """Count the examples of the data."""
        return self.world.num_examples()

    def num_episodes(self) -> int:
        """Count the episodes of the data."""
        return self.world.num_episodes()

    def _batch_act(self, index: int) -> list[Act]:
        agent = self.world.agents[index]
        if hasattr(agent, "batch_act"):
            given: Sequence[Any] = agent.batch_act(self._observed[index])
            if len(given) != len(self.worlds):
                name, count = agent_name(agent), len(given)
                raise BadReply(f"{name} gave {count} acts to {len(self.worlds)} observations")
        else:
            given = [world.agents[index].act() for world in self.worlds]
        acts = [checked_act(act, agent) for act in given]
        for world, act in zip(self.worlds, acts, strict=True):
            world.acts[index] = act
        return acts

    def _observe(self, index: int, acts: Sequence[Act]) -> list[Any]:
        observed = []
        for world, act in zip(self.worlds, acts, strict=True):
            observation = world.agents[index].observe(act)
            if observation is None:
                raise BadReply(
                    f"{agent_name(world.agents[index])} did not give back what it observed"
                )
            observed.append(observation)
        return observed

    def _self_observe(self, index: int, acts: Sequence[Act]) -> None:
        for world, act in zip(self.worlds, acts, strict=True):
            agent = world.agents[index]
            if hasattr(agent, "self_observe"):
                agent.self_observe(act)


def _copy(world: MultiAgentDialogWorld, index: int) -> MultiAgentDialogWorld:
    """Copy a world; its agents know their place in the batch (`batchindex`)."""
    shared = world.share()
    shared["batchindex"] = index
    shared["agents"] = [
        {**one, "opt": {**(one.get("opt") or {}), "batchindex": index}, "batchindex": index}
        for one in shared["agents"]
    ]
    return type(world)(world.opt, None, shared)
