"""Routers and rankers by pairing that are tried out in the place of others."""

from pathlib import Path

import pytest

from prolocutor import Assistant

FILE = """\
skill_selector:
  - {name: plain, router: cards, budget: "top:1"}
  - {name: wide, router: cards, budget: all, canary: {instead_of: plain, share: SHARE}}
response_selector: {ranker: unsupervised}
skills:
  rain: {call: "three_agents:rain", inline: true, card: {description: rain and sun}}
  rain_two:
    call: three_agents:rain_two
    inline: true
    card: {description: nothing at all}
    canary: {instead_of: rain, share: 1}
  trains: {call: "three_agents:trains", inline: true, card: {description: trains}}
"""
CODE = """
def rain(request): return {"text": "It rains.", "confidence": 0.9}
def rain_two(request): return {"text": "It rains cats and dogs.", "confidence": 0.9}
def trains(request): return {"text": "Platform 4.", "confidence": 0.1}
"""


@pytest.mark.parametrize(
    ("share", "asked"), [(0, ["rain_two"]), (1, ["rain_two", "trains"])], ids=["old", "new"]
)
async def test_the_router_of_a_person_asks_the_agent_that_stands_in_by_the_words_of_the_other(
    share: int, asked: list[str], tmp_path: Path
) -> None:
    (tmp_path / "three_agents.py").write_text(CODE)
    file = tmp_path / "assistant.yaml"
    file.write_text(FILE.replace("SHARE", str(share)))

    async with Assistant.from_file(file, store="memory:") as assistant:
        record = (await assistant.turn("will it rain?", user="ann")).record

    assert record is not None
    assert record.asked == asked
    assert {(choice.chosen, choice.probability) for choice in record.choices} >= {
        ("rain_two", 1.0),
        ("wide" if share else "plain", 1.0),
    }
