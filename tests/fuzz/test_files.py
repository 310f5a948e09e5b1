"""Files of assistants in which anything may stand: they load, or are refused with their faults."""

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml

from prolocutor.config.file_check import check
from prolocutor.config.loading import load
from prolocutor.config.yaml_file import ConfigFaults
from tests.fuzz.odd_values import odd_value
from tests.fuzz.rounds import rounds

FULL = (Path(__file__).parents[1] / "data" / "config" / "full.yaml").read_text("utf-8")
PIECES = [
    "&a [*a]",
    "*a",
    "<<: {a: b}",
    "!!python/object/apply:os.system [ls]",
    "!!binary aGk=",
    "!!timestamp 2026-02-30",
    "? - a\n: b",
    "|\n  text",
    "${HOME}",
    "${A:-${B:-${C}}}",
    "0x1F",
    "1_000",
    ".inf",
    "2026-01-01",
    "\t",
    "\x00",
    "\ud83d",
    "---\n",
    "...",
    "%YAML 9.9",
    "[" * 300,
    "{a: " * 300,
    "a: &x {b: c}\n" + "".join(f"x{i}: &x{i} [*x, *x, *x, *x, *x, *x, *x, *x]\n" for i in range(9)),
    "e: ${" + "A" * 5_000 + "}",
]


def bombs() -> str:
    """Return aliases of aliases, which would be a billion nodes."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    return "\n".join(lines)


def changed(chance: random.Random) -> str:
    if chance.random() < 0.5:
        tree: Any = yaml.safe_load(FULL)
        node, key = tree, chance.choice(sorted(tree))
        while isinstance(node[key], dict | list) and node[key] and chance.random() < 0.8:
            node = node[key]
            key = chance.choice(sorted(node)) if isinstance(node, dict) else 0
        node[key] = odd_value(chance)
        return yaml.safe_dump(tree, allow_unicode=True)
    text = FULL
    for _ in range(chance.choice([1, 1, 3])):
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice(PIECES) + text[at + chance.randrange(30) :]
    return text


def test_a_file_loads_or_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "assistant.yaml"
    for number, chance in enumerate(rounds(8)):
        text = bombs() if number == 0 else changed(chance)
        file.write_bytes(text.encode("utf-8", "surrogatepass"))
        with suppress(ConfigFaults):
            load(file, environ={"A": "${B}", "HOME": "/x: [y"})
        assert check(str(file), environ={}).lines() is not None
