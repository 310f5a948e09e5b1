"""The environment variables of DREAM's Python code."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class DreamEnvironment(msgspec.Struct, frozen=True):
    """The values of the variables, with DREAM's defaults."""

    high_priority_intents: bool = True
    sensitive_restricted: bool = True
    all_skills: bool = False
    language: str = "EN"
    fallback_file: str = ""

    @classmethod
    def read(cls, variables: Mapping[str, str]) -> DreamEnvironment:
        """Read the variables; a switch is off where it is empty, 0 or false."""
        return cls(
            high_priority_intents=_is_on(variables.get("HIGH_PRIORITY_INTENTS", "1")),
            sensitive_restricted=_is_on(variables.get("RESTRICTION_FOR_SENSITIVE_CASE", "1")),
            all_skills=_is_on(variables.get("ALWAYS_TURN_ON_ALL_SKILLS", "0")),
            language=variables.get("LANGUAGE", "EN"),
            fallback_file=variables.get("FALLBACK_FILE", ""),
        )


def _is_on(switch: str) -> bool:
    return switch.strip().lower() not in ("", "0", "false")
