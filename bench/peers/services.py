"""The services of the standard pipeline as plain functions of a request: as little work as can be.

Two annotators, a rule skill selector, three skills, a candidate annotator over all hypotheses, a
response selector and a postprocessor. Requests are in dp-agent's form: {"x": [text]} where the
text is all that a service needs, else {"hypotheses": [...]}.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

CONFIDENCES = {"skill_0": 0.5, "skill_1": 0.9, "skill_2": 0.7}


def annotate(request: dict[str, Any]) -> dict[str, list[str]]:
    return {"tokens": request["x"][0].split()}


def select_skills(request: dict[str, Any]) -> list[str]:
    return list(CONFIDENCES)


def answer(name: str, request: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"text": f"{name} heard: {request['x'][0]} ", "confidence": CONFIDENCES[name]}]


def annotate_hypotheses(request: dict[str, Any]) -> dict[str, list[dict[str, list[str]]]]:
    return {
        "batch": [{"tokens": hypothesis["text"].split()} for hypothesis in request["hypotheses"]]
    }


def select_response(request: dict[str, Any]) -> dict[str, Any]:
    return max(request["hypotheses"], key=lambda hypothesis: hypothesis["confidence"])


def strip(request: dict[str, Any]) -> str:
    return request["x"][0].strip()


SERVICES: dict[str, Callable[[dict[str, Any]], Any]] = {
    "tokens": annotate,
    "words": annotate,
    "rules": select_skills,
    **{name: partial(answer, name) for name in CONFIDENCES},
    "length": annotate_hypotheses,
    "best": select_response,
    "strip": strip,
}


def expected(text: str) -> str:
    """The reply that the standard pipeline gives."""
    return f"skill_1 heard: {text}"
