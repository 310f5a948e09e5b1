"""Skills with fixed texts."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from prolocutor.errors import ConfigError
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment

TEXTS = {
    "EN": (
        "I am not sure what to say to that. What else is on your mind?",
        "That is a new one to me. Could you tell me more about it?",
        "I have no good answer yet. Shall we talk about something else?",
    ),
    "RU": (
        "Даже не знаю, что сказать. О чём ещё вы думаете?",
        "Это для меня новое. Расскажете подробнее?",
        "Хорошего ответа у меня пока нет. Поговорим о чём-нибудь другом?",
    ),
}
"""The dummy skill's texts without a file of texts, by language."""


FALLBACKS: Final = Path("common/fallbacks")


class PredefinedText:
    """Replies with a fixed text, with annotations; a last chance or time-out service."""

    def __init__(self, response_text: str, annotations: Mapping[str, Any] | None = None) -> None:
        self._reply = {"text": response_text, "annotations": dict(annotations or {})}

    def __call__(self, task: Any) -> Any:
        """Return the text as a reply."""
        return self._reply


class PredefinedOutput:
    """Replies with a fixed value to any request."""

    def __init__(self, output: Any) -> None:
        self._output = output

    def __call__(self, task: Any) -> Any:
        """Return the value."""
        return self._output


class MostConfident:
    """A response selector: chooses the hypothesis of the highest confidence; sees the dialog."""

    def __call__(self, task: Any) -> Any:
        """Return the hypothesis. Raise ValueError without hypotheses."""
        return max(
            task["human_utterances"][-1]["hypotheses"],
            key=lambda hypothesis: hypothesis["confidence"],
        )


class DummySkill:
    """Replies with a text that fits anywhere, at confidence 0.5."""

    def __init__(
        self, texts: Sequence[str], choose: Callable[[Sequence[str]], str] = random.choice
    ) -> None:
        self._texts = texts
        self._choose = choose

    def __call__(self, task: Any) -> Any:
        """Return a hypothesis in columns.

        As in DREAM, its type is in the place of the human's attributes, so the human has the
        attribute `type` after this skill has spoken.
        """
        return [[self._choose(self._texts)], [0.5], [{"type": "dummy"}], [{}], [{}]]


class AlexaHandler:
    """Acknowledges a command of an Alexa device."""

    def __call__(self, task: Any) -> Any:
        """Return a hypothesis. Raise ValueError if the text is not an /alexa_ command."""
        if "/alexa_" not in _newest_text(task):
            raise ValueError("the text holds no /alexa_ command")
        return [["alexa handler: command logged"], [1.0], [{}]]


def fallback_texts(environment: DreamEnvironment) -> Sequence[str]:
    """Return the texts of `FALLBACK_FILE`, a JSON list, else texts in the language.

    A bare name is also looked for in DREAM's `common/fallbacks`.
    """
    given = Path(environment.fallback_file)
    paths = [given, FALLBACKS / given] if environment.fallback_file else []
    path = next((one for one in paths if one.is_file()), None)
    if path is not None:
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"{path} is not a JSON list of texts: {error}", key="FALLBACK_FILE"
            ) from None
        texts = [text for text in found if isinstance(text, str)] if isinstance(found, list) else []
        if texts:
            return texts
    return TEXTS.get(environment.language.upper(), TEXTS["EN"])


def _newest_text(task: Any) -> str:
    """Return the newest text of a task: a dialog, a list of dialogs or a list of sentences."""
    if "sentences" in task:
        return str(task["sentences"][-1])
    dialog = task["dialogs"][0] if "dialogs" in task else task
    return str(dialog["utterances"][-1]["text"])
