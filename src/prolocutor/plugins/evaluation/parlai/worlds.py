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
    """Several agents: each acts in turn, and all others observe what it said.

    An episode is done when an agent that can tell (`episode_done()`) says so, or when the first
    one's act says so. The epoch is done when it is for any agent.
    """

    def __init__(
        self, opt: Opt | None, agents: Agents | None = None, shared: Opt | None = None
    ) -> None:
        if (agents is None) == (shared is None):
            raise ValueError("a world is made of agents or of what another one shares, not of both")
        self.opt: Opt = {} if opt is None else opt
        self.agents = list(agents) if agents is not None else _made_of((shared or {})["agents"])
        self.acts: list[Act | None] = [None] * len(self.agents)
        self.total_parleys = 0

    @property
    def id(self) -> str:
        """Its name: that of the first agent."""
        return name_of(self.agents[0])

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
        """Return the agents' figures together; where several give one, the first agent's counts."""
        report: Report = {}
        for agent in self.agents:
            for name, given in agent.report().items() if hasattr(agent, "report") else ():
                report.setdefault(name, reported_metric(given))
        return report

    def reset(self) -> None:
        """Let all agents forget what they observed, and begin to count anew."""
        for agent in self.agents:
            _call(agent, "reset")
        self.acts = [None] * len(self.agents)
        self.total_parleys = 0

    def reset_metrics(self) -> None:
        """Let all agents' figures begin anew."""
        for agent in self.agents:
            _call(agent, "reset_metrics")

    def shutdown(self) -> None:
        """Let all agents end."""
        for agent in self.agents:
            _call(agent, "shutdown")

    def share(self) -> dict[str, Any]:
        """Return what a copy of this world is made of: `world_class(opt, None, shared)`."""
        shared = [shared_by(agent) for agent in self.agents]
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
        """Count the examples that the first agent has; 0 where it does not know."""
        return int(_call(self.agents[0], "num_examples") or 0)

    def num_episodes(self) -> int:
        """Count the episodes that the first agent has; 0 where it does not know."""
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

    The first act of an episode is given: an opening (`openers`, one after the other; "Hi!"). After
    `selfchat_max_turns` (6) parleys the episode is done and both forget it.
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
            said = Message(id=name_of(first), text=opener, episode_done=False)
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
        """Return what a copy of this world is made of."""
        return {**super().share(), "openers": self._openers}

    def _begin_anew(self) -> None:
        for agent in self.agents:
            _call(agent, "reset")
        self._turn = 0
        self.episodes += 1


def checked_act(act: Any, agent: Any) -> Act:
    """Return an act that is one; `BadReply` says who gave what else."""
    if not isinstance(act, dict):
        raise BadReply(f"the act of {name_of(agent)} is a {type(act).__name__}, not a dictionary")
    return act


def name_of(agent: Any) -> str:
    """Return the name by which an agent speaks."""
    own = agent.getID() if hasattr(agent, "getID") else getattr(agent, "id", None)
    return own if isinstance(own, str) else type(agent).__name__


def shared_by(agent: Any) -> dict[str, Any]:
    """Return what a copy of an agent is made of; `ConfigError` where there cannot be one."""
    if hasattr(agent, "share"):
        return dict(agent.share())
    if hasattr(agent, "clone"):
        return {"clone": agent.clone}
    raise ConfigError(f"{name_of(agent)} can be neither shared nor cloned")


def _made_of(shared: Iterable[Opt]) -> list[Any]:
    """Make the copies of agents, as ParlAI does: `class(opt, shared)`."""
    return [
        one["clone"]() if "clone" in one else one["class"](one.get("opt"), one) for one in shared
    ]


def _ends(act: Act | None) -> bool:
    return act is not None and bool(act.get("episode_done"))


def _call(agent: Any, verb: str) -> Any:
    """Call an optional method of an agent; None if it has none."""
    found = getattr(agent, verb, None)
    return found() if callable(found) else None
