"""The types of the evaluation, as a user's type checker sees them."""

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

from prolocutor import Assistant, Pipeline
from prolocutor.plugins.evaluation import (
    EvaluationResult,
    EvaluationSettings,
    ExampleRow,
    RunReport,
    evaluate,
    evaluate_async,
)

DATA = [{"text": "hi", "labels": ["hello"]}]


def parrot(text: str) -> str:
    return text


result = evaluate(parrot, DATA, metrics="f1,bleu", limit=10, concurrency=2)
assert_type(result, EvaluationResult)
assert_type(result.report, RunReport)
assert_type(result.rows, list[ExampleRow])
assert_type(result.folder, Path | None)
evaluate(Assistant(Pipeline(skills=[])), "jsonl:questions.jsonl", out="runs/a")
evaluate("assistant.yaml", ["jsonl:a.jsonl", "csv:b.csv"], aggregate="micro")
assert_type(EvaluationSettings().metrics, str)

evaluate(parrot, 5)  # type: ignore[arg-type]
evaluate(parrot, DATA, metric="f1")  # type: ignore[call-arg]
evaluate(parrot, DATA, aggregate="median")  # type: ignore[arg-type]
evaluate(parrot, DATA, limit="ten")  # type: ignore[arg-type]


async def measured(data: Sequence[str]) -> RunReport:
    return (await evaluate_async(parrot, data)).report
