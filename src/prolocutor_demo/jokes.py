"""Jokes for programmers and about Chuck Norris, without early repetition for a user."""

import functools
import hashlib
import re
from typing import Any

import pyjokes

from prolocutor_demo.reading.languages.speaking import jokes_in_language
from prolocutor_demo.reading.request import attributes_of, text_of

_DECLINED = "I only tell jokes."
_TOLD = "jokes_told"
_MOST_REMEMBERED = 100
_LONGEST = 120
_JOKES = (
    r"(?:jok(?:e|es|ee|ing)?|joe?ks?|one[- ]?liners?|puns?|chuck norris|funny (?:one|story)"
    r"|humou?r)"
)
_FUNNY = r"(?:funny|hilarious|humorous|silly|amusing|witty)"
_PATTERNS = [
    (
        0.97,
        (
            r"(?:tell|tel|give|gimme|share|hit|crack|know|knows|got|hear|have|want|like|need|use|do|say"
            rf"|another|more|any|a|an|new|best|good|favou?rite|funniest|let)\b.*\b{_JOKES}"
        ),
    ),
    (0.95, rf"^(?:an? |some |the )?(?:\w+ ){{0,3}}{_JOKES}(?: facts?)?$"),
    (0.93, r"\bmake (?:me|us) (?:laugh|giggle|smile|chuckle)"),
    (0.9, rf"\b(?:tell|say|share|show|do|try|about|be|give)\b.{{0,20}}\b{_FUNNY}"),
    (0.9, rf"\b{_JOKES}\b.*\b(?:another|more|(?:do|can) you)\b"),
    (0.85, r"^(?:crack me up|cheer (?:me|us) up|amuse me|be funny|make a joke)\b"),
    (0.85, r"\bchuck norris\b|\bdad joke|\bsense of humou?r\b"),
    (0.8, r"\b(?:need|use|want|like|have) (?:a )?(?:good |big )?laugh\b|\bmake me giggle\b"),
    (0.75, rf"\b{_JOKES}$"),
    (0.7, rf"\b{_JOKES} (?:about|on|of|for|with)\b"),
]
_COMPILED = [(confidence, re.compile(pattern)) for confidence, pattern in _PATTERNS]
_ENDINGS = re.compile(r"(?:[ ,]+(?:please|plz|pls|thanks|for me|right now|would you))+$")
_ANOTHER = re.compile(
    r"(?:and )?(?:another|one more|more|next|again|a(?:nother)? (?:better|different|new) one"
    r"|tell me another)(?: one)?(?: of those)?"
)
# Words of requests that mention jokes but ask for something else.
_FOREIGN = re.compile(
    r"\b(?:remind(?:er)?|todo|to-do|list|timer|add|define|definition|meaning|synonyms?"
    r"|antonyms?|word|coin|dice|you're|you are|that was a|not a joke|no jokes?|no more jokes?|stop"
    r"|don't tell|do not tell|poem)\b"
)
_FILLER = frozenset(
    "a about already an another and any are bad based be best better big can chuck could crack "
    "cracking dad different do facts fact favourite favorite few for from fun funny funniest geek "
    "geeky gimme give good got great have hear hit i if in is it joke jokes know laugh lets like "
    "liners make me mind more my nerd nerdy new norris of on one or other people please pun puns "
    "short some someone something tell telling that the them then those to us want we what with "
    "would you your humour humor".split()
)
_PROGRAMMING = frozenset(
    "program programmer programmers programming code coder coders coding computer computers "
    "developer developers software tech techie it geeks nerds".split()
)
_TASTELESS = re.compile(r"kill(?:ing)? yourself|girlfriend|peeing|airplane|suicid", re.IGNORECASE)


@jokes_in_language
def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a joke that this user has not seen recently, on the requested topic if possible."""
    text = _plain(text_of(request))
    confidence = _wish(text)
    if not confidence and _ANOTHER.fullmatch(text) and _just_told(request):
        confidence = 0.9
    if not confidence:
        return [{"text": _DECLINED, "confidence": 0.05}]
    told = _told(request)
    topic = _topic(text)
    fitting = _fitting(topic)
    number = _pick(fitting or _fitting(""), told, _seed(request))
    remembered = [*(one for one in told if one != number), number][-_MOST_REMEMBERED:]
    lead = "" if fitting else f"I know none about {topic}, but here is another one. "
    return [
        {
            "text": lead + _jokes()[number],
            "confidence": confidence if fitting else round(confidence - 0.1, 3),
            "human_attributes": {_TOLD: remembered},
        }
    ]


def _plain(text: str) -> str:
    text = " ".join(text.lower().replace("’", "'").split()).strip(" ?!.,;:")
    return _ENDINGS.sub("", text).strip(" ?!.,;:")


def _wish(text: str) -> float:
    """Return the confidence that the text asks for a joke; 0 if it does not."""
    if not text or len(text) > _LONGEST or _FOREIGN.search(text):
        return 0.0
    return next((sure for sure, pattern in _COMPILED if pattern.search(text)), 0.0)


def _topic(text: str) -> str:
    """Return the topic of the requested joke; "" for any topic."""
    if re.search(r"\bchuck\b|\bnorris\b", text):
        return "chuck norris"
    about = re.search(
        rf"(?:\babout|{_JOKES} (?:on|with|involving)) ([\w' ]{{2,30}}?)(?: in it)?$", text
    )
    kind = re.search(rf"\b(\w+) {_JOKES}(?: facts?)?$", text)
    found = about or kind
    words = found.group(1).split() if found else []
    left = [word for word in words if word not in _FILLER and word not in {"user", "users"}]
    if not left or set(left) <= _PROGRAMMING:
        return ""
    return " ".join(left) if about or _fitting(left[-1]) else ""


def _fitting(topic: str) -> list[int]:
    """Return the numbers of the jokes about a topic."""
    if topic == "chuck norris":
        return [number for number, joke in enumerate(_jokes()) if "Chuck" in joke]
    if not topic:
        return [number for number, joke in enumerate(_jokes()) if "Chuck" not in joke]
    stems = [re.escape(word.removesuffix("s")) for word in topic.split() if len(word) > 2]
    patterns = [re.compile(rf"\b{stem}s?\b", re.IGNORECASE) for stem in stems]
    hits = [sum(bool(one.search(joke)) for one in patterns) for joke in _jokes()]
    best = max(hits, default=0)
    found = [number for number, count in enumerate(hits) if best and count == best]
    return [number for number in found if "Chuck" not in _jokes()[number]] or found


def _pick(fitting: list[int], told: list[int], seed: str) -> int:
    """Return a joke not yet used, chosen by the seed; the least recently used if all were."""
    fresh = [number for number in fitting if number not in told]
    if not fresh:
        return min(fitting, key=told.index)
    digest = hashlib.blake2b(seed.encode("utf-8", "replace"), digest_size=8).digest()
    return fresh[int.from_bytes(digest, "big") % len(fresh)]


def _told(request: dict[str, Any]) -> list[int]:
    stored = attributes_of(request).get(_TOLD)
    count = len(_jokes())
    listed = stored if isinstance(stored, list) else []
    return [one for one in listed if type(one) is int and 0 <= one < count]


def _seed(request: dict[str, Any]) -> str:
    said = request.get("human_utterances")
    utterance = said[-1] if isinstance(said, list) and said else {}
    return f"{utterance.get('utt_id', '')}/{utterance.get('date_time', '')}"


def _just_told(request: dict[str, Any]) -> bool:
    """Return whether the assistant's last utterance was one of these jokes."""
    said = request.get("bot_utterances")
    last = said[-1] if isinstance(said, list) and said else None
    text = last.get("text") if isinstance(last, dict) else None
    return isinstance(text, str) and any(text.endswith(joke) for joke in _jokes())


@functools.cache
def _jokes() -> list[str]:
    """Return all jokes, in the library's order, each on one line."""
    listed = [*pyjokes.get_jokes(category="neutral"), *pyjokes.get_jokes(category="chuck")]
    return [joke for joke in dict.fromkeys(listed) if not _TASTELESS.search(joke)]
