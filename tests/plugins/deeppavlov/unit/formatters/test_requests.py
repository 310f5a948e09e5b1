"""What each formatter asks about one small dialog, written down from DREAM's contract."""

from typing import Any

import pytest

from prolocutor.plugins.deeppavlov.dream import RequestFormatter
from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import EarlierDialog
from prolocutor.plugins.deeppavlov.formatters.formatter_catalog import FORMATTERS
from tests.plugins.deeppavlov.unit.formatters.agent_states import (
    State,
    bot,
    dialog,
    human,
    hypothesis,
)

LINKED = {
    "entity_substr": "Paris",
    "entity_ids": ["Q1", "Q2", "Q3", "Q4", "Q5", "Q6"],
    "confidences": [0.6, 0.5, 0.4, 0.3, 0.2, 0.1],
    "tokens_match_conf": [1, 1, 1, 1, 1, 0],
    "entity_pages": ["Paris"],
    "pages_titles": ["Paris (city)"],
    "first_paragraphs": ["A city."],
    "entity_tags": ["loc"],
}
H1 = human(
    "i am ann",
    hypotheses=[
        hypothesis("eliza", "Hi Ann", prompts_goals={"tea": "drink"}),
        hypothesis("dummy_skill", "Oh", prompts_goals={"cake": "eat"}),
    ],
    spelling_preprocessing="I am Ann",
    speech_function_classifier=["Open"],
    intent_catcher={"hello": {"detected": 1}},
)
B1 = bot(
    "hi ann tea",
    skill="eliza",
    learned={"summarized_dialog": "so far"},
    sentseg={"punct_sent": "Hi, Ann. Tea?", "segments": ["Hi, Ann.", "Tea?"]},
    bot_emotion_classifier={"bot_mood_label": "glad", "bot_emotion": "joy"},
    speech_function_classifier=["React", "Ask"],
    entity_detection={"labelled_entities": [{"text": "Ann", "label": "PERSON"}]},
    property_extraction={"triplets": []},
    ner=[["Ann"]],
    entity_linking=[{"entity_substr": "Ann"}],
)
H2 = human(
    "yes pariss",
    hypotheses=[
        hypothesis("eliza", "Tea it is", annotations={"speech_function_classifier": ["Reply"]}),
        hypothesis("dummy_skill", "Oh"),
    ],
    attributes={
        "image": "http://files/x.jpg",
        "speech": {"s": 1},
        "sound_path": "a.ogg",
        "video_path": "v.mp4",
    },
    spelling_preprocessing="yes paris",
    sentseg={"punct_sent": "Yes, Pariss.", "segments": ["Yes,", "Pariss."]},
    sentrewrite={"modified_sents": ["I am Ann", "Tea?", "Yes, tea in Paris."]},
    spacy_annotator=[{"text": "yes", "pos_": "X"}, {"text": "paris", "pos_": "NOUN"}],
    entity_detection={
        "labelled_entities": [
            {"text": "Paris", "label": "LOC", "finegrained_label": [["City", 0.9]]},
            {"text": "it", "label": "anaphor"},
            {"text": "Alexa", "label": "MISC"},
        ]
    },
    entity_linking=[LINKED, {"entity_substr": "yes"}],
    ner=[["Paris"]],
    property_extraction={"triplets": [1]},
    midas_classification=[{"yes": 0.6, "no": 0.1}, {"statement": 0.8}],
    speech_function_classifier=["Agree"],
    intent_catcher={"hello": {"detected": 0}, "yes": {"detected": 1}},
    cobot_topics={"text": ["Travel"]},
)
ATTRIBUTES = {
    "entities": {"tea": 1},
    "prompts_goals": {"old": "goal"},
    "used_links": {"tea": [1]},
    "game_cooperative_skill": {"g": 1},
    "age_group": "adult",
    "disliked_skills": [],
    "dff_wiki_skill_state": {"w": 1},
}
DIALOG = dialog(H1, B1, H2, attributes=ATTRIBUTES, persona={"name": "Dee"})
FIRST = dialog(human("hi"))

CROPPED_ATTRIBUTES = {key: value for key, value in ATTRIBUTES.items() if key != "entities"}
HUMAN = {"id": "ann", "user_type": "human", "attributes": CROPPED_ATTRIBUTES}
H1_TEXT, B1_TEXT, H2_TEXT = "i am ann", "hi ann tea", "yes pariss"
B1_PUNCTUATED, H2_PUNCTUATED = "Hi, Ann. Tea?", "Yes, Pariss."
CITY = [[["city", 0.9]]]
PERSON = [[["person", 1.0]]]


def retold(utterance: State, text: Any) -> State:
    return {**utterance, "text": text, "orig_text": utterance["text"]}


def shown(b1: Any, h2: Any, h1: Any = H1_TEXT) -> State:
    heard = [retold(H1, h1), retold(H2, h2)]
    return {
        **DIALOG,
        "utterances": [heard[0], retold(B1, b1), heard[1]],
        "human_utterances": heard,
        "bot_utterances": [B1],
        "human": HUMAN,
    }


PUNCTUATED = shown(B1_PUNCTUATED, H2_PUNCTUATED)
REWRITTEN = shown(B1_PUNCTUATED, "Yes, tea in Paris.")
PLAIN = {**DIALOG, "human": HUMAN}


def cut(utterance: State, *keys: str) -> State:
    return {key: utterance[key] for key in keys if key in utterance}


SCRIPT_KEYS = ("text", "annotations", "active_skill", "user")
STORED = {
    "human_utterances": [
        cut(human_utterance, *SCRIPT_KEYS) for human_utterance in PUNCTUATED["human_utterances"]
    ],
    "bot_utterances": [cut(B1, *SCRIPT_KEYS)],
}
SEGMENTED = [["i am ann"], ["Hi, Ann.", "Tea?"], ["Yes,", "Pariss."]]


def script(name: str, shown: State, state: Any = None) -> list[Any]:
    return [
        {
            "human_utter_index_batch": [1],
            "dialog_batch": [shown],
            f"{name}_state_batch": [state or {}],
            "dff_shared_state_batch": [{"cross_states": {}, "cross_links": {}}],
            "entities_batch": [{"tea": 1}],
            "used_links_batch": [{"tea": [1]}],
            "age_group_batch": ["adult"],
            "disliked_skills_batch": [[]],
            "prompts_goals_batch": [{"old": "goal"}],
            "clarification_request_flag_batch": [False],
            "dialog_id_batch": ["d"],
        }
    ]


REQUESTS: dict[str, list[Any]] = {
    "full_dialog": [{"dialogs": [DIALOG]}],
    "cropped_dialog": [{"dialogs": [PUNCTUATED]}],
    "utt_sentseg_punct_dialog": [{"dialogs": [PUNCTUATED]}],
    "utt_non_punct_dialog": [{"dialogs": [PLAIN]}],
    "utt_sentrewrite_modified_last_dialog": [
        {"dialogs": [REWRITTEN], "all_prev_active_skills": [["eliza"]]}
    ],
    "utt_sentrewrite_modified_last_dialog_emotion_skill": [{"dialogs": [REWRITTEN]}],
    "full_history_dialog": [{"dialogs": [PUNCTUATED], "all_prev_active_skills": [["eliza"]]}],
    "base_skill_selector_formatter_dialog": [{"states_batch": [PUNCTUATED]}],
    "game_cooperative_skill_formatter": [
        {
            "dialogs": [
                {
                    **PUNCTUATED,
                    "human": {
                        **HUMAN,
                        "attributes": {
                            "game_cooperative_skill": {"g": 1},
                            "used_links": {"tea": [1]},
                        },
                    },
                }
            ]
        }
    ],
    "entity_storer_formatter": [
        {
            "human_utter_indexes": [1],
            "dialogs": [{**STORED, "human": {"attributes": {"entities": {"tea": 1}}}}],
        }
    ],
    "last_utt_dialog": [{"sentences": [H2_TEXT]}],
    "preproc_last_human_utt_dialog": [{"sentences": ["yes paris"]}],
    "preproc_last_human_utt_dialog_w_hist": [
        {
            "sentences": ["yes paris"],
            "sentences_with_history": ["I am Ann [SEP] hi ann tea [SEP] yes paris"],
        }
    ],
    "preproc_and_tokenized_last_human_utt_dialog": [
        {"sentences": ["yes paris"], "tokenized_sentences": [["yes", "paris"]]}
    ],
    "last_utt_sentseg_segments_dialog": [{"sentences": [["Yes,", "Pariss."]]}],
    "ner_formatter_dialog": [{"last_utterances": [["Yes,", "Pariss."]]}],
    "last_utt_and_history_dialog": [
        {
            "sentences": ["yes paris"],
            "utterances_histories": [[H1_TEXT, B1_PUNCTUATED, H2_PUNCTUATED]],
        }
    ],
    "last_human_annotated_utterance": [{"last_human_annotated_utterance": [H2]}],
    "last_human_bot_annotated_utterance": [
        {"last_human_utterances": [H2], "bot_utterances": [B1], "dialog_ids": ["d"]}
    ],
    "last_human_utt_nounphrases": [{"nounphrases": [["Paris", "Alexa"]]}],
    "entity_detection_formatter_dialog": [{"sentences": [[B1_PUNCTUATED, H2_PUNCTUATED]]}],
    "el_formatter_dialog": [
        {
            "entity_substr": [["Paris"]],
            "entity_tags": [CITY],
            "contexts": [[B1_PUNCTUATED, H2_PUNCTUATED]],
        }
    ],
    "custom_el_formatter_dialog": [
        {
            "entity_substr": [["Paris"]],
            "entity_tags": [CITY],
            "contexts": [[B1_PUNCTUATED, H2_PUNCTUATED]],
            "user_id": ["ann"],
            "property_extraction": [{"triplets": [1]}],
        }
    ],
    "wp_formatter_dialog": [
        {
            "parser_info": ["find_top_triplets"],
            "query": [
                [
                    {
                        "entity_substr": "Paris",
                        "entity_ids": ["Q1", "Q2", "Q3", "Q4", "Q5"],
                        "confidences": [0.6, 0.5, 0.4, 0.3, 0.2],
                        "tokens_match_conf": [1, 1, 1, 1, 1],
                    }
                ]
            ],
            "utt_num": 2,
        }
    ],
    "kbqa_formatter_dialog": [
        {"x_init": ["Yes,", "Pariss."], "entities": [["Paris"]], "entity_tags": [CITY]}
    ],
    "fact_random_formatter_dialog": [{"text": H2_PUNCTUATED, "entities": ["Paris"]}],
    "fact_retrieval_formatter_dialog": [
        {
            "human_sentences": [H2_PUNCTUATED],
            "dialog_history": ["i am ann Hi, Ann. Tea? Yes, Pariss."],
            "nounphrases": [["Paris", "Alexa"]],
            "entity_substr": [["Paris"]],
            "entity_pages": [[["A city."]]],
            "entity_ids": [[LINKED["entity_ids"]]],
            "entity_pages_titles": [[["Paris (city)"]]],
        }
    ],
    "fact_retrieval_rus_formatter_dialog": [
        {
            "dialog_history": [["Hi, Ann. Tea? Yes, Pariss."]],
            "entity_substr": [["Paris"]],
            "entity_tags": [[["loc"]]],
            "entity_pages": [[["Paris"]]],
        }
    ],
    "property_extraction_formatter_dialog": [
        {
            "utterances": [[B1_PUNCTUATED, H2_PUNCTUATED]],
            "entities_with_labels": [
                [
                    {"text": "Paris", "label": "LOC", "finegrained_label": [["City", 0.9]]},
                    {"text": "Alexa", "label": "MISC"},
                ]
            ],
            "named_entities": [[["Paris"]]],
            "entity_info": [[LINKED, {"entity_substr": "yes"}]],
        }
    ],
    "midas_predictor_formatter": [{"last_midas_labels": ["statement"], "return_probas": 1}],
    "speech_function_formatter": [
        {"phrases": [H2_TEXT], "prev_phrases": [B1_TEXT], "prev_speech_functions": ["Ask"]}
    ],
    "speech_function_predictor_formatter": [{"funcs": [["Agree"]]}],
    "personality_catcher_formatter_dialog": [{"personality": [H2_TEXT]}],
    "emotion_detection_formatter": [{"personality": [H2_TEXT], "video_path": ["v.mp4"]}],
    "voice_formatter_service": [
        {
            "sound_paths": ["a.ogg"],
            "sound_durations": [None],
            "sound_types": [None],
            "video_paths": ["v.mp4"],
            "video_durations": [None],
            "video_types": [None],
        }
    ],
    "asr_formatter_dialog": [{"speeches": [{"s": 1}], "human_utterances": [[H1, H2]]}],
    "user_emotion_bot_mood_formatter": [
        {"sentences": [H2_TEXT], "annotated_utterances": [H2], "bot_mood": [[0.75, 0.25, 0.44]]}
    ],
    "last_bot_utt_dialog": [{"sentences": [B1_TEXT]}],
    "ner_formatter_last_bot_dialog": [{"last_utterances": [["Hi, Ann.", "Tea?"]]}],
    "sent_rewrite_formatter_w_o_last_dialog": [
        {
            "utterances_histories": [SEGMENTED[:2]],
            "annotation_histories": [[H1["annotations"], B1["annotations"]]],
        }
    ],
    "entity_detection_formatter_last_bot_dialog": [{"sentences": [[B1_TEXT]]}],
    "el_formatter_last_bot_dialog": [
        {"entity_substr": [["Ann"]], "entity_tags": [PERSON], "contexts": [[B1_TEXT]]}
    ],
    "custom_el_formatter_last_bot_dialog": [
        {
            "entity_substr": [["Ann"]],
            "entity_tags": [PERSON],
            "contexts": [[B1_TEXT]],
            "user_id": ["assistant"],
            "property_extraction": [{"triplets": []}],
        }
    ],
    "property_extraction_formatter_last_bot_dialog": [
        {
            "utterances": [[B1_TEXT]],
            "entities_with_labels": [[{"text": "Ann", "label": "PERSON"}]],
            "named_entities": [[["Ann"]]],
            "entity_info": [[{"entity_substr": "Ann"}]],
        }
    ],
    "bot_knowledge_memorizer_formatter_last_bot_dialog": [
        {"utterances": [B1], "human_utterances": [H2]}
    ],
    "speech_function_bot_formatter": [
        {"phrases": [B1_TEXT], "prev_phrases": [H1_TEXT], "prev_speech_functions": [["Open"]]}
    ],
    "hypotheses_list": [{"sentences": ["Tea it is", "Oh"]}],
    "hypotheses_list_last_uttr": [
        {"sentences": ["Tea it is", "Oh"], "last_human_utterances": [H2_TEXT, H2_TEXT]}
    ],
    "hypothesis_histories_list": [
        {
            "utterances_with_histories": [
                ["i am ann", "Hi, Ann. Tea?", "Yes, Pariss.", "Tea it is"],
                ["i am ann", "Hi, Ann. Tea?", "Yes, Pariss.", "Oh"],
            ]
        }
    ],
    "sentence_ranker_formatter": [{"sentence_pairs": [[H2_TEXT, "Tea it is"], [H2_TEXT, "Oh"]]}],
    "hypotheses_with_context_list": [
        {"dialog_contexts": [H2_TEXT, H2_TEXT], "hypotheses": ["Tea it is", "Oh"]}
    ],
    "convers_evaluator_annotator_formatter": [
        {
            "hypotheses": ["Tea it is", "Oh"],
            "currentUtterance": H2_TEXT,
            "pastUtterances": [H1_TEXT],
            "pastResponses": [B1_TEXT],
        }
    ],
    "speech_function_hypotheses_formatter": [
        {
            "phrases": ["Tea it is", "Oh"],
            "prev_phrases": [H2_TEXT, H2_TEXT],
            "prev_speech_functions": [["Agree"], ["Agree"]],
        }
    ],
    "speech_function_hypotheses_predictor_formatter": [["Reply"], [""]],
    "bot_mood_emotion_formatter": [
        {
            "sentences": ["Tea it is", "Oh"],
            "bot_mood_labels": ["glad", "glad"],
            "bot_emotions": ["joy", "joy"],
        }
    ],
    "context_formatter_dialog": [
        {
            "contexts": [[H1_TEXT, B1_PUNCTUATED, H2_PUNCTUATED]],
            "prompts_goals": [{"old": "goal"}],
        }
    ],
    "prompts_goals_collector_formatter": [
        {"prompts_goals": [{"tea": "drink", "cake": "eat"}], "human_attributes": [ATTRIBUTES]}
    ],
    "summarization_annotator_formatter": [
        {"dialogs": [[H1_TEXT, B1_TEXT, H2_TEXT]], "previous_summaries": ["so far"]}
    ],
    "topic_recommendation_formatter": [
        {"active_skills": [["eliza"]], "cobot_topics": [["Travel"]]}
    ],
    "convert_formatter_dialog": [
        {
            "utterances_histories": [[H1_TEXT, B1_TEXT, H2_TEXT]],
            "personality": [{"name": "Dee"}],
            "num_ongoing_utt": [0],
            "human_attributes": [CROPPED_ATTRIBUTES],
        }
    ],
    "eliza_formatter_dialog": [
        {"last_utterance_batch": ["yes paris"], "human_utterance_history_batch": [["I am Ann"]]}
    ],
    "persona_bot_formatter": [
        {
            "utterances_histories": [[H1_TEXT, B1_PUNCTUATED, H2_PUNCTUATED]],
            "last_annotated_utterances": [retold(H2, H2_PUNCTUATED)],
        }
    ],
    "sent_rewrite_formatter_dialog": [
        {
            "utterances_histories": [SEGMENTED],
            "annotation_histories": [[H1["annotations"], B1["annotations"], H2["annotations"]]],
        }
    ],
    "fromage_formatter": [{"sentences": [H2_TEXT], "image_paths": ["http://files/x.jpg"]}],
    "dff_prompted_skill_formatter": script(
        "None",
        {
            name: [cut(one, *SCRIPT_KEYS, "attributes") for one in PUNCTUATED[name]]
            for name in ("utterances", "human_utterances", "bot_utterances")
        },
    ),
    "dff_wiki_skill_formatter": script(
        "dff_wiki_skill",
        {
            "human_utterances": [
                {**STORED["human_utterances"][0], "annotations": {}},
                {
                    **STORED["human_utterances"][1],
                    "annotations": {
                        "entity_linking": [LINKED, {"entity_substr": "yes"}],
                        "cobot_topics": {"text": ["Travel"]},
                    },
                },
            ],
            "bot_utterances": [
                {
                    **STORED["bot_utterances"][0],
                    "annotations": {"entity_linking": [{"entity_substr": "Ann"}]},
                }
            ],
        },
        {"w": 1},
    ),
    "dff_voice_skill_formatter": script(
        "dff_voice_skill",
        {
            name: [cut(one, "text", "annotations") for one in STORED[name]]
            for name in ("human_utterances", "bot_utterances")
        },
    ),
    **{
        f"{name}_formatter": script(
            name,
            {**STORED, "called_intents": {"hello": True, "yes": False}, "dialog_id": "d"},
        )
        for name in ("dff_intent_responder_skill", "dff_command_selector_skill")
    },
    **{
        f"dff_{name}_skill_formatter": script(f"dff_{name}_skill", STORED)
        for name in (
            "animals art book book_sfc bot_persona coronavirus food friendship fromage_image"
            " funfact gaming generative gossip grounding movie music program_y"
            " program_y_dangerous program_y_wide science short_story sport template travel"
            " travel_italy user_kg weather"
        ).split()
    },
}


def test_the_table_has_every_formatter() -> None:
    assert REQUESTS.keys() == FORMATTERS.keys()
    assert len(FORMATTERS) == 96


@pytest.mark.parametrize("name", sorted(FORMATTERS))
def test_a_formatter_asks_what_the_contract_says(name: str) -> None:
    assert FORMATTERS[name].format(DIALOG) == REQUESTS[name]


FIRST_TURN: dict[str, Any] = {
    "preproc_last_human_utt_dialog_w_hist": {
        "sentences": ["hi"],
        "sentences_with_history": ["hi"],
    },
    "preproc_and_tokenized_last_human_utt_dialog": {"sentences": ["hi"]},
    "last_human_utt_nounphrases": {"nounphrases": [[]]},
    "wp_formatter_dialog": {"parser_info": ["find_top_triplets"], "query": [[{}]], "utt_num": 1},
    "kbqa_formatter_dialog": {"x_init": ["hi"], "entities": [[]], "entity_tags": [[]]},
    "property_extraction_formatter_dialog": {
        "utterances": [["hi"]],
        "entities_with_labels": [[]],
        "named_entities": [[{}]],
        "entity_info": [[{}]],
    },
    "speech_function_formatter": {
        "phrases": ["hi"],
        "prev_phrases": [""],
        "prev_speech_functions": [""],
    },
    "last_bot_utt_dialog": {"sentences": [""]},
    "ner_formatter_last_bot_dialog": {"last_utterances": [[""]]},
    "sent_rewrite_formatter_w_o_last_dialog": {
        "utterances_histories": [[]],
        "annotation_histories": [[]],
    },
    "entity_detection_formatter_last_bot_dialog": {"sentences": [[""]]},
    "custom_el_formatter_last_bot_dialog": {
        "entity_substr": [[""]],
        "entity_tags": [[""]],
        "contexts": [[""]],
        "user_id": [""],
        "property_extraction": [{}],
    },
    "property_extraction_formatter_last_bot_dialog": {
        "utterances": [[""]],
        "entities_with_labels": [[]],
        "named_entities": [[{}]],
        "entity_info": [[{}]],
    },
    "speech_function_bot_formatter": {
        "phrases": [""],
        "prev_phrases": [""],
        "prev_speech_functions": [""],
    },
    "last_human_bot_annotated_utterance": {
        "last_human_utterances": FIRST["utterances"],
        "bot_utterances": [{}],
        "dialog_ids": ["d"],
    },
    "hypothesis_histories_list": {"utterances_with_histories": []},
    "bot_mood_emotion_formatter": {"sentences": [], "bot_mood_labels": [], "bot_emotions": []},
    "prompts_goals_collector_formatter": {"prompts_goals": [{}], "human_attributes": [{}]},
    "summarization_annotator_formatter": {"dialogs": [["hi"]], "previous_summaries": [""]},
    "fromage_formatter": {"sentences": ["hi"], "image_paths": [None]},
}


@pytest.mark.parametrize("name", sorted(FIRST_TURN))
def test_a_formatter_fills_in_what_a_first_turn_lacks(name: str) -> None:
    assert FORMATTERS[name].format(FIRST) == [FIRST_TURN[name]]


def test_without_dialog_acts_none_is_guessed() -> None:
    with pytest.raises(ValueError, match="midas_classification"):
        FORMATTERS["midas_predictor_formatter"].format(FIRST)


def test_dialog_acts_may_be_part_of_a_combined_annotation() -> None:
    acts = {"midas_classification": {"yes": 0.3, "no": 0.7}}
    state = dialog(human("no", combined_classification=acts))
    [request] = FORMATTERS["midas_predictor_formatter"].format(state)
    assert request["last_midas_labels"] == ["no"]


def test_nouns_stand_in_for_entities() -> None:
    state = dialog(human("tea", spacy_nounphrases=["green tea"]))
    [request] = FORMATTERS["el_formatter_dialog"].format(state)
    assert request["entity_substr"] == [["green tea"]]
    assert request["entity_tags"] == [[[["misc", 1.0]]]]


def test_linked_entities_may_lack_what_is_known_of_others() -> None:
    found = [{"entity_substr": "Paris", "pages_titles": ["Paris"], "entity_pages": ["Paris"]}]
    state = dialog(human("paris", entity_linking=found))
    [facts] = FORMATTERS["fact_retrieval_formatter_dialog"].format(state)
    [russian] = FORMATTERS["fact_retrieval_rus_formatter_dialog"].format(state)
    assert facts["entity_substr"] == [["Paris"]]
    assert facts["entity_pages"] == [[[]]]
    assert russian["entity_substr"] == [["Paris"]]
    assert russian["entity_tags"] == [[[]]]


def test_a_persona_that_was_never_set_is_an_empty_object() -> None:
    state = dialog(human("hi"))
    state["human"]["persona"] = state["bot"]["persona"] = []
    request = RequestFormatter(FORMATTERS["convert_formatter_dialog"])(state)
    assert request["personality"] == [{}]


def test_a_prompted_skill_is_asked_by_its_own_name() -> None:
    [request] = FORMATTERS["dff_prompted_skill_formatter"].format(DIALOG, skill_name="tea")
    assert "tea_state_batch" in request


def test_counts_and_skills_before_the_window_are_added() -> None:
    earlier = EarlierDialog(utterances=4, human_utterances=2, active_skills=("dff_tea", "", "x"))
    asked = {
        name: FORMATTERS[name].format(DIALOG, earlier)[0]
        for name in ("dff_art_skill_formatter", "wp_formatter_dialog", "entity_storer_formatter")
    }
    assert asked["dff_art_skill_formatter"]["human_utter_index_batch"] == [3]
    assert asked["wp_formatter_dialog"]["utt_num"] == 4
    assert asked["entity_storer_formatter"]["human_utter_indexes"] == [3]
    [rewritten] = FORMATTERS["utt_sentrewrite_modified_last_dialog"].format(DIALOG, earlier)
    assert rewritten["all_prev_active_skills"] == [["dff_tea", "x", "eliza"]]


@pytest.mark.parametrize(
    ("skills", "expected"),
    [(["eliza"], ["eliza"]), (["dff_tea", "eliza"], ["dff_tea", "eliza"])],
)
def test_no_skill_of_the_window_is_counted_twice(skills: list[str], expected: list[str]) -> None:
    formatter = RequestFormatter(FORMATTERS["utt_sentrewrite_modified_last_dialog"])

    request = formatter({**DIALOG, "active_skills": skills})

    assert request["all_prev_active_skills"] == [expected]


AGAIN = human("what", intent_catcher={"repeat": {"detected": 1}})


@pytest.mark.parametrize(
    ("heard", "spoke", "flag"),
    [
        ([AGAIN, human("ok")], 0, True),
        ([AGAIN, AGAIN], 0, False),
        ([human("no"), human("ok")], 0, False),
        ([AGAIN, human("ok")], 1, False),
        ([AGAIN, human("ok")], None, False),
    ],
)
def test_one_clarification_since_the_skill_spoke_is_flagged(
    heard: list[State], spoke: int | None, flag: bool
) -> None:
    known = {} if spoke is None else {"previous_human_utter_index": spoke}
    state = dialog(
        human("hi"),
        bot("But what?"),
        heard[0],
        bot("But what?"),
        heard[1],
        attributes={"dff_art_skill_state": known},
    )
    [request] = FORMATTERS["dff_art_skill_formatter"].format(state)
    assert request["clarification_request_flag_batch"] == [flag]
