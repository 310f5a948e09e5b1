"""Whether an utterance is emotional: by its annotations, its words, or the reply before it.

The words are from DREAM's rules.
"""

from __future__ import annotations

import re
from typing import Final

from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import State, likelihoods
from prolocutor.plugins.deeppavlov.python_connectors.talk_of_topics import Exchange

STRONG: Final = 0.8
"""The lowest likelihood at which an emotion, other than a neutral mood, is answered."""

_NOT: Final = r"(?:\bnot|n'tno)(?: too| that| really| so| feel| going)? "


def _words(words: str) -> str:
    return r"\b(?:" + "|".join(words.replace("_", " ") for words in words.split()) + r")\b"


_PAIN = _words(
    "ailing backache damaged diseased earache headache heart_attack pain sick sore stomachache"
    " toothache"
)
_SAD = _words(
    "awful awry bad badly cry crying depraved depressed dire exhausted foul grisly harmful"
    " horrible ill inferior low miserable nasty naughty pity poor sad sadly so_so spoiled terrible"
    " tired trash ugly unhappy upset wretched"
)
_GLAD = _words(
    "all_right awesome class classy cool crackajack crackerjack excellent excited exciting"
    " fabulous famous fine good great happy incredible neat nice ok okay peachy perfect splendid"
    " super superb swell tops tremendous well yeah"
)
_ALONE = r"(?:i am alone|lonely|loneliness|do you love me)"
_JOKE = r"(?:(?:tell|hear)(?: [a-z]+){0,4} jokes?|^joke)"
_SIGNS: Final = [
    (re.compile(sign), re.compile(_NOT + sign))
    for sign in (_PAIN, f"(?:{_SAD}|^say$)", _ALONE, _JOKE)
]
_NOT_GLAD: Final = re.compile(_NOT + _GLAD)
_ADVICE: Final = re.compile(
    r"(?:give|suggest|tell) (?:me )?(?:an? |some )?advice|advice me (?:something|anything)"
)
_EMOTION: Final = re.compile(r"\b(?:emotion|feeling|i feel\b|depress)")
_HOW_ARE_YOU: Final = re.compile(
    r"how are (?:you(?: doing today)?|things)\?|how is the day going so far for you\?"
    r"|как (?:твои )?дела(?: сегодня)?\?|как проходит (?:твой )?день(?: сегодня)?\?"
)
_FEELINGS: Final = frozenset(
    "affection amazing amusement anger antagonism anxiety bad blame bliss bored bravado calmness"
    " carefree cheer confidence contentment curiosity cynicism delight depression ease"
    " embarrassment empathy enthusiasm excitement fear fright frustration fulfillment fury good"
    " gratitude grief happiness harmony hate hatred heartache hopeful hostility insecurity"
    " inspiration interest jealousy joy kindness laughter love misery optimism pain panic passion"
    " peace pessimistic pleasure regret resentment sad sadness satisfaction serenity shame sick"
    " sorrow surprise threatening trust unhappiness weariness well worry".split()
)


def is_moved(exchange: Exchange) -> bool:
    """Return whether feelings are at stake in the newest utterance."""
    found = likelihoods(exchange.newest, "emotion_classification")
    glad = max(found.get("joy", 0), found.get("love", 0))
    sad = max(found.get("anger", 0), found.get("fear", 0), found.get("sadness", 0))
    if glad > 0.6 and sad > 0.5:
        return False
    likeliest = max(found, key=lambda emotion: found[emotion], default="neutral")
    strong = likeliest != "neutral" and found[likeliest] > STRONG
    return bool(
        strong
        or any(sign.search(exchange.text) and not no.search(exchange.text) for sign, no in _SIGNS)
        or _NOT_GLAD.search(exchange.text)
        or _ADVICE.search(exchange.text)
        or _HOW_ARE_YOU.search(exchange.said)
        or _says_feeling(exchange)
        or _symbolizes_pain(exchange.newest)
        or exchange.chooses_topic(_EMOTION)
    )


def _says_feeling(exchange: Exchange) -> bool:
    asked = "how do you feel?" in exchange.said
    return asked and any(re.sub(r"\W", "", one) in _FEELINGS for one in exchange.text.split(" "))


def _symbolizes_pain(utterance: State) -> bool:
    annotations = utterance["annotations"]
    found = annotations.get("comet_conceptnet", annotations.get("conceptnet", {}))
    return any("pain" in one.get("SymbolOf", ()) for one in found.values())
