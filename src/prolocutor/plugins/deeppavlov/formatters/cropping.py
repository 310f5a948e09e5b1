"""The part of a dialog that a formatter reads: its last utterances, without clarifications."""

from __future__ import annotations

from collections.abc import Collection

from prolocutor.plugins.deeppavlov.formatters.dialog_formatter import State, turns_window

REPEATED = ("#+#repeat", "But what?", "Could you please repeat what you have just said?")


def crop(dialog: State, turns: int = 5) -> State:
    """Return the dialog with its last `turns` turns and without the profiles' `entities`.

    Each utterance among them that contains `#repeat` adds two earlier utterances.
    """
    cropped = _replace_utterances(dialog, _last(dialog["utterances"], turns_window(turns)))
    for speaker in ("human", "bot"):
        profile = dialog.get(speaker)
        if profile and "entities" in profile.get("attributes", ()):
            rest = {key: value for key, value in profile["attributes"].items() if key != "entities"}
            cropped[speaker] = {**profile, "attributes": rest}
    return cropped


def drop_clarifications(dialog: State) -> State:
    """Return the dialog without questions to repeat something and the utterances before them."""
    utterances = dialog["utterances"]
    kept = utterances[:1]
    end = len(utterances) - 1
    for at in range(1, end + 1):
        one, before = utterances[at], utterances[at - 1]
        if at < end and is_bot(one) and not is_bot(before) and repeats(one) and asks_again(before):
            if kept:
                kept.pop()
        else:
            kept.append(one)
    return dialog if len(kept) == len(utterances) else _replace_utterances(dialog, kept)


def recent(dialog: State, turns: int = 5) -> State:
    """Return the dialog cropped to `turns` turns, and of these the clarifications dropped."""
    return drop_clarifications(crop(dialog, turns))


def newest_utterance(dialog: State) -> State:
    """Return the last human utterance."""
    newest: State = dialog["human_utterances"][-1]
    return newest


def only_keys(utterance: State, keys: Collection[str]) -> State:
    """Return an utterance with only the fields `keys`, where present."""
    return {key: utterance[key] for key in keys if key in utterance}


def is_bot(utterance: State) -> bool:
    """Return whether the bot said it."""
    return bool(utterance["user"]["user_type"] == "bot")


def repeats(utterance: State) -> bool:
    """Return whether a bot utterance repeats something or asks to repeat it."""
    text = utterance["text"]
    if any(phrase in text for phrase in REPEATED):
        return True
    return utterance.get("active_skill") == "misheard_asr" and utterance.get("confidence") == 1.0


def asks_again(utterance: State) -> bool:
    """Return whether a human utterance asks to repeat something, or was hardly understood."""
    annotations = utterance["annotations"]
    if annotations.get("intent_catcher", {}).get("repeat", {}).get("detected") == 1:
        return True
    return bool(annotations.get("asr", {}).get("asr_confidence") == "very_low")


def _last(utterances: list[State], length: int) -> list[State]:
    repeated = sum("#repeat" in utterance["text"] for utterance in utterances[-length:])
    return utterances[-(length + 2 * repeated) :]


def _replace_utterances(dialog: State, utterances: list[State]) -> State:
    return {
        **dialog,
        "utterances": utterances,
        "human_utterances": [utterance for utterance in utterances if not is_bot(utterance)],
        "bot_utterances": [utterance for utterance in utterances if is_bot(utterance)],
    }
