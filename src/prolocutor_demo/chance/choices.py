"""Picks from named options ("tea, coffee or water"), shuffles them, splits them into teams."""

import random
import re

from prolocutor_demo.reading.when.lengths import NUMBER, number_of

MOST = 60
LONGEST = 60

_PICK = (
    r"(?:pick|choose|select|decide|draw|(?:give me|take|name)(?= (?:\w+ )?(?:of|random)\b)"
    r"|make (?:a|the) (?:decision|choice)|(?:random|arbitrary) (?:choice|pick)|spin the wheel"
    r"|help me (?:pick|choose|decide)|i (?:can'?t|cannot|can not) (?:decide|choose)"
    r"|let (?:fate|chance|luck) (?:pick|choose|decide))"
)
_WHAT = (
    r"(?:an?|the|my)?\s*(?:(?:random|lucky)\s+)?(?:one|item|name|option|winner|thing|loser|lots?"
    r"|something|someone)"
)
_LEAD = re.compile(
    rf"(?:(?:randomly|random)\s+)?{_PICK}\b(?:\s+(?P<count>{NUMBER}))?"
    rf"(?:\s+(?:{_WHAT}|names|items|winners|options))?(?:\s+(?:for me|at random|randomly))*"
    r"\s*(?:[:,-]|\b(?:of|from|between|among|out of|amongst|at random|on))*(?:\s+the following)?"
    r"\s*:?\s*(?P<list>.+)",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"(?:eeny[ ,]*meeny[ ,]*miny[ ,]*moe?|which one"
    r"|(?:which|what|who|where)(?: one)? (?:should|shall) (?:i|we|you|they|he|she)\b[^,:?]{1,40}"
    r"|who (?:goes|should|will|gets|has to|pays|starts)(?: [a-z ]{1,40})?)\s*[:,?]\s*(?P<list>.+)",
    re.IGNORECASE,
)
_SHOULD = re.compile(
    r"(?:should|shall) (?:i|we) (?P<list>.+ or .+)|would you rather (?P<rather>.+ or .+)",
    re.IGNORECASE,
)
_YOU_PICK = re.compile(
    r"(?P<list>.+?\bor\b.+?)[?,.;:\s-]+(?:you (?:choose|pick|decide)|your (?:call|choice)"
    r"|(?:choose|pick|decide)(?: one)?(?: for me)?)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"(?:(?:randomly )?(?:shuffle|reorder)|randomly (?:order|sort|arrange)|randomi[sz]e"
    r"|mix up|mix|scramble|jumble|permute)(?: up)?"
    r"(?: (?:this|these|the|my))?(?: (?:list|names|letters|numbers|order|words|items))*(?: of)?"
    r"\s*:?\s*(?P<list>.+)"
    r"|(?:put|arrange|sort|bring) (?P<put>.+?) (?:in|into) (?:a )?random order"
    r"|.*?\b(?:in )?what order (?:should|do|shall|will) (?P<what>.+?) [a-z]+(?:\?.*)?"
    r"|(?:assign )?(?:a )?random order (?:of|for|to) (?P<of>.+)",
    re.IGNORECASE,
)
_TEAMS = re.compile(
    rf"(?:split|divide|put|sort|make|form) (?P<list>.+?) (?:into|in) (?P<count>{NUMBER})? ?"
    r"(?:random )?(?:teams?|groups?|pairs)(?: at random| randomly)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r"\s*(?:,|;|/|\bor\b|\band\b|\bvs\.?(?=\s))\s*", re.IGNORECASE)
_TEAMS_OF = re.compile(
    rf"(?:make|form|build|draw) (?P<count>{NUMBER}) (?:random )?(?:teams?|groups?)"
    r" (?:from|of|with|out of)\s*:?\s*(?P<list>.+)",
    re.IGNORECASE,
)
_COLON = re.compile(r"[^\d:]{3,40}: ?(?P<list>[^\d:]+ or [^\d:]+)", re.IGNORECASE)
_QUESTION = re.compile(
    r"(?:what|who|whose|when|where|why|how|which|is|are|was|were|do|does|did|can|could|has|have|will"
    r"|convert|define|tell|show|add|set|true|am|more|any)\b",
    re.IGNORECASE,
)
_LOOSE = re.compile(r"[^\d?!.:=+*]{2,140} or [^\d?!.:=+*]{2,40}", re.IGNORECASE)


def choose(text: str, chance: random.Random) -> str | None:
    """Return one option or more for a text that asks for a choice."""
    you_pick, should = _YOU_PICK.fullmatch(text), _SHOULD.fullmatch(text)
    lead = _LEAD.fullmatch(text) or _WHO.fullmatch(text)
    if you_pick:
        options = _options(
            re.sub(
                r"^(?:would you rather|rather|should i)\s+",
                "",
                you_pick["list"],
                flags=re.IGNORECASE,
            )
        )
    elif should:
        options = _options(should["list"] or should["rather"], ors=True)
    elif lead:
        options = _options(lead["list"])
    else:
        return None
    if len(options) < 2:
        return None
    count = lead.groupdict().get("count") if lead and not you_pick else None
    wanted = int(number_of(count)) if count else 1
    if wanted > len(options):
        return f"There are only {len(options)} to pick from."
    return f"{_capital(_joined(chance.sample(options, max(1, wanted))))}."


def loose_choice(text: str, chance: random.Random) -> str | None:
    """Return one of "tea or coffee?" if the text has no other reading."""
    if named := _COLON.fullmatch(text):
        text = named["list"]
    if len(text.split()) > 9 or _QUESTION.match(text) or not _LOOSE.fullmatch(text):
        return None
    options = _options(text, ors=True)
    return f"{_capital(chance.choice(options))}." if len(options) > 1 else None


def in_order(text: str, chance: random.Random) -> str | None:
    """Return the named options in a random order."""
    found = _ORDER.fullmatch(text)
    if found is None:
        return None
    named = next(group for group in found.groups() if group)
    options = _options(named)
    if len(options) < 2:
        options = [word for word in named.split() if word][:MOST]
    if len(options) < 2:
        return None
    chance.shuffle(options)
    return f"{', '.join(options)}."


def into_teams(text: str, chance: random.Random) -> str | None:
    """Return the names split into teams of nearly equal size."""
    found = _TEAMS.fullmatch(text) or _TEAMS_OF.fullmatch(text)
    options = _options(found["list"]) if found else []
    if found is None or len(options) < 2:
        return None
    pairs = "pair" in text.lower() and not found["count"]
    count = len(options) // 2 if pairs else int(number_of(found["count"] or "two"))
    count = min(max(count, 1), len(options))
    chance.shuffle(options)
    teams = [options[start::count] for start in range(count)]
    return " ".join(f"Team {index}: {_joined(team)}." for index, team in enumerate(teams, start=1))


def _options(text: str, ors: bool = False) -> list[str]:
    """Return the options of a list; with `ors` an "and" does not separate them."""
    text = re.sub(r"[?!.]+\s*(?:random(?:ly)?)?$", "", text.strip())
    text = re.sub(r",?\s+(?:tonight|today|now|please|at random|randomly)$", "", text)
    text = re.sub(r"\s+today\?", "", text)
    parts = re.split(r"\s*(?:,|;)\s*(?:or\b)?|\s+or\s+", text) if ors else _BETWEEN.split(text)
    options = [_option(part) for part in parts]
    return [option for option in options if option][:MOST]


def _option(text: str) -> str:
    text = re.sub(r"^(?:either|between|to)\s+", "", text.strip(" \"'?!.:"), flags=re.IGNORECASE)
    return {"me": "you", "i": "you", "you": "I"}.get(text.lower(), text)[:LONGEST].strip()


def _joined(options: list[str]) -> str:
    return " and ".join([", ".join(options[:-1]), options[-1]] if len(options) > 1 else options)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
