"""No text holds a turn for long: what its steps do with a text grows no faster than the text.

Whole turns run in one thread, of the demo and of a router that ranks echoes.
"""

import random
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

import prolocutor_demo
from prolocutor.assistant.assistant import Assistant
from tests.architecture.test_patterns import LIMIT, slowness

LENGTH = 8_000
PIECES = [
    "?", "?!", "!", "/", "'", "(", "-", ",", ".", "=", "1", "1,", "1.", "1+", "x", "A", "é", "中",
    "\t?", "a ", "1 ", ", ", ". ", "i ", "one ", "and ", "what is ", "how many ", "5 euro in ",
]  # fmt: skip
ROUTED = """
skill_selector: {router: learned}
skills:
  weather: {call: "%(echo)s", inline: true, card: {description: Tells of rain and sun}}
  money: {call: "%(echo)s", inline: true, card: {description: Converts money}}
"""


def echo(request: dict[str, Any]) -> dict[str, Any]:
    """Say what was said."""
    return {"text": request["human_utterances"][-1]["text"], "confidence": 0.9}


def demo() -> str:
    """Return the demo's file with all of its agents in one thread."""
    file = Path(prolocutor_demo.__file__).parent / "assistant" / "assistant.yaml"
    there = yaml.safe_load(file.read_text(encoding="utf-8"))
    del there["processes"]
    for name, skill in there["skills"].items():
        skill |= {"inline": True}
        skill.get("card", {}).pop("manifest", None)
        if not isinstance(skill["call"], str):
            skill["call"] = f"prolocutor_demo.{name}:answer"
    return yaml.safe_dump(there)


def strange_words() -> str:
    chance = random.Random(3)
    return " ".join("".join(chance.choices("abcdefghijk", k=5)) for _ in range(2_000))


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", [demo(), ROUTED % {"echo": f"{__name__}:echo"}], ids=["demo", "routed"]
)
async def test_no_text_holds_a_turn_for_long(file: str, tmp_path: Path) -> None:
    path = tmp_path / "assistant.yaml"
    path.write_text(file, encoding="utf-8")
    held = {}
    async with Assistant.from_file(path, store="memory:") as assistant:
        await assistant.reply("hello", user="ann")
        for piece in (*PIECES, strange_words()):
            text, costs = (piece * (LENGTH // len(piece) + 1))[:LENGTH], []
            while len(costs) < 5 and min(costs, default=1.0) > 1.5 * LIMIT:
                begin = time.thread_time()
                await assistant.reply(text, user=f"{piece[:3]} {len(costs)}")
                costs.append((time.thread_time() - begin) / slowness())
            if min(costs) > 1.5 * LIMIT:
                held[piece[:9]] = f"{min(costs):.3f} s"
    assert not held
