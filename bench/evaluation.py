"""What an evaluation costs: metrics, and parleys of a teacher with an agent, a CPU second.

    python bench/evaluation.py [--examples N] [--json FILE]

The file is synthetic: N examples (10,000) of a question and a label of 4 to 14 words, made from a
seed. Beside each figure stands the one seen for ParlAI 1.7.2 on such a file. A parley is a whole
one: a teacher reads the file of ParlAI dialog text, `RepeatLabelAgent` answers, the teacher scores
the answer. "Metrics' share" is what remains of it without teacher, agent and world: a line of JSON
is decoded, the label is scored against itself and the scores of the one example are written back.
The figures of F1 and BLEU-4 are for guesses that are not the label, each text new.
"""

import argparse
import json
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from prolocutor.plugins.evaluation.parlai.agents import RepeatLabelAgent
from prolocutor.plugins.evaluation.parlai.data_catalog import open_teacher, open_writer
from prolocutor.plugins.evaluation.parlai.metrics import (
    BleuMetric,
    F1Metric,
    TeacherMetrics,
    normalize_answer,
)
from prolocutor.plugins.evaluation.parlai.worlds import DialogPartnerWorld

PARLAI = {
    "parleys, default metrics": 9_250,
    "parleys, F1 only": 32_000,
    "F1": 79_600,
    "BLEU-4": 13_800,
}
COMMON = (
    "I you the a to of and that in it is what do like have for on my your we go house dog music "
    "people work time good really think know an are not can't it's because never always"
).split()
RARE = [
    f"{start}{middle}{end}"
    for start in ("br", "cl", "st", "m", "t", "w")
    for middle in ("a", "e", "ea", "i", "oo", "u")
    for end in ("nd", "t", "lk", "ck", "ver")
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--examples", type=int, default=10_000, help="examples in the file")
    parser.add_argument("--repeat", type=int, default=5, help="runs, of which the best counts")
    parser.add_argument("--json", type=Path, default=None, help="write the figures here too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "examples.jsonl"
        file.write_bytes(b"\n".join(map(msgspec.json.encode, examples(options.examples))))
        rows = [*figures(file, written_as_text(file), options.repeat)]
        seconds = min(whole_command(Path(folder), file) for _ in range(options.repeat))
    print(f"{'what':<32}{'a CPU second':>14}{'ParlAI 1.7.2':>14}{'times':>7}")
    for row in rows:
        theirs = PARLAI.get(row["what"])
        beside = f"{theirs:>14,}{row['rate'] / theirs:>7.1f}" if theirs else ""
        print(f"{row['what']:<32}{row['rate']:>14,.0f}{beside}")
    print(f"evaluate run repeat_label, F1 only: {seconds:.2f} CPU seconds for the whole command")
    if options.json:
        rows.append({"what": "whole command", "seconds": seconds})
        options.json.write_text(json.dumps(rows, indent=1))


def figures(file: Path, text: Path, repeat: int) -> Iterator[dict[str, Any]]:
    lines = file.read_bytes().split(b"\n")
    pairs = [(one["guess"], one["labels"]) for one in map(msgspec.json.decode, lines)]
    texts = [guess for guess, _ in pairs]
    for what, names in (("default metrics", "default"), ("F1 only", "f1"), ("all", "all,mrr")):
        yield figure(f"parleys, {what}", len(lines), repeat, lambda n=names: parleys(text, n))
        share = f"metrics' share, {what}"
        yield figure(share, len(lines), repeat, lambda n=names: metrics_share(lines, n))
    yield figure("normalize_answer", len(texts), repeat, lambda: [*map(normalize_answer, texts)])
    yield figure("F1", len(pairs), repeat, lambda: [F1Metric.compute(*pair) for pair in pairs])
    yield figure(
        "BLEU-4", len(pairs), repeat, lambda: [BleuMetric.compute(*pair) for pair in pairs]
    )


def whole_command(folder: Path, file: Path) -> float:
    """CPU seconds of the command in a process of its own, start, rows and report included."""
    shutil.rmtree(folder / "run", ignore_errors=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "prolocutor", "evaluate", "run", "repeat_label"]
    data = ["--data", f"jsonl:{file}", "--metrics", "f1", "--out", str(folder / "run")]
    subprocess.run([*command, *data], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def parleys(file: Path, names: str) -> None:
    """Go once through the file as an evaluation in a world does."""
    teacher = open_teacher(f"parlai:{file}", "valid", scorer=TeacherMetrics(names))
    with DialogPartnerWorld({}, [teacher, RepeatLabelAgent({})]) as world:
        while not world.epoch_done():
            world.parley()
        world.report()


def metrics_share(lines: list[bytes], names: str) -> None:
    metrics = TeacherMetrics(metrics_list=names)
    for line in lines:
        message = msgspec.json.decode(line)
        act = {"id": "repeat_label", "text": message["labels"][0], "episode_done": False}
        metrics.clear_recent()
        metrics.evaluate_response(act, message["labels"])
        act["metrics"] = metrics.report_recent()
    metrics.report()


def figure(what: str, number: int, repeat: int, work: Callable[[], object]) -> dict[str, Any]:
    best = float("inf")
    for _ in range(repeat):
        started = time.process_time()
        work()
        best = min(best, time.process_time() - started)
    return {"what": what, "rate": number / best}


def written_as_text(file: Path) -> Path:
    """Write the examples as ParlAI dialog text, each an episode of its own."""
    text = file.with_suffix(".txt")
    with open_writer("parlai", text) as writer:
        for line in file.read_bytes().split(b"\n"):
            one = msgspec.json.decode(line)
            writer.write([{"text": one["text"], "labels": one["labels"]}])
    return text


def examples(number: int) -> Iterator[dict[str, Any]]:
    draw = random.Random(1)
    for _ in range(number):
        yield {"text": sentence(draw), "labels": [sentence(draw)], "guess": sentence(draw)}


def sentence(draw: random.Random) -> str:
    words = [
        draw.choice(COMMON if draw.random() < 0.6 else RARE) for _ in range(draw.randint(4, 14))
    ]
    return (" ".join(words) + draw.choice(".?!")).capitalize()


if __name__ == "__main__":
    main()
