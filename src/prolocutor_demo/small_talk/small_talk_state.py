"""What small talk remembers of a user, validated when read from the attributes."""

import re
from collections.abc import Iterable
from typing import Any

from prolocutor_demo.small_talk.scripts import Script

LONGEST_ANSWER = 60

_FILLER = re.compile(
    r"^(?:(?:oh|well|hm+|so|i think|i guess|probably|maybe|definitely|it was|it is|it's|that was"
    r"|i'd go to|i would go to|i like|i love|i loved|i liked|my name is|i'm|i am|they call me"
    r"|call me|to|just|no)\b[\s,]*)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?<![\s,])[\s,]++(?:i think|i guess|i suppose|probably|of course|for sure|definitely|maybe)$",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:yes|no|yeah|yep|nope|ok|okay|sure|nothing|none|i don'?t know|dunno|no idea|not sure|why"
    r"|what|i can'?t say|hard to say|don'?t know)?",
    re.IGNORECASE,
)


class SmallTalkState:
    """The current script, the step of each script, and the user's answers.

    `asked` is true while the last step of the script awaits an answer.
    """

    def __init__(self, stored: object, scripts: Iterable[Script]) -> None:
        state = stored if isinstance(stored, dict) else {}
        names = {script.name: script for script in scripts}
        current, steps, said = state.get("script"), state.get("steps"), state.get("said")
        steps = steps if isinstance(steps, dict) else {}
        said = said if isinstance(said, dict) else {}
        keys = [f"{name}.{step.key}" for name, one in names.items() for step in one.steps]
        self.script = names.get(current) if isinstance(current, str) else None
        self.steps = {name: _number(steps.get(name), len(one.steps)) for name, one in names.items()}
        self.said = {key: said[key][:LONGEST_ANSWER] for key in keys if _is_text(said.get(key))}
        self.asked = state.get("asked") is True and self.script is not None
        self.turns = _number(state.get("turns"), 10**6)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON value for the user's attributes."""
        steps = {name: step for name, step in self.steps.items() if step}
        script = self.script.name if self.script else None
        value: dict[str, Any] = {"script": script, "steps": steps, "said": self.said}
        return value | {"asked": self.asked, "turns": self.turns}

    def over(self, script: Script) -> bool:
        """Return whether all steps of a script are done."""
        return self.steps[script.name] >= len(script.steps)

    def remember(self, said: str, script: Script) -> None:
        """Store the answer to the current step if it is short enough to be repeated."""
        key = script.steps[max(0, self.steps[script.name] - 1)].key
        core = _FILLER.sub("", " ".join(said.split())).strip(" .,!?\"'")
        core = _TAIL.sub("", core).replace("{", "").replace("}", "")
        if key and len(core) <= LONGEST_ANSWER and not _EMPTY.fullmatch(core):
            self.said[f"{script.name}.{key}"] = core

    def answered(self, script: Script) -> bool:
        """Return whether the answer to the current step is known."""
        step = script.steps[max(0, self.steps[script.name] - 1)]
        return f"{script.name}.{step.key}" in self.said

    def filled(self, text: str, script: Script) -> str:
        """Return the text filled in with the user's answers; "" if one is missing."""
        for key in re.findall(r"\{(\w*)\}", text):
            value = self.said.get(f"{script.name}.{key}")
            if not value:
                return ""
            text = text.replace(f"{{{key}}}", value)
        return text[:1].upper() + text[1:]


def _is_text(raw: object) -> bool:
    return isinstance(raw, str) and bool(raw)


def _number(raw: object, most: int) -> int:
    return min(raw, most) if type(raw) is int and raw > 0 else 0
