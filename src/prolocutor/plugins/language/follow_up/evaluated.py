"""RewritingAgent: the rules as an agent that observes and acts, to be evaluated on rewrites.

    prolocutor evaluate run prolocutor.plugins.language.follow_up.evaluated:RewritingAgent \\
        --data rewrites:canard/dev.json --out runs/rewrites
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prolocutor.plugins.language.follow_up.annotator import annotate


class RewritingAgent:
    """Answers with the question that the last line of a text means after the two lines before.

    Words that stand alone are the answer themselves.
    """

    def __init__(self) -> None:
        self._text = ""

    def observe(self, observation: Mapping[str, Any]) -> Mapping[str, Any]:
        """Take note of a message."""
        self._text = str(observation.get("text", ""))
        return observation

    def act(self) -> dict[str, Any]:
        """Return the whole question."""
        *before, words = self._text.split("\n")
        asked, replied = before[-2:] if len(before) > 1 else ("", "")
        said = {"text": words}
        history = [{"text": asked}, {"text": replied, "active_skill": "agent"}] if asked else []
        found = annotate({"utterances": [*history, said], "human_utterances": [said]})
        return {"id": "follow_up", "text": found.get("text", words)}
