"""Corrections in the words of each language, and in those of another."""

import pytest

from prolocutor.plugins.language.follow_up import annotate


@pytest.mark.parametrize(
    ("question", "words", "whole"),
    [
        ("loue un vélo pour 2 jours", "non, pas 2, plutôt 5", "loue un vélo pour 5 jours"),
        ("reserva sillas, mesas y vasos", "no, vasos no, mejor platos",
         "reserva sillas, mesas y platos"),
        ("wie lang ist der Weg nach Ulm", "Bonn statt Ulm", "wie lang ist der Weg nach Bonn"),
        ("setz Käse auf die Karte", "sorry i meant Kuchen", "setz Kuchen auf die Karte"),
        ("wie weit ist es nach Ulm", "nach Bonn mein ich", "wie weit ist es nach Bonn"),
        ("combien coûte le vélo rouge", "le vert je voulais dire", "combien coûte le vélo vert"),
        ("¿Cuándo es la feria del 3 de mayo?", "uy, de junio quería decir",
         "¿Cuándo es la feria del 3 de junio?"),
        ("order figs", "sorry, dates, the figs taste stale", "order dates"),
        ("remind me to call Otto at noon", "no, visit Gerda", "remind me to visit Gerda at noon"),
        ("how far is Bonn in miles", "in yards, oops", "how far is Bonn in yards"),
        ("how far is Bonn", "I mean Ulm", "how far is Ulm"),
        ("order figs", "dates were what I wrote", "order dates"),
        ("weck mich um 7 mit Jutta auf", "quatsch, Ulla", "weck mich um 7 mit Ulla auf"),
        ("apunta velas", "perdón, cerillas", "apunta cerillas"),
    ],
)  # fmt: skip
def test_a_correction_takes_the_place_of_its_like(question: str, words: str, whole: str) -> None:
    asked, said = {"text": question, "annotations": {}}, {"text": words, "annotations": {}}
    replied = {"text": "So.", "active_skill": "agent", "attributes": {}}
    state = {"utterances": [asked, replied, said], "human_utterances": [asked, said]}
    assert annotate(state)["text"] == whole


def test_an_interjection_alone_takes_the_place_of_nothing() -> None:
    asked, said = {"text": "order figs", "annotations": {}}, {"text": "oops", "annotations": {}}
    replied = {"text": "So.", "active_skill": "agent", "attributes": {}}
    state = {"utterances": [asked, replied, said], "human_utterances": [asked, said]}
    assert "of" not in annotate(state)


def test_the_first_request_of_a_dialog_is_mended_by_its_second_half() -> None:
    said = {"text": "Bonn's mayor - oops, Ulm's river", "annotations": {}}
    assert annotate({"utterances": [said], "human_utterances": [said]})["text"] == "Ulm's river"
