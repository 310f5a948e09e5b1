"""`prolocutor overlap`: agents that answer the same questions, agents that never win, and gaps."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from prolocutor.cli.options import STORE_OPTION, json_option
from prolocutor.cli.output import write_json
from prolocutor.config.loading import assistant_file, load
from prolocutor.config.store_location import dialogs_of, store_url
from prolocutor.data_sets import split
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.pairing.commands.command_lines import overlap_lines
from prolocutor.plugins.pairing.measuring.answer_overlap import AnsweredQuestion, compare_agents
from prolocutor.plugins.pairing.measuring.pairing_data import load_pairing_data
from prolocutor.plugins.pairing.measuring.store_questions import label_turns, turns_of_store

_STORE: Final = "store"


@click.command(short_help="Find agents that answer the same questions.")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option("--data", metavar="KIND:PATH", help="Questions with answers, instead of a store.")
@STORE_OPTION
@json_option("All as JSON.")
def overlap(file: Path | None, data: str | None, store: str | None, json_file: str | None) -> None:
    """Find agents that answer the same questions, agents that never win, and unanswered questions.

    It reads what the skills of an assistant answered in the dialogs of its store (all hypotheses,
    not only the replies), or questions with answers as jsonl, csv or bbai. Where questions are
    labelled or rated, that says which answers are good; elsewhere it is a guess.

    \b
    Examples:
      prolocutor overlap my-assistant/assistant.yaml
      prolocutor overlap --data bbai:bbai-data --json overlap.json
    """
    settings = load(assistant_file(file)) if file is not None else None
    if data is not None and store is not None:
        raise click.UsageError("Say either --data or --store.")
    if data is None:
        url = store_url(store, settings)
        answered = _answered_in_store(url)
    else:
        answered = _answered_in_data(data)
    names = [] if settings is None else [one.name for one in settings.pipeline.of(Stage.SKILL)]
    found = compare_agents(answered, names)
    if json_file is not None:
        write_json(json_file, found)
    if json_file != "-":
        for line in overlap_lines(found):
            click.echo(line)


def _answered_in_data(data: str) -> list[AnsweredQuestion]:
    kind, path = split(data)
    if kind == _STORE:
        return _answered_in_store(path)
    questions = load_pairing_data(data)
    return [AnsweredQuestion(one) for one in (*questions.learn, *questions.test) if one.answers]


def _answered_in_store(store: str) -> list[AnsweredQuestion]:
    turns = turns_of_store(dialogs_of(store))
    return [
        AnsweredQuestion(one, turn.spoke)
        for one, turn in zip(label_turns(turns), turns, strict=True)
    ]
