"""Whom our rule-based selector asks beside DREAM's own, over made dialogs.

    python bench/dream_selector.py --dream DIR --pipelines PATH... [--dialogs 3000] [--seed 1]

DIR holds DREAM's code for its agent (`common`, `skill_selectors`), which runs in a process of its
own; PATH is a pipeline file, a folder of them, or a `.jsonl.gz` of dialogs that carry the names of
their pipeline. None of these is part of this repository. In DREAM's process a package that is not
installed is stood in for: `sentry_sdk` and `requests` by nothing, `inflect` by digits.

A dialog has 1 to 13 human utterances. Each has annotations of any kind that DREAM's annotators
write, with labels drawn from DREAM's own lists; texts are drawn from phrases of talk about topics,
from DREAM's list of 10,000 frequent words, and, for the assistant, from all sentences in its code.
DREAM's selector does not look at the pipeline, so each dialog is asked once, and what both name is
compared for each pipeline among its skills; nobody named at all is a dialog for the last chance.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import logging
import os
import random
import subprocess
import sys
import types
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]
SELECTOR = "skill_selectors.rule_based_selector.connector"
CLASS = "RuleBasedSkillSelectorConnector"


# -- DREAM's process ----------------------------------------------------------------------------


def serve_dream() -> None:
    """Say the words to make dialogs of, then answer each dialog on stdin with DREAM's choice."""
    out = sys.stdout
    sys.stdout = sys.stderr
    logging.disable(logging.CRITICAL)
    for line in (Path("env.txt"), Path(".env"))[not Path("env.txt").exists()].open():
        name, _, value = line.strip().partition("=")
        os.environ.setdefault(name, value)
    sys.path.insert(0, os.getcwd())
    for name in ("sentry_sdk", "requests", "inflect"):
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = _stand_in(name)
    sys.modules.setdefault("common.inflect", sys.modules["inflect"])
    selector = getattr(__import__(SELECTOR, fromlist=[CLASS]), CLASS)()
    print(json.dumps(_words()), file=out, flush=True)
    for line in sys.stdin:
        chosen = asyncio.run(_chosen(selector, json.loads(line)))
        print(json.dumps(chosen), file=out, flush=True)


def _stand_in(name: str) -> types.ModuleType:
    module = types.ModuleType(name)
    for function in ("init", "capture_exception", "capture_message", "post", "get"):
        setattr(module, function, lambda *_, **__: None)
    module.engine = lambda: types.SimpleNamespace(number_to_words=str)  # type: ignore[attr-defined]
    return module


async def _chosen(selector: Any, dialog: Json) -> list[str]:
    answer: asyncio.Future[list[str]] = asyncio.get_running_loop().create_future()

    async def callback(task_id: str, response: list[str]) -> None:
        answer.set_result(response)

    task = {"task_id": "", "payload": {"states_batch": [dialog]}}
    await selector.send(payload=task, callback=callback)
    return await answer


def _words() -> Json:
    from common import combined_classes, gossip, robot, utils  # type: ignore[import-not-found]

    words = Path("common/google-10000-english-no-swears.txt").read_text().split()
    said = {
        text
        for name, module in list(sys.modules.items())
        if name.startswith("common")
        for text in _sentences(list(vars(module).values()), 4)
    }
    intents = set(utils.service_intents | utils.low_priority_intents)
    intents |= set().union(*utils.high_priority_intents.values())
    intents |= robot.command_intents | robot.embodied_intents
    jobs = [job[0] for jobs in gossip.COBOT_TOPICS_TO_WIKI_OCCUPATIONS.values() for job in jobs]
    facts = sys.modules["common.fact_retrieval"]
    types_ = [one for kind in facts.topic_types.values() for one in kind]
    return {
        "words": words,
        "said": sorted(said),
        "classes": combined_classes.combined_classes,
        "intents": sorted(intents),
        "jobs": jobs,
        "types": types_,
    }


def _sentences(values: list[Any], depth: int) -> Iterator[str]:
    for value in values:
        if isinstance(value, str):
            if value.endswith((".", "?", "!")) and " " in value and len(value) < 300:
                yield value
        elif depth and isinstance(value, dict):
            yield from _sentences([*value, *value.values()], depth - 1)
        elif depth and isinstance(value, list | tuple | set):
            yield from _sentences(list(value), depth - 1)


# -- made dialogs -------------------------------------------------------------------------------

ASKS = (
    "let's talk about {}",
    "can we talk about {}?",
    "let's chat about something else",
    "i want to talk about {}",
    "could you tell me something about {}",
    "tell me about {}",
    "i don't want to talk about {}",
    "i do not like {}",
    "what do you want to talk about?",
    "let's discuss {}",
    "i would like to know about {}",
    "change the topic",
    "next",
    "pick up the topic",
    "talk to me about anything",
    "what is {}?",
    "who is {}",
    "what is your favorite {}",
    "do you like {}",
    "i love {}",
    "tell me a joke",
    "give me some advice",
    "i feel {}",
    "{} is not good",
    "i am so sad about {}",
    "my head hurts, what a pain",
    "play {}",
    "what?",
    "yes",
    "sure",
    "no",
    "i don't know",
    "anything",
    "something {}",
    "/alexa_stop_handler",
    "/get_dialog_id",
    "/new_persona",
    "i watched {} yesterday",
    "i went to japan",
    "what's the weather in {}",
    "how do you feel about {}",
    "any news about {}?",
)
ABOUT = (
    "movies books music football basketball cats dogs pets food pizza cooking travelling science"
    " politics religion games minecraft news weather art painting love friends school work family"
    " space robots bitcoin cars hiking anime coronavirus covid celebrities gossip hobbies italy"
    " emotions feelings"
).split()
NAMES = "alexa,japan,tom hanks,rome,the matrix,harry potter,messi,paris,berlin,titanic".split(",")
ENTITY_LABELS = (
    "person location videoname product organization misc anaphor number sportteam songname"
).split()
CONTINUES = ("no", "can", "must", "can_prompt", "prompt")
GENERATIVE = "dialogpt convert_reddit knowledge_grounding_skill dff_generative_skill".split()


class Maker:
    """Makes dialogs out of words, each the same for the same seed."""

    def __init__(self, words: Json, skills: list[str], seed: int) -> None:
        self.w = words
        self.skills = skills
        self.r = random.Random(seed)

    def dialog(self) -> Json:
        """Return a dialog whose newest utterance is a human's."""
        r = self.r
        turns = r.choice((1, 1, 2, 2, 3, 4, 5, 7, 10, 11, 13))
        utterances: list[Json] = []
        for turn in range(turns):
            utterances.append(self.human())
            if turn < turns - 1:
                utterances.append(self.bot(utterances[-1]))
        heard, said = utterances[::2], utterances[1::2]
        human: Json = {"attributes": {}, "user_type": "human"}
        if said and r.random() < 0.2:
            by = said[-1]["active_skill"] if r.random() < 0.7 else r.choice(self.skills)
            at = str(turns - r.choice((0, 1, 1, 2, 3)))
            link = {r.choice(self.skills): {at: {"from_service": by}}}
            human["attributes"]["dff_shared_state"] = {"cross_links": link, "cross_states": {}}
        return {
            "dialog_id": "d",
            "utterances": utterances,
            "human_utterances": heard,
            "bot_utterances": said,
            "human": human,
            "bot": {"attributes": {}, "user_type": "bot"},
            "attributes": {},
        }

    def bot(self, before: Json) -> Json:
        """Return a reply, and leave the hypotheses that it came of before it."""
        r = self.r
        skill = r.choice(self.skills if r.random() < 0.8 else GENERATIVE)
        before["hypotheses"] = [
            {"skill_name": one, "text": "x", "confidence": 0.5, "can_continue": r.choice(CONTINUES)}
            for one in {skill, r.choice(self.skills)}
        ]
        text = r.choice(self.w["said"]) if r.random() < 0.6 else self.text()
        found = {"intent_catcher": self.intents()} if r.random() < 0.2 else {}
        return {"text": text, "annotations": found, "active_skill": skill, "attributes": {}}

    def human(self) -> Json:
        """Return what a person said, with annotations."""
        text, r = self.text(), self.r
        attributes: Json = {}
        if r.random() < 0.06:
            given: Json = {
                "selected_skills": r.choice(("all", [], "dummy_skill", [r.choice(self.skills)])),
                "image": r.choice((None, "http://files/1.png")),
                "sound_path": "http://files/1.wav",
            }
            key = r.choice(list(given))
            attributes[key] = given[key]
        return {
            "text": text,
            "orig_text": text,
            "annotations": dict(self.annotations(text)),
            "attributes": attributes,
            "hypotheses": [],
        }

    def text(self) -> str:
        """Return one or two sentences."""
        r = self.r
        said = [self.sentence() for _ in range(r.choice((1, 1, 1, 2)))]
        return r.choice((". ", " ", "! ")).join(said)

    def sentence(self) -> str:
        """Return an ask about a thing, or a few frequent words."""
        r = self.r
        thing = r.choice(ABOUT) if r.random() < 0.5 else r.choice([*NAMES, *self.w["words"][:5000]])
        if r.random() < 0.6:
            return r.choice(ASKS).format(thing)
        return " ".join(r.choices(self.w["words"], k=r.randint(1, 7)))

    def intents(self) -> Json:
        """Return what the intent catcher found: mostly nothing."""
        r = self.r
        found = r.sample(self.w["intents"], r.choice((0, 0, 0, 1, 1, 2)))
        return {
            intent: {"detected": int(intent in found), "confidence": 0.9}
            for intent in self.w["intents"]
        }

    def likely(self, classifier: str) -> dict[str, float]:
        """Return likelihoods of the labels of a classifier."""
        r, names = self.r, self.w["classes"][classifier]
        found = {name: round(r.random() * 0.3, 3) for name in names}
        found[r.choice(names)] = round(r.uniform(0.3, 1), 3)
        return found

    def some(self, classifier: str) -> list[str]:
        """Return one or two labels of a classifier."""
        return self.r.sample(self.w["classes"][classifier], self.r.choice((1, 1, 2)))

    def annotations(self, text: str) -> Iterator[tuple[str, Any]]:
        """Yield what annotators found."""
        r = self.r
        topics, acts = "cobot_topics", "cobot_dialogact_intents"
        kinds: list[tuple[float, str, Any]] = [
            (0.7, "intent_catcher", self.intents),
            (0.45, "combined_classification", self.combined),
            (0.25, topics, lambda: {"text": self.some(topics)}),
            (0.15, "cobot_dialogact", lambda: {"topics": self.some("cobot_dialogact_topics")}),
            (0.1, "cobot_dialogact", lambda: {"intents": self.some(acts)}),
            (0.1, acts, lambda: {"text": self.some(acts)}),
            (0.1, "cobot_dialogact_topics", lambda: {"text": self.some("cobot_dialogact_topics")}),
            (0.15, "midas_classification", lambda: [self.likely("midas_classification")]),
            (0.1, "midas_classification", lambda: self.likely("midas_classification")),
            (0.2, "emotion_classification", lambda: self.likely("emotion_classification")),
            (
                0.1,
                "emotion_classification",
                lambda: {"text": self.likely("emotion_classification")},
            ),
            (0.2, "factoid_classification", lambda: self.likely("factoid_classification")),
            (0.4, "entity_detection", lambda: self.entities(text)),
            (0.2, "cobot_entities", lambda: self.entities(text)),
            (0.3, "spacy_nounphrases", lambda: r.sample(text.split() or ["x"], 1)),
            (0.4, "ner", self.named),
            (0.35, "wiki_parser", self.wiki),
            (0.3, "rake_keywords", lambda: r.sample(self.w["words"], r.randint(0, 5))),
            (0.1, "prompt_selector", lambda: {"prompts": r.sample(("tea", "nutrition"), 1)}),
            (0.15, "news_api_annotator", lambda: [{"entity": r.choice(NAMES), "title": "x"}]),
            (0.1, "asr", lambda: {"asr_confidence": r.choice(("high", "medium", "very_low"))}),
            (0.1, "comet_conceptnet", lambda: {"x": {"SymbolOf": [r.choice(("pain", "joy"))]}}),
        ]
        return ((name, make()) for part, name, make in kinds if r.random() < part)

    def combined(self) -> Any:
        """Return what the combined classifiers found."""
        names = [one for one in self.w["classes"] if one != "topics_ru"]
        found = {name: self.likely(name) for name in names if self.r.random() < 0.9}
        return found if self.r.random() < 0.8 else [found]

    def entities(self, text: str) -> Json:
        """Return entities with labels."""
        r = self.r
        words = [*r.sample(text.split() or ["x"], 1), *r.sample(NAMES, r.choice((0, 1)))]
        labelled = [{"text": word, "label": r.choice(ENTITY_LABELS)} for word in words]
        return {"entities": words, "labelled_entities": labelled}

    def named(self) -> list[list[Json]]:
        """Return named entities, a list for each sentence."""
        r = self.r
        kinds = ("PER", "LOC", "ORG", "MISC")
        found = r.sample(NAMES, r.choice((0, 1, 1, 2)))
        return [[{"text": one, "type": r.choice(kinds), "confidence": 1.0} for one in found]]

    def wiki(self) -> Json:
        """Return what is known of entities."""
        r = self.r

        def known() -> Json:
            kinds = [[r.choice(self.w["types"]), "a"], [f"Q{r.randint(1, 999)}", "b"]]
            jobs = [[r.choice([*self.w["jobs"], "Q1"]), "c"] for _ in range(r.choice((0, 1, 2)))]
            return {
                "instance of": kinds[: r.choice((0, 1, 2))],
                "types_2hop": kinds[: r.choice((0, 0, 1))],
                **({"occupation": jobs} if jobs else {}),
                "pos": r.choice((0, 0, 1)),
                "conf": round(r.random(), 2),
                "token_conf": round(r.random(), 2),
                "entity_label": "x",
                "plain_entity": "Q1",
            }

        kinds = ("entities_info", "topic_skill_entities_info", "wiki_skill_entities_info")
        return {
            kind: {name: known() for name in r.sample(NAMES, r.choice((0, 1, 2)))} for kind in kinds
        }


# -- the comparison -----------------------------------------------------------------------------


def pipelines(paths: list[Path]) -> dict[str, set[str]]:
    """Return the skills of each pipeline that has the rule-based selector, by its name."""
    found: dict[str, set[str]] = {}
    files = [
        file for path in paths for file in (sorted(path.iterdir()) if path.is_dir() else [path])
    ]
    for file in files:
        if file.name.endswith(".jsonl.gz"):
            with gzip.open(file, "rt") as lines:
                for row in map(json.loads, lines):
                    dialog = row.get("in")
                    names = dialog.get("attributes", {}) if isinstance(dialog, dict) else {}
                    labels = names.get("pipeline", ())
                    if (
                        ":" not in row.get("pipeline", ":")
                        and "skill_selectors.rule_based_selector" in labels
                    ):
                        skills = {
                            label.split(".")[1] for label in labels if label.startswith("skills.")
                        }
                        found[row["pipeline"]] = skills
        elif file.suffix == ".json" and CLASS in (text := file.read_text()):
            services = json.loads(text)["services"]
            found[file.stem] = set(services["skills"])
    return found


def compare(arguments: argparse.Namespace) -> int:
    """Ask both of each dialog and print a row for each pipeline; 1 where one falls short."""
    from prolocutor.plugins.deeppavlov.python_connectors.built_in_connectors import (
        RuleBasedSelector,
    )
    from prolocutor.plugins.deeppavlov.python_connectors.environment import DreamEnvironment

    found = pipelines(arguments.pipelines)
    every = sorted(set().union(*found.values()))
    select = RuleBasedSelector(DreamEnvironment())
    command = [arguments.python, __file__, "--serve-dream"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    with subprocess.Popen(
        command,
        cwd=arguments.dream,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as dream:
        assert dream.stdin is not None
        assert dream.stdout is not None
        words = json.loads(dream.stdout.readline())
        maker = Maker(words, every, arguments.seed)
        equal: Counter[str] = Counter()
        calls: Counter[str] = Counter()
        missed: Counter[str] = Counter()
        extra: Counter[str] = Counter()
        for number in range(arguments.dialogs):
            dialog = maker.dialog()
            dialog["attributes"] = {"pipeline": [f"skills.{one}" for one in every]}
            dream.stdin.write(json.dumps(dialog) + "\n")
            dream.stdin.flush()
            theirs = set(json.loads(dream.stdout.readline()))
            ours = set(select({"states_batch": [json.loads(json.dumps(dialog))]}))
            for name, skills in found.items():
                both = [(one & skills if one else skills) for one in (theirs, ours)]
                equal[name] += both[0] == both[1]
                calls[name] += len(both[0])
                missed[name] += len(both[0] - both[1])
                extra[name] += len(both[1] - both[0])
            wrong = (theirs ^ ours) & {*every}
            for skill in theirs - ours if wrong else ():
                missed[f"- {skill}"] += 1
            for skill in ours - theirs if wrong else ():
                extra[f"+ {skill}"] += 1
            if arguments.show and wrong & {arguments.show}:
                newest = dialog["human_utterances"][-1]
                said = [utterance["text"] for utterance in dialog["bot_utterances"][-1:]]
                print(
                    number, newest["text"], said, sorted(wrong), json.dumps(newest["annotations"])
                )
        dream.stdin.close()
    print(
        f"| pipeline | skills | equal of {arguments.dialogs:,} | DREAM asks | not asked | extra |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    for name, skills in sorted(found.items()):
        share = 100 * equal[name] / arguments.dialogs
        row = (len(skills), f"{share:.1f} %", calls[name], missed[name], extra[name])
        print(f"| {name} | " + " | ".join(map(str, row)) + " |")
    for which in (missed, extra):
        print(", ".join(f"{name} {n}" for name, n in which.most_common() if name[0] in "+-") or "-")
    return int(any(equal[name] < 0.98 * arguments.dialogs for name in found))


def main() -> int:
    """Compare as the command line says."""
    if sys.argv[1:] == ["--serve-dream"]:
        serve_dream()
        return 0
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dream", type=Path, required=True)
    parser.add_argument("--pipelines", type=Path, nargs="+", required=True)
    parser.add_argument("--dialogs", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--python", default=sys.executable, help="the Python that runs DREAM's code"
    )
    parser.add_argument("--show", help="a skill whose differences are printed")
    return compare(parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
