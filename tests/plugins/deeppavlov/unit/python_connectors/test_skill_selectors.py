"""Which skills DREAM's two selectors ask."""

from typing import Any

import pytest

from prolocutor.plugins.deeppavlov.python_connectors.built_in_connectors import (
    GENERAL,
    SAFE,
    DescriptionBasedSelector,
    RuleBasedSelector,
)
from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment
from prolocutor.plugins.deeppavlov.python_connectors.selection_signs import is_factoid, is_question
from prolocutor.plugins.deeppavlov.python_connectors.topic_rules import RULES
from tests.plugins.deeppavlov.unit.formatters.agent_states import (
    State,
    bot,
    dialog,
    human,
    hypothesis,
)

SKILLS = (
    "dff_tea_prompted_skill dff_cake_prompted_skill dff_google_api_skill factoid_qa"
    " dff_document_qa_llm_skill dff_art_skill"
).split()
BOTH = pytest.mark.parametrize("selector", [DescriptionBasedSelector, RuleBasedSelector])


ON_DEMAND = (
    "personality_catcher dff_intent_responder_skill dff_command_selector_skill misheard_asr eliza"
    " alexa_handler dff_image_skill dff_fromage_image_skill dff_voice_skill dff_friendship_skill"
    " dff_short_story_skill dummy_skill_dialog dff_universal_prompted_skill emotion_skill"
    " dff_wiki_skill dff_travel_italy_skill"
).split()
EVERY = [*SKILLS, *GENERAL, *ON_DEMAND, *SAFE, *RULES]


def select(selector: Any, *said: State, skills: Any = None, **environment: Any) -> set[str]:
    if skills is None:
        skills = EVERY if selector is RuleBasedSelector else SKILLS
    state = dialog(*said)
    state["attributes"]["pipeline"] = ["annotators.ner", "skill_selectors.x"] + [
        f"skills.{skill}" for skill in skills
    ]
    labels = selector(DreamEnvironment(**environment))({"states_batch": [state]})
    assert len(labels) == len(set(labels))
    return set(labels)


def detected(*intents: str) -> State:
    return {intent: {"detected": 1} for intent in intents} | {"no": {"detected": 0}}


@BOTH
@pytest.mark.parametrize("given", ["all", []])
def test_all_skills_are_asked_where_the_request_says_so(selector: Any, given: Any) -> None:
    assert select(selector, human("hi", attributes={"selected_skills": given})) == set()
    assert select(selector, human("hi"), all_skills=True) == set()


@BOTH
@pytest.mark.parametrize("given", ["eliza", ["eliza"]])
def test_the_skills_that_the_request_names_are_asked(selector: Any, given: Any) -> None:
    assert select(selector, human("hi", attributes={"selected_skills": given})) == {"eliza"}


def test_an_important_intent_has_a_skill_of_its_own() -> None:
    leave = human("who are you", intent_catcher=detected("what_is_your_name"))
    answering = {"dummy_skill", "dff_intent_responder_skill"}
    assert select(DescriptionBasedSelector, leave) == answering
    assert select(RuleBasedSelector, leave, skills=[]) >= answering
    assert "dff_grounding_skill" not in select(RuleBasedSelector, leave)


@pytest.mark.parametrize(
    "said",
    [
        [human("bye", intent_catcher=detected("exit"))],
        [
            human("hi"),
            bot("Mars is red", "dialogpt"),
            human("what?", intent_catcher=detected("repeat")),
        ],
        [
            human("hi"),
            bot("What do you do in your free time?"),
            human("i play chess", intent_catcher=detected("cant_do")),
        ],
    ],
)
def test_rules_know_where_an_intent_is_often_mistaken(said: list[State]) -> None:
    assert "dff_grounding_skill" in select(RuleBasedSelector, *said)


def test_an_opinion_on_a_touchy_topic_is_asked_of_safe_skills() -> None:
    asked = human(
        "is he a good president?",
        cobot_topics={"text": ["Politics"]},
        cobot_dialogact={"intents": ["Opinion_RequestIntent"]},
    )
    told = human("he is the president", cobot_topics={"text": ["Politics"]})
    assert "dialogpt" not in select(RuleBasedSelector, asked)
    assert "dff_program_y_dangerous_skill" in select(RuleBasedSelector, asked)
    assert "dialogpt" in select(RuleBasedSelector, told)
    assert "dialogpt" in select(RuleBasedSelector, asked, sensitive_restricted=False)


def test_a_skill_with_words_of_its_own_is_asked_where_they_are_said() -> None:
    skills = ["dff_user_kg_skill"]
    assert skills[0] in select(RuleBasedSelector, human("my hobbies are odd"), skills=skills)
    assert skills[0] not in select(RuleBasedSelector, human("hi"), skills=skills)


MOVIES = {"combined_classification": {"cobot_dialogact_topics": {"Entertainment_Movies": 0.9}}}
ACTOR = {"occupation": [["Q33999", "actor"]], "pos": 0, "conf": 0.9}
FILM = {"instance of": [["Q11424", "film"]], "token_conf": 0.9, "conf": 0.9}
ALWAYS = {*GENERAL, "dff_friendship_skill", "dff_wiki_skill", "dff_travel_italy_skill"}
ALWAYS |= {"dff_universal_prompted_skill"}


@pytest.mark.parametrize(
    ("newest", "skills"),
    [
        (human("hm", **MOVIES), {"dff_movie_skill"}),
        (human("my dog is old"), {"dff_animals_skill"}),
        (human("hm"), set()),
        (human("hm", emotion_classification={"joy": 0.9, "neutral": 0.1}), {"emotion_skill"}),
        (human("hm", emotion_classification={"joy": 0.7, "neutral": 0.3}), set()),
        (human("i feel so sad"), {"emotion_skill"}),
        (human("that is not good"), {"emotion_skill"}),
        (human("hm", news_api_annotator=[{"entity": "Rome"}]), set()),
        (human("let's talk about rice"), {"news_api_skill"}),
        (human("let's not talk about rice"), set()),
        (human("let's talk about something else"), {"news_api_skill"}),
        (human("hm", factoid_classification={"is_factoid": 0.9}), {"factoid_qa"}),
        (
            human("hm", wiki_parser={"topic_skill_entities_info": {"x": ACTOR}}),
            {"dff_gossip_skill"},
        ),
        (human("hm", wiki_parser={"entities_info": {"x": FILM}}), {"dff_movie_skill"}),
        (human("hm", ner=[[{"text": "rhodes", "type": "LOC"}]]), {"dff_travel_skill"}),
        (human("hm", ner=[[{"text": "rhodes", "type": "PER"}]]), set()),
        (human("hm", intent_catcher=detected("tell_me_a_story")), {"dff_short_story_skill"}),
    ],
)
def test_a_skill_for_one_topic_is_asked_where_it_is_the_topic(
    newest: State, skills: set[str]
) -> None:
    assert select(RuleBasedSelector, newest) - ALWAYS == skills


@pytest.mark.parametrize(
    ("said", "newest", "skill"),
    [
        (bot("Would you like to hear the latest news?"), human("hm"), "news_api_skill"),
        (bot("How are you?"), human("hm"), "emotion_skill"),
        (bot("Have you ever been to Rhodes?"), human("hm"), "dff_travel_skill"),
        (bot("What are your hobbies?"), human("rice"), "news_api_skill"),
        (bot("Hm", "dummy_skill"), human("hm"), None),
        (bot("Would you like to know the weather?"), human("yes"), "dff_weather_skill"),
        (bot("Hm"), human("hm", rake_keywords=["a", "b", "c"]), "dff_short_story_skill"),
        (bot("Hm", "eliza"), human("hm", rake_keywords=["a"]), None),
    ],
)
def test_a_skill_is_asked_where_the_last_reply_led_over_to_it(
    said: State, newest: State, skill: str | None
) -> None:
    asked = select(RuleBasedSelector, human("hm", rake_keywords=["d", "e"]), said, newest)
    assert asked - ALWAYS == ({skill} if skill else set())


def test_a_skill_is_asked_to_which_the_one_that_spoke_links() -> None:
    state = dialog(human("hm"), bot("Hm", "dff_food_skill"), human("hm"))
    links = {"eliza": {"1": {"from_service": "dff_food_skill"}}}
    state["human"]["attributes"]["dff_shared_state"] = {"cross_links": links}
    state["attributes"]["pipeline"] = ["skills.eliza"]
    assert RuleBasedSelector(DreamEnvironment())({"states_batch": [state]}) == ["eliza"]


def test_skills_that_make_things_up_are_not_asked_about_the_coronavirus() -> None:
    asked = select(RuleBasedSelector, human("is the virus gone"))
    assert "dff_coronavirus_skill" in asked
    assert not asked & {"convert_reddit", "comet_dialog_skill"}


@pytest.mark.parametrize("found", [None, [], "x", {"combined_classification": []}])
def test_annotations_of_another_form_say_nothing(found: Any) -> None:
    annotations = found if isinstance(found, dict) else {"emotion_classification": found}
    assert select(RuleBasedSelector, human("hm", **annotations)) == ALWAYS


def test_rules_name_skills_of_the_pipeline_and_others_only_where_it_has_none_of_them() -> None:
    assert select(RuleBasedSelector, human("hi"), skills=["dummy_skill"]) == {"dummy_skill"}
    assert "personality_catcher" in select(
        RuleBasedSelector, human("/new_persona x"), skills=["dummy_skill"]
    )


@BOTH
def test_the_switch_makes_important_intents_like_others(selector: Any) -> None:
    leave = human("bye", intent_catcher=detected("exit"))
    assert "dff_intent_responder_skill" not in select(selector, leave, high_priority_intents=False)


@BOTH
def test_a_command_goes_to_the_skill_for_commands(selector: Any) -> None:
    move = human("go", intent_catcher=detected("move_forward"))
    assert select(selector, move) >= {"dummy_skill", "dff_command_selector_skill"}
    assert "dff_art_skill" not in select(selector, move)


def test_the_id_of_a_dialog_is_left_to_the_dummy_skill() -> None:
    assert select(DescriptionBasedSelector, human("/get_dialog_id")) == {"dummy_skill"}


def test_all_prompted_skills_are_asked_where_no_prompt_was_selected() -> None:
    assert select(DescriptionBasedSelector, human("hi")) == {
        "dummy_skill",
        "dff_tea_prompted_skill",
        "dff_cake_prompted_skill",
        "dff_art_skill",
    }


def test_prompted_skills_are_asked_by_the_selected_prompts() -> None:
    asked = select(
        DescriptionBasedSelector, human("hi", prompt_selector={"prompts": ["tea", "missing"]})
    )
    assert asked == {"dummy_skill", "dff_tea_prompted_skill", "dff_art_skill"}


def test_questions_go_to_skills_that_search() -> None:
    fact = {"is_factoid": 0.8, "is_conversational": 0.2}
    asked = select(DescriptionBasedSelector, human("What is tea", factoid_classification=fact))
    assert asked >= {"dff_google_api_skill", "factoid_qa"}


def test_documents_go_to_the_skill_that_reads_them() -> None:
    state = dialog(human("hi"))
    state["attributes"]["pipeline"] = [f"skills.{skill}" for skill in SKILLS]
    state["bot"]["attributes"]["db_link"] = ["http://x"]
    labels = DescriptionBasedSelector(DreamEnvironment())({"states_batch": [state]})
    assert "dff_document_qa_llm_skill" in labels


@BOTH
@pytest.mark.parametrize(("offer", "asked"), [("must", True), ("no", False), (None, False)])
def test_the_previous_skill_is_asked_if_it_offers_to_go_on(
    selector: Any, offer: str | None, asked: bool
) -> None:
    given = [hypothesis("eliza", "Hi", can_continue=offer)]
    said = human("hi", hypotheses=given), bot("Hi", skill="eliza"), human("ok")
    assert ("eliza" in select(selector, *said)) is asked


def test_the_universal_prompted_skill_is_asked_where_there_is_one() -> None:
    universal = "dff_universal_prompted_skill"
    assert universal in select(DescriptionBasedSelector, human("hi"), skills=[universal])
    assert universal not in select(DescriptionBasedSelector, human("hi"))


@pytest.mark.parametrize("task", [{}, {"states_batch": [{}]}])
def test_an_unreadable_dialog_is_answered_by_skills_that_always_answer(task: State) -> None:
    environment = DreamEnvironment()
    assert DescriptionBasedSelector(environment)(task) == ["dummy_skill"]
    assert RuleBasedSelector(environment)(task) == ["dff_program_y_skill", "dummy_skill"]


def test_rules_ask_general_skills_and_none_that_they_do_not_know() -> None:
    assert select(RuleBasedSelector, human("hi"), skills=[*EVERY, "my_skill"]) == ALWAYS


@pytest.mark.parametrize(
    ("newest", "skill"),
    [
        (human("/new_persona I am tall"), "personality_catcher"),
        (human("/get_dialog_id"), "dummy_skill"),
        (human("hi", attributes={"image": "http://x"}), "dff_image_skill"),
        (human("hi", attributes={"image": "http://x"}), "dff_fromage_image_skill"),
        (human("hi", attributes={"sound_path": "x.ogg"}), "dff_voice_skill"),
        (human("hi", prompt_selector={"prompts": ["tea"]}), "dff_tea_prompted_skill"),
        (human("topic", intent_catcher=detected("choose_topic")), "dff_intent_responder_skill"),
    ],
)
def test_rules_ask_a_skill_that_the_utterance_calls_for(newest: State, skill: str) -> None:
    assert skill in select(RuleBasedSelector, newest)
    assert skill == "dummy_skill" or skill not in select(RuleBasedSelector, human("hi"))


def test_what_was_hardly_understood_is_asked_again() -> None:
    unclear = human("mm", asr={"asr_confidence": "very_low"})
    assert select(RuleBasedSelector, human("hi"), bot("Hi"), unclear) - ALWAYS == {"misheard_asr"}
    assert "misheard_asr" not in select(RuleBasedSelector, unclear)


def test_a_command_of_an_alexa_device_goes_to_its_handler() -> None:
    assert select(RuleBasedSelector, human("/alexa_stop")) - ALWAYS == {"alexa_handler"}


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("tea?", True),
        ("I like tea. what is it", True),
        ("But who are you", True),
        ("can you sing", True),
        ("Tell me a story", True),
        ("can be", False),
        ("whatever you say", False),
        ("I know what", False),
        ("", False),
    ],
)
def test_a_question_is_known_by_its_mark_or_its_first_words(text: str, question: bool) -> None:
    assert is_question(human(text)) is question


@pytest.mark.parametrize(
    ("annotations", "factoid"),
    [
        ({}, False),
        ({"factoid_classification": {"is_factoid": 0.5, "is_conversational": 0.5}}, True),
        ({"factoid_classification": {"is_factoid": 0.4, "is_conversational": 0.3}}, False),
        (
            {"combined_classification": {"factoid_classification": {"is_factoid": 0.9}}},
            True,
        ),
    ],
)
def test_a_factoid_is_as_likely_as_not(annotations: State, factoid: bool) -> None:
    assert is_factoid(human("hi", **annotations)) is factoid
