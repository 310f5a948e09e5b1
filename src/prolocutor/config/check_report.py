"""CheckReport: what a check found, and the plan of the turn as data and as plain text."""

from __future__ import annotations

import msgspec

from prolocutor.config.faults import Fault


class PlannedService(msgspec.Struct, frozen=True, kw_only=True):
    """One service in the plan.

    `level`: from 1; a level starts once the one before has settled, at the latest. `waits_for`:
    services by name, or a stage's name for all of it. `timeout`: seconds. `critical`: whether it is
    on the critical path.
    """

    stage: str
    name: str
    level: int
    timeout: float
    waits_for: list[str]
    requires: list[str]
    target: str
    critical: bool


class CheckReport(msgspec.Struct, frozen=True, kw_only=True):
    """What a check found: faults keep the assistant from starting, warnings and hints do not.

    `services` are in an order in which each comes after what it waits for; `critical` names the
    chain whose time-outs add up to the most, `seconds` how many. Empty while there are faults.
    """

    file: str
    name: str
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()
    hints: tuple[str, ...] = ()
    services: tuple[PlannedService, ...] = ()
    critical: tuple[str, ...] = ()
    seconds: float = 0.0
    deadline: float = 0.0
    last_chance: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the assistant can start."""
        return not self.faults

    def levels(self) -> list[list[PlannedService]]:
        """Return the services by level: those of one level can run at the same time."""
        depth = max((planned.level for planned in self.services), default=0)
        return [[p for p in self.services if p.level == level] for level in range(1, depth + 1)]

    def lines(self) -> list[str]:
        """Return the report as lines of text: what is wrong, else the plan."""
        if self.faults:
            return [str(fault) for fault in self.faults]
        services = _count(len(self.services), "service")
        levels = _count(len(self.levels()), "level")
        return [
            f"{self.file}: {self.name}, {services} in {levels}, replies within {self.deadline:g} s",
            "",
            *self.tree(),
            "",
            f"critical path (*): {self.seconds:g} s of time-outs: {' > '.join(self.critical)}",
            *([f"last chance: {self.last_chance}"] if self.last_chance else []),
            *(f"warning: {warning}" for warning in self.warnings),
            *(f"hint: {hint}" for hint in self.hints),
        ]

    def tree(self) -> list[str]:
        """Return the plan as a tree with a branch for each level and a leaf for each service."""
        width = max((len(_label(planned)) for planned in self.services), default=0)
        lines = []
        for number, level in enumerate(self.levels(), 1):
            lines.append(f"level {number}")
            for planned in level:
                branch = "└─" if planned is level[-1] else "├─"
                mark = "*" if planned.critical else " "
                label = _label(planned).ljust(width)
                lines.append(f"{branch} {label} {planned.timeout:>5g} s {mark} {_waits(planned)}")
        return lines


def _label(planned: PlannedService) -> str:
    return f"{planned.stage}.{planned.name}"


def _waits(planned: PlannedService) -> str:
    needs = f"needs {', '.join(planned.requires)}" if planned.requires else ""
    others = [name for name in planned.waits_for if name not in planned.requires]
    after = f"after {', '.join(others)}" if others else ""
    return ", ".join(filter(None, [after, needs])) or "starts at once"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
