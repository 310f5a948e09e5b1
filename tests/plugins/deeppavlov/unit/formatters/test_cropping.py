"""The part of a dialog that formatters read."""

from prolocutor.plugins.deeppavlov.formatters.cropping import crop, drop_clarifications
from tests.plugins.deeppavlov.unit.formatters.agent_states import State, bot, dialog, human, turns


def said(state: State) -> list[str]:
    return [utterance["text"] for utterance in state["utterances"]]


def test_a_crop_keeps_whole_turns_and_the_new_utterance() -> None:
    cropped = crop(turns(9), 2)
    assert said(cropped) == ["h7", "b7", "h8", "b8", "h9"]
    assert [utterance["text"] for utterance in cropped["human_utterances"]] == ["h7", "h8", "h9"]
    assert [utterance["text"] for utterance in cropped["bot_utterances"]] == ["b7", "b8"]


def test_a_repetition_in_the_crop_adds_a_turn() -> None:
    state = turns(9)
    state["utterances"][-2]["text"] += " #+#repeat"
    assert len(said(crop(state, 2))) == 7


def test_a_repetition_in_an_added_turn_adds_nothing() -> None:
    state = turns(9)
    state["utterances"][-2]["text"] += " #repeat"
    state["utterances"][-6]["text"] += " #repeat"
    assert len(said(crop(state, 2))) == 7


def test_a_crop_hides_the_entities_of_both_profiles() -> None:
    state = dialog(human("hi"), attributes={"entities": {"tea": 1}, "age_group": "adult"})
    state["bot"]["attributes"] = {"entities": {}}
    cropped = crop(state)
    assert cropped["human"]["attributes"] == {"age_group": "adult"}
    assert cropped["bot"]["attributes"] == {}
    assert cropped["dialog_id"] == "d"


def asked_again() -> list[State]:
    return [
        human("tea", intent_catcher={"repeat": {"detected": 1}}),
        bot("Tea, I said. #+#repeat"),
    ]


def test_a_clarification_goes_with_the_utterance_that_asked_for_it() -> None:
    state = dialog(human("hi"), bot("Hi"), *asked_again(), human("ok"))
    assert said(drop_clarifications(state)) == ["hi", "Hi", "ok"]


def test_a_badly_heard_utterance_goes_with_the_question() -> None:
    state = dialog(
        human("mm", asr={"asr_confidence": "very_low"}),
        bot("Pardon?", skill="misheard_asr", confidence=1.0),
        human("tea"),
    )
    assert said(drop_clarifications(state)) == ["tea"]


def test_a_repetition_that_nobody_asked_for_stays() -> None:
    state = dialog(human("hi"), bot("But what?"), human("tea"))
    assert said(drop_clarifications(state)) == ["hi", "But what?", "tea"]


def test_what_was_asked_for_without_a_repetition_stays() -> None:
    asking = human("what", intent_catcher={"repeat": {"detected": 1}})
    state = dialog(asking, bot("Tea"), human("ok"))
    assert said(drop_clarifications(state)) == ["what", "Tea", "ok"]
