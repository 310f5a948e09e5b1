"""The seven stages of a pipeline, in the order in which a turn passes them."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A stage; its value is its key in YAML and the name by which `after` may call it."""

    ANNOTATOR = "annotators"
    SKILL_SELECTOR = "skill_selector"
    SKILL = "skills"
    CANDIDATE_ANNOTATOR = "candidate_annotators"
    RESPONSE_SELECTOR = "response_selector"
    POSTPROCESSOR = "postprocessors"
    RESPONSE_ANNOTATOR = "response_annotators"
    LAST_CHANCE = "last_chance"
    """Not a stage of the ordinary turn: the first way out when the ordinary one fails."""


ORDER: tuple[Stage, ...] = tuple(stage for stage in Stage if stage is not Stage.LAST_CHANCE)
SINGLE: frozenset[Stage] = frozenset(
    {Stage.SKILL_SELECTOR, Stage.RESPONSE_SELECTOR, Stage.LAST_CHANCE}
)
"""Stages that mostly have one service: YAML gives it without a map of names."""
