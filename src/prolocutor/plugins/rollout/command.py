"""`prolocutor rollout`: the states of trials, and decisions on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import msgspec

from prolocutor.assistant.runner import run
from prolocutor.cli.options import STORE_OPTION, assistant_option, json_option
from prolocutor.cli.output import clean, write_json
from prolocutor.cli.owner import find_owner_door
from prolocutor.config.loading import load_assistant
from prolocutor.config.store_location import store_url
from prolocutor.dialog.ids import format_time
from prolocutor.plugins.rollout.door import PATH, RolloutCommand, TrialLine, TrialList, trial_list
from prolocutor.plugins.rollout.estimates import ArmFigures, GainEstimate
from prolocutor.plugins.rollout.rollout_desk import RolloutDesk
from prolocutor.plugins.rollout.trials import find_trials
from prolocutor.stores.store_catalog import open_store

_FILE = assistant_option("The assistant's file.  [default: the demo's]")
_JSON = json_option("All as JSON.")


@click.group(short_help="Show, promote and stop what is tried out.")
def rollout() -> None:
    """Show, promote and stop services that are tried out as a canary or a shadow.

    \b
    Examples:
      prolocutor rollout status --assistant assistant.yaml
      prolocutor rollout promote weather_two --assistant assistant.yaml
      prolocutor rollout stop weather_two --assistant assistant.yaml
    """


@rollout.command()
@_FILE
@STORE_OPTION
@_JSON
def status(assistant: Path | None, store: str | None, json_file: str | None) -> None:
    """Show each trial: its state, and what the new service gains by the logs.

    \b
    Example:
      prolocutor rollout status --assistant assistant.yaml
    """
    _print(_done(RolloutCommand("status"), assistant, store), json_file)


@rollout.command()
@click.argument("name")
@_FILE
@STORE_OPTION
@_JSON
def promote(name: str, assistant: Path | None, store: str | None, json_file: str | None) -> None:
    """Give the new service NAME to everybody; the old one is switched off.

    \b
    Example:
      prolocutor rollout promote weather_two --assistant assistant.yaml
    """
    _print(_done(RolloutCommand("promote", name), assistant, store), json_file)


@rollout.command()
@click.argument("name")
@_FILE
@STORE_OPTION
@_JSON
def stop(name: str, assistant: Path | None, store: str | None, json_file: str | None) -> None:
    """Give the new service NAME to nobody any more; it is switched off.

    \b
    Example:
      prolocutor rollout stop weather_two --assistant assistant.yaml
    """
    _print(_done(RolloutCommand("stop", name), assistant, store), json_file)


def _done(command: RolloutCommand, file: Path | None, given: str | None) -> TrialList:
    settings = load_assistant(file)
    url = store_url(given, settings)
    if (door := find_owner_door(url)) is not None:
        return msgspec.convert(door.post(PATH, msgspec.structs.asdict(command)), TrialList)
    return run(_direct(command, url, find_trials(settings.pipeline)))


async def _direct(command: RolloutCommand, url: str, trials: list[Any]) -> TrialList:
    """Decide in the store itself: replicas that run on the store follow within seconds."""
    store: Any = open_store(url)
    await store.open()
    try:
        desk = RolloutDesk(store, trials)
        if command.do != "status":
            await desk.decide(command.name, command.do, "the command line")
        return trial_list(await desk.status())
    finally:
        await store.aclose()


def _print(found: TrialList, json_file: str | None) -> None:
    if json_file is not None:
        write_json(json_file, found)
    if json_file != "-":
        for line in _lines(found):
            click.echo(line)


def _lines(found: TrialList) -> Iterator[str]:
    if not found.items:
        yield "nothing is tried out"
    for item in found.items:
        yield from _trial(item)


def _trial(line: TrialLine) -> Iterator[str]:
    trial = line.trial
    place = f"instead of {trial.instead_of} for {100 * trial.share:g} % of people"
    what = place if trial.instead_of is not None else "a shadow"
    yield f"{clean(trial.name)} ({trial.stage}): {what}, {trial.state}"
    if trial.state != "running" and trial.since is not None:
        yield f"  {trial.state} {format_time(trial.since)[:19]} by {clean(trial.why, 300)}"
    estimates = trial.estimates
    if estimates is not None:
        yield f"  {line.verdict}"
        for name, arm in ((trial.name, estimates.new), (str(trial.instead_of), estimates.old)):
            yield f"  {clean(name):<24}  {_arm(arm)}"
        for how, gain in (
            ("gain, inverse propensity", estimates.inverse_propensity),
            ("gain, self-normalized", estimates.self_normalized),
            ("gain, doubly robust", estimates.doubly_robust),
        ):
            if gain is not None:
                yield f"  {how:<24}  {_gain(gain)}"
        if estimates.always is not None:
            low, high = estimates.always
            yield f"  {'at any look':<24}         [{100 * low:+.1f}, {100 * high:+.1f}]"
    shadow = trial.shadow
    if shadow is not None:
        agreed = f"{100 * shadow.agreed / shadow.compared:.0f} %" if shadow.compared else "-"
        mean = f"{shadow.seconds / shadow.asked:.3f} s" if shadow.asked else "-"
        yield (
            f"  as a shadow: {shadow.asked:,} asked, {shadow.done:,} answered,"
            f" {shadow.failed:,} failed, {shadow.late:,} late, {shadow.left_out:,} left out by its"
            f" caps; as the reply {agreed}; mean {mean}; cost {shadow.cost:.4g}"
        )


def _arm(arm: ArmFigures) -> str:
    right = "-" if arm.mean is None else f"{100 * arm.mean:.1f} %"
    return f"right {right} of {arm.turns:,} turns of {arm.persons:,} people"


def _gain(gain: GainEstimate) -> str:
    return f"{100 * gain.gain:+6.1f}  [{100 * gain.low:+.1f}, {100 * gain.high:+.1f}]  points, 95 %"
