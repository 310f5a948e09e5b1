"""Evaluation: assistants, agents and functions are measured on data; runs are compared and read."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from prolocutor.plugins.evaluation.example_rows import ExampleRow as ExampleRow
    from prolocutor.plugins.evaluation.harness import EvaluationResult as EvaluationResult
    from prolocutor.plugins.evaluation.harness import EvaluationSettings as EvaluationSettings
    from prolocutor.plugins.evaluation.harness import evaluate as evaluate
    from prolocutor.plugins.evaluation.harness import evaluate_async as evaluate_async
    from prolocutor.plugins.evaluation.run_report import RunReport as RunReport

_MODULES = {
    "EvaluationResult": "harness",
    "EvaluationSettings": "harness",
    "ExampleRow": "example_rows",
    "RunReport": "run_report",
    "evaluate": "harness",
    "evaluate_async": "harness",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    # Imported when asked for: agents that run in ParlAI's worlds need nothing of the harness.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
