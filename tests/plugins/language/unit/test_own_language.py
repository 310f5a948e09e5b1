"""A language of one's own: a folder with two files, in another process as a file names it."""

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[3] / "data" / "locales"

SCRIPT = """
from prolocutor.asks.controls import find_control
from prolocutor.asks.yesno import read_yes_no
from prolocutor.reading.languages import language_of
from prolocutor.reading.locales.locale import add_folder, sentence
from prolocutor.plugins.language.follow_up import annotate
from pathlib import Path
add_folder(Path({folder!r}))
def meant(question, reply, words):
    now = {{"text": words}}
    before = [{{"text": question}}, {{"text": reply, "active_skill": "agent"}}]
    state = {{"utterances": [*before, now], "human_utterances": [before[0], now]}}
    return annotate(state).get("text")
print(language_of("quando parte il traghetto da Ancona?").code)
print(meant("Quando apre il museo a Torino?", "Alle 9.", "e a Milano?"))
print(meant("Quando apre il museo a Torino?", "Alle 9.", "e domani?"))
print(meant("Quando parte il traghetto da Ancona a Spalato?", "Alle 19.", "no, da Bari"))
print(sentence("not_understood", "it"))
print(read_yes_no("Sì, grazie!"), read_yes_no("no grazie"), find_control("lascia perdere"))
"""


def test_italian_takes_one_folder_with_two_files() -> None:
    script = SCRIPT.format(folder=str(FOLDER))
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.splitlines() == [
        "it",
        "Quando apre il museo a Milano?",
        "Quando apre il museo a Torino domani?",
        "Quando parte il traghetto da Bari a Spalato?",
        "Scusa, non ho capito.",
        "True False nevermind",
    ]
