"""Worlds in which agents act and observe in turn.

Source: ParlAI 1.7.2, `parlai.core.worlds`. An agent has `observe` and `act`; `share` or
`clone`, `reset`, `report`, `getID`, `epoch_done`, `num_examples`, `shutdown` are used where they
are there. Agents written for ParlAI, and ours, may be mixed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Self

from prolocutor.errors import BadReply, ConfigError
from prolocutor.plugins.evaluation.parlai.message import Message
from prolocutor.plugins.evaluation.parlai.metrics.reports import Report, reported_metric

Opt = Mapping[str, Any]
Agents = Sequence[Any]
Act = dict[str, Any]

OPENING: Final = "Hi!"


class MultiAgentDialogWorld:
    """Several agents: each acts in turn, and all others observe its act.

    An episode is done when an agent's `episode_done()` or the first agent's act says so. The epoch
    is done when it is done for any agent.
    """

    def __init__(
        self, opt: Opt | None, agents: Agents | None = None, shared: Opt | None = None
    ) -> None:
        if (agents is None) == (shared is None):
            raise ValueError("a world is made of agents or of what another one shares, not of both")
        self.opt: Opt = {} if opt is None else opt
        self.agents = list(agents) if agents is not None else _copy_agents((shared or {})["agents"])
        self.acts: list[Act | None] = [None] * len(self.agents)
        self.total_parleys = 0

    @property
    def id(self) -> str:
        """The world's name: the name of the first agent."""
        return agent_name(self.agents[0])

    def getID(self) -> str:  # noqa: N802 - ParlAI's name
        """Return its name."""
        return self.id

    def parley(self) -> None:
        """Let every agent act once."""
        for index, agent in enumerate(self.agents):
            act = checked_act(agent.act(), agent)
            self.acts[index] = act
            for other in self.agents:
                if other is not agent:
                    other.observe(act)
        self.total_parleys += 1

    def episode_done(self) -> bool:
        """Return whether the latest acts end the episode."""
        if any(agent.episode_done() for agent in self.agents if hasattr(agent, "episode_done")):
            return True
        return _ends(self.acts[0])

    def epoch_done(self) -> bool:
        """Return whether the data is at its end."""
        return any(agent.epoch_done() for agent in self.agents if hasattr(agent, "epoch_done"))

    def report(self) -> Report:
        """Return the agents' figures together; of equal names the first agent's figure counts."""
        report: Report = {}
        for agent in self.agents:
            for name, given in agent.report().items() if hasattr(agent, "report") else ():
                report.setdefault(name, reported_metric(given))
        return report

    def reset(self) -> None:
        """Let all agents forget their observations, and restart the counts."""
        for agent in self.agents:
            _call(agent, "reset")
        self.acts = [None] * len(self.agents)
        self.total_parleys = 0

    def reset_metrics(self) -> None:
        """Reset the figures of all agents."""
        for agent in self.agents:
            _call(agent, "reset_metrics")

    def shutdown(self) -> None:
        """Shut down all agents."""
        for agent in self.agents:
            _call(agent, "shutdown")

    def share(self) -> dict[str, Any]:
        """Return the parts of a copy of this world: `world_class(opt, None, shared)`."""
        shared = [share_agent(agent) for agent in self.agents]
        return {"world_class": type(self), "opt": self.opt, "agents": shared}

    def clone(self) -> Self:
        """Return a world of the kind, its agents being copies of this one's."""
        return type(self)(self.opt, None, self.share())

    def get_agents(self) -> list[Any]:
        """Return all agents."""
        return self.agents

    def get_task_agent(self) -> Any:
        """Return the first agent: the teacher."""
        return self.agents[0]

    def get_model_agent(self) -> Any:
        """Return the second agent: who is taught or tested."""
        return self.agents[1]

    def get_acts(self) -> list[Act | None]:
        """Return the latest act of each agent."""
        return self.acts

    def num_examples(self) -> int:
        """Count the first agent's examples; 0 if it does not know."""
        return int(_call(self.agents[0], "num_examples") or 0)

    def num_episodes(self) -> int:
        """Count the first agent's episodes; 0 if it does not know."""
        return int(_call(self.agents[0], "num_episodes") or 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()


class DialogPartnerWorld(MultiAgentDialogWorld):
    """Two agents, of which the first, the teacher, says when an episode and the epoch are done."""

    def __init__(
        self, opt: Opt | None, agents: Agents | None = None, shared: Opt | None = None
    ) -> None:
        super().__init__(opt, agents, shared)
        if len(self.agents) != 2:
            raise ConfigError(f"this world is for two agents, not for {len(self.agents)}")

    def parley(self) -> None:
        """Let the teacher act once, and the other agent answer."""
        teacher, learner = self.agents
        self.acts[0] = said = checked_act(teacher.act(), teacher)
        learner.observe(said)
        self.acts[1] = answer = checked_act(learner.act(), learner)
        teacher.observe(answer)
        self.total_parleys += 1

    def episode_done(self) -> bool:
        """Return whether the first agent's act ends the episode."""
        return _ends(self.acts[0])

    def epoch_done(self) -> bool:
        """Return whether the first agent's data is at its end."""
        return bool(_call(self.agents[0], "epoch_done"))


class SelfChatWorld(DialogPartnerWorld):
    """Two agents that talk to each other, without a teacher.

    The first act of an episode is the next of `openers` ("Hi!" by default). After
    `selfchat_max_turns` (6) parleys the episode is done and both agents forget it.
    """

    def __init__(
        self,
        opt: Opt | None,
        agents: Agents | None = None,
        shared: Opt | None = None,
        *,
        openers: Iterable[str] = (OPENING,),
    ) -> None:
        super().__init__(opt, agents, shared)
        self._openers = list((shared or {}).get("openers", openers)) or [OPENING]
        self._most = max(1, int(self.opt.get("selfchat_max_turns", 6)))
        self._turn = 0
        self.episodes = 0

    def parley(self) -> None:
        """Let both act once; an episode starts with the opening."""
        if self._turn == self._most:
            self._begin_anew()
        first, second = self.agents
        if self._turn:
            said = checked_act(first.act(), first)
        else:
            opener = self._openers[self.episodes % len(self._openers)]
            said = Message(id=agent_name(first), text=opener, episode_done=False)
        self.acts[0] = said
        second.observe(said)
        self.acts[1] = checked_act(second.act(), second)
        first.observe(self.acts[1])
        self._turn += 1
        self.total_parleys += 1

    def episode_done(self) -> bool:
        """Return whether the episode has reached its number of turns."""
        return self._turn == self._most

    def share(self) -> dict[str, Any]:
        """Return the parts of a copy of this world."""
        return {**super().share(), "openers": self._openers}

    def _begin_anew(self) -> None:
        for agent in self.agents:
            _call(agent, "reset")
        self._turn = 0
        self.episodes += 1


def checked_act(act: Any, agent: Any) -> Act:
    """Return an agent's act if it is a dictionary; else raise `BadReply` with the agent's name."""
    if not isinstance(act, dict):
        raise BadReply(
            f"the act of {agent_name(agent)} is a {type(act).__name__}, not a dictionary"
        )
    return act


def agent_name(agent: Any) -> str:
    """Return the name of an agent as a speaker."""
    own = agent.getID() if hasattr(agent, "getID") else getattr(agent, "id", None)
    return own if isinstance(own, str) else type(agent).__name__


def share_agent(agent: Any) -> dict[str, Any]:
    """Return the parts of an agent's copy; raise `ConfigError` if the agent cannot be copied."""
    if hasattr(agent, "share"):
        return dict(agent.share())
    if hasattr(agent, "clone"):
        return {"clone": agent.clone}
    raise ConfigError(f"{agent_name(agent)} can be neither shared nor cloned")


def _copy_agents(shared: Iterable[Opt]) -> list[Any]:
    """Copy agents, as ParlAI does: `class(opt, shared)`."""
    return [
        one["clone"]() if "clone" in one else one["class"](one.get("opt"), one) for one in shared
    ]


def _ends(act: Act | None) -> bool:
    return act is not None and bool(act.get("episode_done"))


def _call(agent: Any, verb: str) -> Any:
    """Call an optional method of an agent; None if the agent lacks it."""
    found = getattr(agent, verb, None)
    return found() if callable(found) else None
