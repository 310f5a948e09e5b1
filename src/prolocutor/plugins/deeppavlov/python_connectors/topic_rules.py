"""Which skills for single topics the rules ask: by classified topics, by words, by annotations.

The labels are those of the topic classifiers that DREAM's annotators run. DREAM's own rules have
long lists of words besides; those here are a few words for each topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import (
    State,
    combined,
    is_factoid,
    labels,
    skills_of,
)

CLASSIFIERS: Final = ("cobot_topics", "cobot_dialogact_topics", "deeppavlov_topics")
SMALL_TALK: Final = frozenset("Phatic Other Interactive".split())
STRONG_EMOTION: Final = 0.8
"""The least likelihood of an emotion, other than a neutral mood, that is answered as one."""


class TopicRule(msgspec.Struct, frozen=True):
    """A skill is asked for each of these topics, and where one of the words is said."""

    topics: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None

    def fits(self, topics: set[str], text: str) -> bool:
        """Return whether the rule holds for the topics and the text in lower case."""
        return bool(self.topics & topics or (self.words and self.words.search(text)))


def _rule(topics: str = "", words: str = "") -> TopicRule:
    pattern = re.compile(rf"\b(?:{words})\b") if words else None
    return TopicRule(frozenset(topics.split()), pattern)


RULES: Final = {
    "dff_animals_skill": _rule("Pets_Animals Animals", "animals?|pets?|dogs?|cats?|puppy|kitten"),
    "dff_art_skill": _rule("Art_Event Art", "art|arts|painting|painter|museum"),
    "dff_book_skill": _rule("Literature Entertainment_Books Books", "books?|novels?|writer"),
    "dff_book_sfc_skill": _rule("Literature Entertainment_Books Books", "books?|novels?|writer"),
    "dff_bot_persona_skill": _rule("", "your favou?rite|do you (?:like|love|enjoy) to"),
    "dff_celebrity_skill": _rule("Celebrities", "celebrity|celebrities|actors?|actress"),
    "dff_coronavirus_skill": _rule("", "coronavirus|covid(?:-?19)?|pandemic|quarantine"),
    "dff_food_skill": _rule("Food_Drink Food", "food|cooking|recipes?|breakfast|lunch|dinner"),
    "dff_funfact_skill": _rule("", "fun facts?|funny facts?|interesting facts?"),
    "dff_gaming_skill": _rule("Games Toys_Games", "video ?games?|gaming|minecraft"),
    "dff_gossip_skill": _rule("Celebrities", "gossip|celebrity|celebrities"),
    "dff_movie_skill": _rule("Movies_TV Entertainment_Movies", "movies?|films?|cinema|tv|series"),
    "dff_music_skill": _rule("Music Entertainment_Music", "music|songs?|singers?|concerts?"),
    "dff_science_skill": _rule(
        "SciTech Science_and_Technology Science Space", "science|scientific|technology|robots?"
    ),
    "dff_short_story_skill": _rule("", "(?:short|tell me a) stor(?:y|ies)"),
    "dff_sport_skill": _rule("Sports", "sports?|football|soccer|basketball|tennis|hockey"),
    "dff_template_skill": _rule(),
    "dff_travel_skill": _rule("Travel_Geo Travel", r"travel\w*|trips?|vacation|journey"),
    "dff_user_kg_skill": TopicRule(words=re.compile(r"\bpet|pets|hobby|hobbies")),
    "dff_weather_skill": _rule("Weather_Time", r"weather|forecast|temperature|rain\w*|snow\w*"),
    "dummy_skill_dialog": _rule(),
    "dff_program_y_dangerous_skill": _rule(),
    "eliza": _rule(),
    "game_cooperative_skill": _rule("Games Toys_Games", "video ?games?|gaming|play (?:a )?games?"),
}
"""Skills that are asked for their topics only; a rule without any says that the skill is asked
where it spoke last, or by name."""
BY_ANNOTATION: Final = frozenset("emotion_skill news_api_skill factoid_qa text_qa".split())
ANY_TOPIC: Final = "dff_wiki_skill"
"""The skill that speaks of any topic but small talk."""


def topical_skills(dialog: State, newest: State) -> Iterator[str]:
    """Return the skills of the pipeline for what the newest utterance is about.

    Where no annotator tells the topics, a skill with topics is asked whatever is said: more calls,
    never fewer answers.
    """
    skills, annotations = skills_of(dialog), newest["annotations"]
    known = _tells_topics(annotations)
    topics = {topic for one in CLASSIFIERS for topic in labels(newest, one)} - SMALL_TALK
    text = newest["text"].lower()
    for skill in skills:
        rule = RULES.get(skill)
        if rule is not None:
            if rule.fits(topics, text) or (rule.topics and not known):
                yield skill
        elif skill == ANY_TOPIC and (topics or not known):
            yield skill
    if is_factoid(newest):
        yield from ("factoid_qa", "text_qa")
    if annotations.get("news_api_annotator"):
        yield "news_api_skill"
    if _is_moved(newest):
        yield "emotion_skill"


def has_rule(skill: str) -> bool:
    """Return whether a skill is asked for its topics, or for what annotators found."""
    return skill in RULES or skill in BY_ANNOTATION or skill == ANY_TOPIC


def _tells_topics(annotations: State) -> bool:
    found = annotations.keys() | combined(annotations).keys()
    return not found.isdisjoint((*CLASSIFIERS, "cobot_dialogact"))


def _is_moved(utterance: State) -> bool:
    annotations = utterance["annotations"]
    found = annotations.get("emotion_classification")
    if not found:
        found = combined(annotations).get("emotion_classification")
    if isinstance(found, dict) and isinstance(found.get("text"), dict):
        found = found["text"]
    if not isinstance(found, dict):
        return False
    likely = max(found, key=lambda emotion: found[emotion], default="neutral")
    return likely != "neutral" and bool(found[likely] > STRONG_EMOTION)
