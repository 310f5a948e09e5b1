"""Somebody with five bots writes ten lines of YAML and gets sensible answers at once."""

from pathlib import Path

from prolocutor.config.building import build_assistant
from prolocutor.config.loading import load
from tests.pages import ROOT, blocks
from tests.plugins.pairing.integration.agents import record, turn

PAGE = ROOT / "docs" / "howto" / "route-before-calling.md"
SAID = {
    "What is my account balance?": "bank",
    "is there money left on my account": "bank",
    "Is there a flight to Lisbon?": "travel",
    "I want to take the train to Paris": "travel",
    "How do I cook rice?": "recipes",
    "do you know a recipe, I want to bake": "recipes",
    "Will it rain tomorrow?": "weather",
    "is it going to snow": "weather",
    "What was the score of the match?": "sports",
    "tell me the scores of the matches": "sports",
}


async def test_five_bots_answer_sensibly_at_once_and_not_all_are_asked(tmp_path: Path) -> None:
    files = {block.file: block.text for block in blocks(PAGE) if block.file}
    for name, text in files.items():
        (tmp_path / str(name)).write_text(text, encoding="utf-8")
    settings = load(tmp_path / "assistant.yaml", environ={})

    async with build_assistant(settings, store="memory:") as assistant:
        results = {text: await turn(assistant, text, user=text) for text in SAID}

    assert len(files["assistant.yaml"].splitlines()) <= 10
    assert {text: result.reply.active_skill for text, result in results.items()} == SAID
    calls = sum(len(record(result).asked) for result in results.values()) / len(SAID)
    assert calls <= 2.5
    assert all(record(result).reasons for result in results.values())
