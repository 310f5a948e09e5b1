"""The choice of skills for single topics: by classified topics, words and entities.

The topics are labels of the classifiers of DREAM's annotators, the words are from DREAM's rules;
most words also match inside longer words. Of DREAM's titles of games only some are here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import (
    State,
    detected_intents,
    is_factoid,
    is_yes,
    labels,
    likelihoods,
    midas_labels,
)
from prolocutor.plugins.deeppavlov.python_connectors.talk_of_topics import Exchange

STRONG: Final = 0.8
"""The lowest likelihood at which an emotion, other than a neutral mood, is answered."""

# DREAM's second alternative, `n't\bno`, is dead: no word boundary lies between "t" and "n".
_NOT: Final = r"\bnot(?: too| that| really| so| feel| going)? "

_ALONE = r"(?:i am alone|lonely|loneliness|do you love me)"
_JOKE = r"(?:(?:tell|hear)(?: [a-z]+){0,4} jokes?|^joke)"

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

SENSITIVE: Final = frozenset(
    "news_api_skill dff_coronavirus_skill dff_funfact_skill dff_weather_skill"
    " dff_short_story_skill".split()
)
"""The skills for single topics that are also asked about touchy topics."""

_PLAYS = r"\bvideo ?game|\bplay ?station|\bx ?box\b|\bplay(?:ed|ing|s).*\b(?:tablet|pc|computer)\b"
_TITLES = (
    "(?:microsoft_)?flight_simulator (?:roller_?coaster|railroad)_tycoon (?:the_)?forest"
    " (?:the_)?sims (?:the_)?witcher age_of_empires age_of_mythology anno ark arma baldur's_gate"
    " battlefield bioshock blade_runner cities civilization command_and_conquer commandos"
    " counter-strike crusader_kings crysis cuphead cyberpunk dark_souls dayz diablo doom"
    " duke_nukem empire_earth europa_universalis everquest factorio fall_guys far_cry"
    " final_fantasy fortnite frogger full_throttle grand_theft_auto gta guild_wars half-life"
    " hearts_of_iron hollow_knight mafia magicka metal_gear_solid microsoft minecraft myst"
    " neverwinter_nights nier pac-man pod populous prison_architect pubg quake resident_evil riven"
    " roblox robocop rome runaway rust sacred satisfactory simcity spore star_wars starcraft"
    " stardew_valley stellaris street_fighter stronghold terraria theme_park total_annihilation"
    " tropico unreal valheim vietcong warhammer wing_commander wolfenstein world_of_warcraft"
    " zoo_tycoon zork"
)
_SPORTS = (
    "aerobics archery badminton ballet baseball basketball biathlon billiards canoe chess climb"
    " coach cricket curling cycle darts dive draughts fence fitness football golf gymnastics"
    " handball hockey jog judo karate lacrosse martial_arts parachute polo ride rowing rugby run"
    " ski snooker soccer swim tennis triathlon volleyball waterski work_out wrestle"
)
_SPORTING = (
    "boxing canoeing climbing cycling dancing diving fencing jogging mountaineering parachuting"
    " riding rowing running skiing swimming working_out wrestling"
).split()
_CONTESTS = (
    "championship competition derby grand_prix nba nfl olympic_games stanley_cup super_bowl"
    " tour_de_france tournament tourney uefa ufc wimbledon world_cup world_series"
)
_BEEN = (
    r"|(?:have|did|were|was|had|place) you (?:ever )?(?:been (?:in|to)\b|visit|in\b|travel"
    r"|go [a-z ]{0,40}vacation|have (?:ever )?(?:visit|been (?:in|to)\b|travel))"
    r"|(?:i|we|me) (?:have|did|was|had|were) (?:been (?:in|on|there)|visit)"
)
_TRAVEL = "travel|journey|globe ?trotting|tour|voyage|trekking|wandering|vacation|visit"

LINKS: Final = {
    skill: re.compile(pattern)
    for skill, pattern in {
        "dff_animals_skill": r"do you (?:like animals|have pets(?: at home)?)\?|talk about animals"
        r"(?:\?|, would you)|chat about animals\. do you agree",
        "dff_book_skill": r"what is the last book you've read\?|what is your favorite book\?"
        r"|what book do you like to read\?|book you (?:would recommend to your friend|like to"
        r" recommend to other people)\?|longest book you have ever read|was recommended to you\?",
        "dff_food_skill": r"do you (?:like cooking|think cooking is (?:cool|a great thing))\?"
        r"|they adore cooking\.",
        "dff_gaming_skill": r"game are you playing in recent days\?|your favorite video game\?",
        "dff_movie_skill": r"recent movie you've watched\?|best movie you have seen recently\?"
        r"|could watch over and over again\?|your favorite tv series\?|did you watch on weekends\?"
        r"|can you recommend to your friends\?",
        "dff_music_skill": r"what kind of music do you (?:like|listen to to cheer|usually listen)"
        r"|who is your favorite singer|what song do you like to sing|your favorite album\?"
        r"|best band ever\?",
        "dff_science_skill": r"do you (?:like science|think science is (?:cool|a great thing))\?"
        r"|they adore science\.|(?:chat|talk) about science(?:\?|, would you)",
        "dff_sport_skill": r"do you (?:like (?:sports|fitness)|have a sports idol)\?"
        r"|(?:chat about sport|talk about sports competitions)\?|about your favorite athletes\? ",
        "dff_travel_skill": r"do you (?:like travel|think travel is (?:cool|a great thing))\?"
        r"|what is your (?:view on|opinion of) travel\?",
        "emotion_skill": r"how do you feel\?|how are (?:you(?: doing today)?|things)\?"
        r"|how is the day going so far for you\?|как (?:твои )?дела(?: сегодня)?\?"
        r"|как проходит (?:твой )?день(?: сегодня)?\?",
        "game_cooperative_skill": r"do you love video games\?",
        "news_api_skill": r"would you like to hear the latest news\?",
        "personal_info_skill": r"what is your name\?|where are you from\?|как тебя зовут\?"
        r"|откуда ты родом\?",
    }.items()
}
"""The questions by which DREAM's skills lead over to another skill."""

_OFFERED_WEATHER: Final = re.compile(r"would you like to know the weather(?: there)?\?")
FILMS: Final = frozenset(
    "Q10301427 Q11424 Q130232 Q15416 Q202866 Q20937557 Q2431196 Q24869 Q29168811 Q369747"
    " Q52162262 Q5398426".split()
)
"""Films and series of all kinds in Wikidata."""
FAMOUS: Final = frozenset(
    "Q1028181 Q10798782 Q10800557 Q10833314 Q10843402 Q10871364 Q10873124 Q11338576 Q11513337"
    " Q11774891 Q12299841 Q1281618 Q12840545 Q13141064 Q131524 Q14089670 Q15117302 Q15296811"
    " Q1607826 Q177220 Q19204627 Q1930187 Q2066131 Q214917 Q222344 Q2259451 Q2309784 Q2405480"
    " Q2526255 Q28389 Q2865819 Q3282637 Q33231 Q33999 Q3455803 Q36180 Q3665646 Q36834 Q483501"
    " Q486748 Q488205 Q49757 Q628099 Q639669 Q644687 Q6625963 Q753110 Q855091 Q937857"
    " Q947873".split()
)
"""Occupations in Wikidata of people who are talked about: of stage, books, music, sport."""
TOPICS: Final = ("cobot_topics", "cobot_dialogact_topics", "deeppavlov_topics")


def _words(words: str) -> str:
    """Return a pattern of whole words; `_` is a space."""
    return r"\b(?:" + "|".join(word.replace("_", " ") for word in words.split()) + r")\b"


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
_SIGNS: Final = [
    (re.compile(sign), re.compile(_NOT + sign))
    for sign in (_PAIN, f"(?:{_SAD}|^say$)", _ALONE, _JOKE)
]
_NOT_GLAD: Final = re.compile(_NOT + _GLAD)


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


class TopicRule(msgspec.Struct, frozen=True):
    """A skill is asked for these topics, for words of the person, or for words of the reply
    before.
    """

    topics: frozenset[str] = frozenset()
    heard: re.Pattern[str] | None = None
    said: re.Pattern[str] | None = None

    def fits(self, topics: set[str], exchange: Exchange) -> bool:
        """Return whether topics or words of an exchange match the rule."""
        return bool(
            self.topics & topics
            or (self.heard and self.heard.search(exchange.text))
            or (self.said and self.said.search(exchange.said))
        )


def _rule(
    topics: str = "", parts: str = "", words: str = "", more: str = "", said: str | None = ""
) -> TopicRule:
    """Make a rule of parts of words and whole words (`_` is a space) and a pattern.

    The same pattern applies to the reply before, unless `said` is another pattern or None.
    """
    alternatives = [more] if more else []
    if parts:
        alternatives.append("|".join(re.escape(one.replace("_", " ")) for one in parts.split()))
    if words:
        alternatives.append(_words(words))
    source = "|".join(alternatives)
    heard = re.compile(source) if source else None
    before = heard if said == "" else re.compile(said) if said else None
    return TopicRule(frozenset(topics.split()), heard, before)


RULES: Final = {
    "dff_animals_skill": _rule(
        "Pets_Animals",
        "animal horse puppy puppies kitty kitties kitten parrot mouse hamster",
        "pets? cats? dogs? rats?",
        r"fish\b",
    ),
    "dff_art_skill": _rule(
        parts="drawing painting photo", words="art artist painter gallery", said=None
    ),
    "dff_book_skill": _rule(
        "Entertainment_General Entertainment_Books Religion Entertainment Literature",
        "bestseller reading literature",
        "books? read writer novels? poems?",
    ),
    "dff_bot_persona_skill": _rule(
        more=r"you.*favou?rite|what(?: kinds? of | )[a-z ]+ do you (?:like|love|prefer|adore)",
        said=None,
    ),
    "dff_coronavirus_skill": _rule(
        parts="virus infect code_nineteen corona corana corono kroner", words="covid ill", said=None
    ),
    "dff_food_skill": _rule(
        "Food_Drink",
        "food cook baking cuisine daily_bread meals edibles drink pepperoni pizza strawberries"
        " chocolate coffee dinner breakfast burger cheese tasty waffles banana",
        "bake eat ate eating eats pasta fries dairy",
    ),
    "dff_funfact_skill": _rule(
        parts="funfact fun_fact tell_me_something_fun tell_something_interesting"
        " tell_me_something_interesting",
        more="^interesting fact",
    ),
    "dff_gaming_skill": _rule(
        "Entertainment_General Games", words=f"gam(?:e|es|ing) playing {_TITLES}", more=_PLAYS
    ),
    "dff_gossip_skill": _rule(
        said=r"\b(?:celebrit|actor|actress|writer|author|entrepreneur|sportsperson|musician|gossip)"
    ),
    "dff_movie_skill": _rule(
        "Entertainment_Movies Entertainment_General Movies_TV Celebrities Art_Event Entertainment"
        " Fashion",
        "movie film picture series netflix comedy comedies thriller animation anime cartoon drama"
        " fantasy youtube",
        "tv you_tube",
        r"(?:tv|reality|talk)[ -]?show|watch(?:ed|ing)?\b",
    ),
    "dff_music_skill": _rule("Entertainment_Music Music", "music song"),
    "dff_science_skill": _rule(
        "Science_and_Technology Entertainment_Books Literature Math SciTech",
        "science technology innovation breakthroughs sci_tech scitech sci-tech research scientific"
        " scientist genetic dna mutant molecular_biology mutation radiation_syndrome rna"
        " selective_breeding gmo evolution artificial_intelligence ai robot neural_networks"
        " machine_learning deep_learning cyborg cybernetics supercomputer skynet interstellar"
        " space_fly space_travel to_stars to_other_star to_exoplanet teleportation",
    ),
    "dff_sport_skill": _rule(
        "Sports",
        "sport active athlete muscle_person player footballer aquanaut diver jock lifter"
        f" {_CONTESTS}",
        _SPORTS,
        r"\b(?:" + "|".join(_SPORTING).replace("_", " ") + ")",
        said="sport|active",
    ),
    "dff_travel_skill": _rule("Travel_Geo", words="trek", more=_TRAVEL, said=_TRAVEL + _BEEN),
    "dff_user_kg_skill": _rule(parts="hobby hobbies", words="pets?", said=None),
    "dff_weather_skill": _rule("Weather_Time", "weather forecast"),
    "game_cooperative_skill": _rule(
        "Entertainment_General Games", words="gam(?:e|es|ing) playing", more=_PLAYS
    ),
    "news_api_skill": _rule(
        "News",
        "news something_new",
        more=r"what(?: is| ?'s)(?: the)? new",
        said="would you like to hear (?:something new|news) about",
    ),
}


def topical_skills(exchange: Exchange, sensitive: bool) -> Iterator[str]:
    """Yield the skills for the newest utterance's topics; for touchy topics only safe skills."""
    newest = exchange.newest
    topics = set().union(*(labels(newest, topic) for topic in TOPICS))
    for skill, rule in RULES.items():
        if (not sensitive or skill in SENSITIVE) and rule.fits(topics, exchange):
            yield skill
    if _names_celebrity(newest):
        yield "dff_gossip_skill"
    if _wants_weather(exchange):
        yield "dff_weather_skill"
    if exchange.chooses_topic() or (not sensitive and exchange.leaves_topic_open()):
        yield "news_api_skill"
    if sensitive:
        return
    yield from ("dff_wiki_skill", "dff_travel_italy_skill")
    if is_factoid(newest):
        yield "factoid_qa"
    if is_moved(exchange):
        yield "emotion_skill"
    if _names_place(newest):
        yield "dff_travel_skill"
    if _names_film(newest):
        yield "dff_movie_skill"


def linked_skills(dialog: State, exchange: Exchange) -> Iterator[str]:
    """Yield the skills to which the last reply leads over."""
    yield from (skill for skill, question in LINKS.items() if question.search(exchange.said))
    now = len(dialog["human_utterances"])
    links = dialog["human"]["attributes"].get("dff_shared_state", {}).get("cross_links", {})
    by = exchange.last.get("active_skill", "")
    for skill, turns in links.items():
        if any(turns.get(str(now - n), {}).get("from_service", "") == by for n in (1, 2)):
            yield skill


def _wants_weather(exchange: Exchange) -> bool:
    newest = exchange.newest
    wished = "weather_forecast_intent"
    found = detected_intents(newest) | labels(newest, "cobot_dialogact_intents")
    if wished in found | midas_labels(newest):
        return True
    return bool(_OFFERED_WEATHER.search(exchange.said)) and is_yes(newest)


def _wiki_entities(utterance: State, kind: str) -> dict[str, Any]:
    found = utterance["annotations"].get("wiki_parser", {})
    return (found.get(kind) or {}) if isinstance(found, dict) else {}


def _names_celebrity(utterance: State) -> bool:
    return any(
        entity.get("pos") == 0
        and entity.get("conf", 0) > 0.5
        and any(job[0] in FAMOUS for job in entity.get("occupation", ()))
        for entity in _wiki_entities(utterance, "topic_skill_entities_info").values()
    )


def _names_film(utterance: State) -> bool:
    found = utterance["annotations"].get("entity_detection", {}).get("labelled_entities", ())
    return any(one.get("label") == "videoname" for one in found) or any(
        min(entity.get("token_conf", 0), entity.get("conf", 0)) >= 0.5
        and any(
            kind[0] in FILMS
            for key in ("instance of", "types_2hop")
            for kind in entity.get(key, ())
        )
        for entity in _wiki_entities(utterance, "entities_info").values()
    )


def _names_place(utterance: State) -> bool:
    annotations, text = utterance["annotations"], utterance["text"]
    entities = _entities(annotations)
    if "cobot_entities" in annotations and any(
        entity["label"] == "location" for entity in entities
    ):
        return True
    for one in (one for sentence in annotations.get("ner", ()) for one in sentence):
        if one["type"] == "LOC" and one["text"] != "alexa":
            inside = (other for other in entities if one["text"] in other["text"])
            if all(other["label"] == "location" for other in inside):
                return True
    return re.search(r"\bjapan\b", text, re.IGNORECASE) is not None


def _entities(annotations: State) -> list[State]:
    if "entity_detection" in annotations:
        found = annotations["entity_detection"].get("labelled_entities", ())
        return [one for one in found if one["label"] != "anaphor"]
    phrases = annotations.get("spacy_nounphrases")
    if phrases is None:
        words = annotations.get("spacy_annotator", ())
        phrases = [word["text"] for word in words if word.get("pos_") == "NOUN"]
    return [{"text": phrase, "label": "misc"} for phrase in phrases]
