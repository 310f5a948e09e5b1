"""Plan -> dependency graph, or a refusal with the fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from prolocutor.bounds import check_bounds
from prolocutor.errors import ConfigError
from prolocutor.names import did_you_mean
from prolocutor.plan.pipeline import (
    ORDER,
    CandidateAnnotator,
    Pipeline,
    Skill,
    Stage,
    StageService,
    TriedService,
)

_OF_EFFECTS: Final = ("idempotent", "reconcile", "approve", "rule", "preview")


class PlanNode(msgspec.Struct, eq=False):
    """A service in its place: its predecessors (`before`), required services (`requires`),
    successors.
    """

    index: int
    stage: Stage
    service: StageService
    before: list[PlanNode] = []
    requires: list[PlanNode] = []
    then: list[PlanNode] = []

    @property
    def name(self) -> str:
        """Name of the service; with the stage it is the key of its slot."""
        return self.service.name

    @property
    def path(self) -> str:
        """Where the service stands in YAML."""
        return f"{self.stage}.{self.name}"

    def __hash__(self) -> int:
        return self.index

    def __repr__(self) -> str:
        return f"<{self.path}>"


class Graph(msgspec.Struct):
    """All nodes, each after its predecessors, and the nodes by stage."""

    pipeline: Pipeline
    nodes: list[PlanNode]
    stages: dict[Stage, list[PlanNode]]
    last_chance: PlanNode | None

    def every(self) -> Iterator[PlanNode]:
        """Return every node, the last chance included."""
        yield from self.nodes
        if self.last_chance is not None:
            yield self.last_chance

    def levels(self) -> list[list[PlanNode]]:
        """Return the nodes by level: a level can start once the level before has settled."""
        depth: dict[PlanNode, int] = {}
        levels: list[list[PlanNode]] = []
        for node in self.nodes:
            depth[node] = 1 + max((depth[other] for other in node.before), default=-1)
            while len(levels) <= depth[node]:
                levels.append([])
            levels[depth[node]].append(node)
        return levels

    def critical_path(self) -> list[PlanNode]:
        """Return the chain of nodes with the largest sum of time-outs."""
        best: dict[PlanNode, tuple[float, PlanNode | None]] = {}
        for node in self.nodes:
            before = max(node.before, key=lambda other: best[other][0], default=None)
            start = best[before][0] if before is not None else 0.0
            best[node] = (start + node.service.timeout, before)
        path: list[PlanNode] = []
        at: PlanNode | None = max(self.nodes, key=lambda node: best[node][0], default=None)
        while at is not None:
            path.append(at)
            at = best[at][1]
        return path[::-1]


def compile_graph(pipeline: Pipeline) -> Graph:
    """Make the graph of a pipeline; raise `ConfigError` with the key of a fault.

    Beside `after` and `requires`, stages have an order: candidate annotators and response selectors
    come after the skills, postprocessors in sequence after the reply was selected, response
    annotators after the reply was selected.
    """
    stages: dict[Stage, list[PlanNode]] = {stage: [] for stage in Stage}
    nodes: list[PlanNode] = []
    for stage, service in pipeline.services():
        node = PlanNode(len(nodes), stage, service)
        nodes.append(node)
        stages[stage].append(node)
    last_chances = pipeline.services_at(Stage.LAST_CHANCE)
    last_chance = PlanNode(len(nodes), Stage.LAST_CHANCE, last_chances[0]) if last_chances else None
    for node in nodes:
        check_bounds(node.service, path=node.path)
        check_bounds(node.service.breaker, path=f"{node.path}.breaker")
        if isinstance(node.service, TriedService):
            for key, caps in (("canary", node.service.canary), ("shadow", node.service.shadow)):
                if caps is not None:
                    check_bounds(caps, path=f"{node.path}.{key}")
        _check_together(node)
        _check_acting(node)
        for other in _predecessors(node, stages):
            if other is not node and other not in node.before:
                node.before.append(other)
    ordered = _sort(nodes)
    for index, node in enumerate(ordered):
        node.index = index
        for other in node.before:
            other.then.append(node)
    return Graph(pipeline, ordered, stages, last_chance)


def _check_together(node: PlanNode) -> None:
    """Refuse `together` with `fan_out`."""
    service = node.service
    if isinstance(service, CandidateAnnotator) and service.together and service.fan_out:
        what = "together makes one call, fan_out one for each: not both"
        raise ConfigError(what, key=f"{node.path}.together")


def _check_acting(node: PlanNode) -> None:
    """Refuse options that contradict an acting skill, and options for acting skills on others."""
    skill = node.service
    if not isinstance(skill, Skill):
        return
    if not skill.acts:
        for key in _OF_EFFECTS:
            if getattr(skill, key):
                what = "only for a skill that acts: say acts: true"
                raise ConfigError(what, key=f"{node.path}.{key}")
        return
    if skill.batch_size > 1:
        what = "a skill that acts is asked for one thing at a time"
        raise ConfigError(what, key=f"{node.path}.batch_size")
    if skill.shadow:
        what = "nobody sees what a shadow does, so it cannot act"
        raise ConfigError(what, key=f"{node.path}.shadow")
    if skill.approve == "rule" and not skill.rule:
        raise ConfigError("expected a rule beside it: rule: amount < 20", key=f"{node.path}.rule")
    if skill.rule and not skill.approve:
        what = "a rule needs who is asked where it does not hold: approve: person | operator"
        raise ConfigError(what, key=f"{node.path}.approve")


def _predecessors(node: PlanNode, stages: dict[Stage, list[PlanNode]]) -> Iterator[PlanNode]:
    service = node.service
    if service.after is None:
        yield from _previous_stage(node, stages)
    else:
        yield from _find_named(node, "after", service.after, stages)
    for other in _find_named(node, "requires", service.requires, stages):
        node.requires.append(other)
        yield other
    yield from _implied_predecessors(node, stages)


def _previous_stage(node: PlanNode, stages: dict[Stage, list[PlanNode]]) -> list[PlanNode]:
    for stage in reversed(ORDER[: ORDER.index(node.stage)]):
        if stages[stage]:
            return stages[stage]
    return []


def _implied_predecessors(
    node: PlanNode, stages: dict[Stage, list[PlanNode]]
) -> Iterable[PlanNode]:
    if node.stage is Stage.CANDIDATE_ANNOTATOR:
        return stages[Stage.SKILL]
    siblings = stages[node.stage]
    earlier = siblings[: siblings.index(node)]
    if node.stage is Stage.RESPONSE_SELECTOR:
        return [*stages[Stage.SKILL], *earlier]
    if node.stage in (Stage.POSTPROCESSOR, Stage.RESPONSE_ANNOTATOR):
        reply = stages[Stage.RESPONSE_SELECTOR] or [
            *stages[Stage.SKILL],
            *stages[Stage.CANDIDATE_ANNOTATOR],
        ]
        return [*reply, *(earlier if node.stage is Stage.POSTPROCESSOR else ())]
    return ()


def _find_named(
    node: PlanNode, key: str, names: Iterable[str], stages: dict[Stage, list[PlanNode]]
) -> Iterator[PlanNode]:
    for name in names:
        found = _find(name, node, stages)
        if isinstance(found, str):
            raise ConfigError(found, key=f"{node.path}.{key}")
        yield from found


def _find(name: str, node: PlanNode, stages: dict[Stage, list[PlanNode]]) -> list[PlanNode] | str:
    by_value = {stage.value: members for stage, members in stages.items()}
    if name in by_value:
        return by_value[name]
    stage_name, _, service_name = name.partition(".")
    if stage_name in by_value:
        found = [other for other in by_value[stage_name] if other.name == service_name]
    else:
        found = [other for members in stages.values() for other in members if other.name == name]
    near = [o for o in found if ORDER.index(o.stage) <= ORDER.index(node.stage) and o is not node]
    if node in found and not near:
        return f"'{name}' cannot wait for itself"
    if not found:
        return _unknown_name(name, stages)
    if len(near or found) > 1:
        paths = " or ".join(other.path for other in found)
        return f"'{name}' is not the name of one service: say {paths}"
    return near or found


def _unknown_name(name: str, stages: dict[Stage, list[PlanNode]]) -> str:
    names = [other.name for members in stages.values() for other in members]
    hint = did_you_mean(name, [*names, *map(str, ORDER)])
    return f"no service or stage is called '{name}'{f'; {hint}' if hint else ''}"


def _sort(nodes: list[PlanNode]) -> list[PlanNode]:
    """Sort by dependency, in declared order where it leaves the choice; refuse circles."""
    missing = {node: len(node.before) for node in nodes}
    ordered: list[PlanNode] = []
    placed: set[PlanNode] = set()
    while len(ordered) < len(nodes):
        ready = [node for node in nodes if node not in placed and missing[node] == 0]
        if not ready:
            raise _circle([node for node in nodes if node not in placed])
        for node in ready:
            placed.add(node)
            ordered.append(node)
            for other in nodes:
                if node in other.before:
                    missing[other] -= 1
    return ordered


def _circle(stuck: list[PlanNode]) -> ConfigError:
    path = [stuck[0]]
    while True:
        step = next(other for other in path[-1].before if other in stuck)
        if step in path:
            circle = [*path[path.index(step) :], step]
            names = " waits for ".join(node.name for node in circle)
            return ConfigError(f"a circle: {names}", key=f"{step.path}.after")
        path.append(step)
