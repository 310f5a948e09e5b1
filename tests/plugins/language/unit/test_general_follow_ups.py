"""Follow-ups to agents that bring no rules: what the grammar of a language makes of the words."""

from typing import Any

import pytest

from prolocutor.plugins.language.follow_up import annotate

DIALOGS: list[tuple[str, str, list[Any], str, str]] = [
    (
        "when is yoga on Monday?",
        "Yoga is at 18:00 on Monday.",
        ["yoga"],
        "and on Wednesday?",
        "when is yoga on Wednesday?",
    ),
    (
        "when is yoga on Monday?",
        "Yoga is at 18:00 on Monday.",
        ["yoga"],
        "what about pilates?",
        "when is pilates on Monday?",
    ),
    (
        "when is yoga on Monday?",
        "Yoga is at 18:00 on Monday.",
        ["yoga"],
        "who teaches it?",
        "who teaches yoga",
    ),
    (
        "when is yoga on Monday?",
        "Yoga is at 18:00 on Monday.",
        ["yoga"],
        "no, tuesday",
        "when is yoga on tuesday?",
    ),
    (
        "when is yoga on Monday?",
        "Yoga is at 18:00 on Monday.",
        ["yoga"],
        "how long does it last?",
        "how long does yoga last",
    ),
    (
        "who teaches spinning",
        "Marta teaches spinning.",
        [{"text": "spinning", "type": "class"}, {"text": "Marta", "type": "person"}],
        "does she also teach zumba?",
        "does Marta also teach zumba",
    ),
    (
        "book me into zumba on friday",
        "Zumba on Friday is booked.",
        ["zumba"],
        "cancel it",
        "cancel zumba",
    ),
    (
        "how much is a small car in Nice for three days?",
        "A small car in Nice costs 120 euros for three days.",
        ["small car", "Nice"],
        "and a van?",
        "how much is a van in Nice for three days?",
    ),
    (
        "how much is a small car in Nice for three days?",
        "A small car in Nice costs 120 euros for three days.",
        ["small car", "Nice"],
        "for a week?",
        "how much is a small car in Nice for a week?",
    ),
    (
        "how much is a small car in Nice for three days?",
        "A small car in Nice costs 120 euros for three days.",
        ["small car", "Nice"],
        "and in Lyon?",
        "how much is a small car in Lyon for three days?",
    ),
    (
        "how much is a small car in Nice for three days?",
        "A small car in Nice costs 120 euros for three days.",
        ["small car", "Nice"],
        "five days",
        "how much is a small car in Nice for five days?",
    ),
    (
        "how much is a small car in Nice for three days?",
        "A small car in Nice costs 120 euros for three days.",
        ["small car", "Nice"],
        "an automatic?",
        "how much is an automatic in Nice for three days?",
    ),
    (
        "can I drop the car off in Madrid?",
        "Yes, for 90 euros more.",
        ["Madrid"],
        "and in Lisbon?",
        "can I drop the car off in Lisbon?",
    ),
    (
        "I need a car in Porto from Friday to Sunday",
        "A car in Porto from Friday to Sunday is 88 euros.",
        ["Porto"],
        "from Thursday",
        "I need a car in Porto from Thursday to Sunday",
    ),
    (
        "when does the ferry from Ancona to Split leave?",
        "At 19:45.",
        ["Ancona", "Split"],
        "and to Zadar?",
        "when does the ferry from Ancona to Zadar leave?",
    ),
    (
        "when does the ferry from Ancona to Split leave?",
        "At 19:45.",
        ["Ancona", "Split"],
        "how much is it?",
        "how much is the ferry from Ancona to Split",
    ),
    (
        "when does the ferry from Ancona to Split leave?",
        "At 19:45.",
        ["Ancona", "Split"],
        "and on sundays?",
        "when does the ferry from Ancona to Split leave on sundays?",
    ),
    (
        "coach from Leeds to York at 9am",
        "There is one at 9:10.",
        ["Leeds", "York"],
        "10am?",
        "coach from Leeds to York at 10am",
    ),
    (
        "coach from Leeds to York at 9am",
        "There is one at 9:10.",
        ["Leeds", "York"],
        "the last one",
        "the last coach from Leeds to York",
    ),
    (
        "is there a tour of the Prado in English on Friday?",
        "Yes, at 11:00.",
        ["Prado"],
        "and in German?",
        "is there a tour of the Prado in German on Friday?",
    ),
    (
        "is there a tour of the Prado in English on Friday?",
        "Yes, at 11:00.",
        ["Prado"],
        "of the Louvre?",
        "is there a tour of the Louvre in English on Friday?",
    ),
    (
        "when does the Uffizi close?",
        "The Uffizi closes at 18:30.",
        ["Uffizi"],
        "and open?",
        "when does the Uffizi open?",
    ),
    (
        "when does the Uffizi close?",
        "The Uffizi closes at 18:30.",
        ["Uffizi"],
        "what is its address?",
        "what is the address of the Uffizi",
    ),
    (
        "who painted Guernica",
        "Pablo Picasso painted Guernica in 1937.",
        [{"text": "Guernica", "type": "painting"}, {"text": "Pablo Picasso", "type": "person"}],
        "when was he born",
        "when was Pablo Picasso born",
    ),
    (
        "who painted Guernica",
        "Pablo Picasso painted Guernica in 1937.",
        [{"text": "Guernica", "type": "painting"}, {"text": "Pablo Picasso", "type": "person"}],
        "where can I see it",
        "where can I see Guernica",
    ),
    (
        "who painted Guernica",
        "Pablo Picasso painted Guernica in 1937.",
        ["Guernica"],
        "and The Scream?",
        "who painted The Scream",
    ),
    (
        "when is high tide in Whitby tomorrow?",
        "High tide in Whitby is at 4:12.",
        ["Whitby"],
        "scarborough?",
        "when is high tide in scarborough tomorrow?",
    ),
    (
        "when is high tide in Whitby tomorrow?",
        "High tide in Whitby is at 4:12.",
        ["Whitby"],
        "can I swim there?",
        "can I swim in Whitby",
    ),
    (
        "when is high tide in whitby",
        "At 4:12.",
        ["whitby"],
        "and the day after?",
        "when is high tide in whitby the day after",
    ),
    (
        "which pharmacy is on duty in Leeds tonight?",
        "Castle Pharmacy, 12 Castle Road.",
        [{"text": "Castle Pharmacy", "type": "pharmacy"}],
        "what's their phone number?",
        "what's the phone number of Castle Pharmacy",
    ),
    (
        "does Boots sell paracetamol",
        "Yes, for 3 pounds.",
        ["Boots"],
        "and ibuprofen?",
        "does Boots sell ibuprofen",
    ),
    (
        "does Boots sell paracetamol",
        "Yes, for 3 pounds.",
        ["Boots"],
        "and Superdrug?",
        "does Superdrug sell paracetamol",
    ),
    (
        "where is parcel RB123?",
        "Parcel RB123 is in Cologne.",
        ["RB123"],
        "can you send it back?",
        "can you send parcel RB123 back",
    ),
    (
        "how much is a 5 kg parcel to Norway",
        "A 5 kg parcel to Norway costs 23 euros.",
        ["Norway"],
        "10 kg?",
        "how much is a 10 kg parcel to Norway",
    ),
    (
        "how much is a 5 kg parcel to Norway",
        "A 5 kg parcel to Norway costs 23 euros.",
        ["Norway"],
        "and Sweden?",
        "how much is a 5 kg parcel to Sweden",
    ),
    (
        "how much is a 5 kg parcel to Norway",
        "A 5 kg parcel to Norway costs 23 euros.",
        ["Norway"],
        "and 2 kg to Denmark",
        "how much is a 2 kg parcel to Denmark",
    ),
    (
        "what are the opening hours of the depot in Hull",
        "The depots in Hull are Hessle and Cottingham.",
        ["Hessle", "Cottingham"],
        "both",
        "what are the opening hours of the depot in Hessle and Cottingham",
    ),
    (
        "is the Hessle depot open today",
        "Hessle closes at 6, Cottingham at 8.",
        ["Hessle", "Cottingham"],
        "and the other one?",
        "is the Cottingham open today",
    ),
    (
        "Wann ist Yoga am Montag?",
        "Um 18 Uhr.",
        ["Yoga"],
        "und Pilates?",
        "Wann ist Pilates am Montag?",
    ),
    (
        "Wer unterrichtet Yoga?",
        "Marta.",
        ["Yoga"],
        "wann ist es am Montag?",
        "wann ist Yoga am Montag",
    ),
    (
        "Welche Apotheke hat heute in Bremen Notdienst?",
        "Die Löwen-Apotheke.",
        ["Löwen-Apotheke"],
        "und morgen?",
        "Welche Apotheke hat morgen in Bremen Notdienst?",
    ),
    (
        "Welche Apotheke hat heute in Bremen Notdienst?",
        "Die Löwen-Apotheke.",
        ["Löwen-Apotheke"],
        "wie komme ich dahin?",
        "wie komme ich in Löwen-Apotheke",
    ),
    (
        "À quelle heure ferme le musée d'Orsay ?",
        "À 18 h.",
        ["musée d'Orsay"],
        "et le dimanche ?",
        "À quelle heure ferme le musée d'Orsay le dimanche?",
    ),
    (
        "¿Cuánto cuesta un coche en Niza por tres días?",
        "120 euros.",
        ["Niza"],
        "¿y en Lyon?",
        "¿Cuánto cuesta un coche en Lyon por tres días?",
    ),
    (
        "how many runs are open in Chamonix today?",
        "31 runs are open.",
        ["Chamonix"],
        "how much snow is there?",
        "how much snow is there in Chamonix",
    ),
    (
        "do Canadians need a visa for Vietnam?",
        "Yes.",
        ["Vietnam"],
        "and Australians?",
        "do Australians need a visa for Vietnam?",
    ),
    (
        "do Canadians need a visa for Vietnam?",
        "Yes.",
        ["Vietnam"],
        "for Laos?",
        "do Canadians need a visa for Laos?",
    ),
    (
        "is a double room free at the Grand on Friday",
        "Yes, for 90 pounds.",
        ["Grand"],
        "with breakfast?",
        "is a double room free at the Grand on Friday with breakfast",
    ),
    (
        "how often should I water a ficus?",
        "Once a week.",
        ["ficus"],
        "in winter?",
        "how often should I water a ficus in winter?",
    ),
    (
        "when do I prune roses",
        "In March.",
        ["roses"],
        "and hydrangeas",
        "when do I prune hydrangeas",
    ),
    (
        "when does the Riverside pool open on Sundays",
        "At 8.",
        ["Riverside pool"],
        "and close?",
        "when does the Riverside pool close on Sundays",
    ),
    (
        "when does the Riverside pool open on Sundays",
        "At 8.",
        ["Riverside pool"],
        "how warm is the water there?",
        "how warm is the water in the Riverside pool",
    ),
    (
        "what lessons does 4B have on Tuesday",
        "Maths, art and music.",
        ["4B"],
        "Thursday?",
        "what lessons does 4B have on Thursday",
    ),
    (
        "who is the head of Oakfield school",
        "Mrs Lindley.",
        [{"text": "Oakfield", "type": "school"}, {"text": "Mrs Lindley", "type": "person"}],
        "and of Beechwood?",
        "who is the head of Beechwood school",
    ),
    (
        "Wie viele Pisten sind heute in Chamonix offen?",
        "31.",
        ["Chamonix"],
        "und in Verbier?",
        "Wie viele Pisten sind heute in Verbier offen?",
    ),
    (
        "¿Cuánta nieve hay en Zermatt?",
        "85 cm.",
        ["Zermatt"],
        "¿y mañana?",
        "¿Cuánta nieve hay en Zermatt mañana?",
    ),
    (
        "is the sauna open on Thursday at 7 pm?",
        "It is.",
        ["sauna", "Thursday", "7 pm"],
        "and on Saturday?",
        "is the sauna open on Saturday at 7 pm?",
    ),
    (
        "is the sauna open on Thursday at 7 pm?",
        "It is.",
        ["sauna", "Thursday", "7 pm"],
        "at 9 pm?",
        "is the sauna open on Thursday at 9 pm?",
    ),
    (
        "is there a tennis court free on Saturday?",
        "Court 2 is.",
        ["tennis"],
        "what about squash?",
        "is there a squash court free on Saturday?",
    ),
    (
        "when does the swimming lesson start",
        "At 16:00.",
        ["swimming"],
        "and the diving one?",
        "when does the diving lesson start",
    ),
    (
        "how much is a small cappuccino",
        "2.80 euros.",
        ["cappuccino"],
        "large?",
        "how much is a large cappuccino",
    ),
    (
        "when is the next bus to the airport",
        "At 14:05 from stop B.",
        ["airport"],
        "and after that?",
        "when is the next bus to the airport after 14:05",
    ),
    (
        "when is the next bus to the airport",
        "At 14:05 from stop B.",
        ["airport"],
        "the last one?",
        "when is the last bus to the airport",
    ),
    (
        "how much are 2 kg of apples",
        "5 euros.",
        ["apples"],
        "and 3?",
        "how much are 3 kg of apples",
    ),
    (
        "ferry from Split to Hvar on 3 May 2030",
        "At 9.",
        ["Split", "Hvar"],
        "and 4 may?",
        "ferry from Split to Hvar on 4 may 2030",
    ),
    (
        "add two pizzas to my order",
        "Added.",
        [],
        "and a salad",
        "add a salad to my order",
    ),
    (
        "reserve room 4 for friday",
        "Done.",
        [],
        "room 5 instead",
        "reserve room 5 for friday",
    ),
    (
        "tell me about the Louvre",
        "A museum.",
        ["Louvre"],
        "what's the entrance fee?",
        "what's the entrance fee of the Louvre",
    ),
    (
        "what is on tonight",
        "Alien at 20:00, Heat at 21:00 and Up at 18:00.",
        [],
        "who directed the second one",
        "who directed Heat",
    ),
    (
        "wann fährt der zug nach bonn",
        "Um 12:10.",
        [],
        "und nach köln?",
        "wann fährt der zug nach köln",
    ),
    ("who wrote Emma", "Jane Austen wrote it.", [], "when did she die", "when did Jane Austen die"),
    ("where is order 12", "Order 12 is in Leipzig.", [], "and 13?", "where is order 13"),
    (
        "where is the nearest chemist in Oslo",
        "The nearest is Vitus.",
        [],
        "their phone number?",
        "where is the phone number of Vitus",
    ),
]
"""A question, the reply, its entities, the words that follow, and what they mean."""


def dialog(question: str, reply: str, words: str, **told: Any) -> dict[str, Any]:
    asked, said = {"text": question, "annotations": {}}, {"text": words, "annotations": {}}
    replied = {"text": reply, "active_skill": "agent", "attributes": told}
    return {"utterances": [asked, replied, said], "human_utterances": [asked, said]}


@pytest.mark.parametrize(("question", "reply", "entities", "words", "whole"), DIALOGS)
def test_words_mean_the_last_question_with_a_slot_of_the_same_kind_filled_anew(
    question: str, reply: str, entities: list[Any], words: str, whole: str
) -> None:
    found = annotate(dialog(question, reply, words, entities=entities))
    assert found.get("text", "") == whole


def test_an_agent_that_answered_is_named_as_the_one_to_go_on() -> None:
    found = annotate(dialog("when is yoga on Monday?", "At 6.", "and on Friday?"))
    assert found["skill"] == "agent"


def test_words_that_an_agent_names_for_a_slot_take_its_place() -> None:
    slots = {"tide": ["high", "low"], "place": "Whitby"}
    found = annotate(dialog("high tide in Whitby", "At 4.", "low?", **{"continue": slots}))
    assert found["text"] == "low tide in Whitby"


def test_after_a_composed_reply_the_part_that_has_the_slot_goes_on() -> None:
    parts = [
        {"question": "what is 15% of 80", "skill": "sums", "text": "12"},
        {"question": "what time is it in Tokyo", "skill": "clock", "text": "It is 9."},
    ]
    asked = "what is 15% of 80 and what time is it in Tokyo"
    found = annotate(dialog(asked, "12. It is 9.", "and in Paris?", parts=parts))
    assert (found["text"], found["skill"]) == ("what time is it in Paris", "clock")


@pytest.mark.parametrize("reply", [", and ,", "and, and", ". , and ."])
def test_a_list_without_things_is_no_list(reply: str) -> None:
    assert annotate(dialog("what is there?", reply, "both")).get("text", "") == ""


@pytest.mark.parametrize("words", ["nah never mind", "no, forget about it", "nee, vergiss es"])
def test_a_question_that_is_given_up_is_not_filled_anew(words: str) -> None:
    found = annotate(dialog("remind me to call mum", "When is it due?", words))
    assert found.get("text", words) == words
