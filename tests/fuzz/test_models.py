"""Folders of models that were tampered with, also by who knows the checksums: read, or refused."""

import hashlib
import json
import os
import pickle
import random
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from prolocutor.contracts.pairing import Card, UserQuestion
from prolocutor.errors import ConfigError, NotFound
from prolocutor.plugins.pairing import model_files
from prolocutor.plugins.pairing.model_files import HEAD, load_model, save_model
from prolocutor.plugins.pairing.question_agent.learned import LearnedRouter
from prolocutor.plugins.pairing.question_agent.loaded_router import load_router_model
from prolocutor.plugins.pairing.question_agent.router_label import RouterLabel
from tests.fuzz.odd_values import BODIES, odd_value
from tests.fuzz.rounds import rounds

CARDS = [Card(name="red"), Card(name="blue")]
ran: list[str] = []


def run_by_a_pickle(what: str) -> None:
    ran.append(what)


class Bomb:
    def __reduce__(self) -> Any:
        return run_by_a_pickle, ("a model ran code",)


def array_file(chance: random.Random) -> bytes:
    """Write an array in NumPy's format with a head that lies."""
    shape = chance.choice(["(3,)", "(2**60,)", "(-1,)", "(0,)", "(10**9, 10**9)", "('a',)", "()"])
    kind = chance.choice(["<f4", "|O", "<U9", "<f8", "object"])
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    if chance.random() < 0.2:
        head = b"(" * 9_000
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + pickle.dumps(Bomb())


def tamper(folder: Path, chance: random.Random) -> None:
    """Change one file, or the head; the checksums are made right again most of the time."""
    files = sorted(file for file in folder.iterdir() if file.name != HEAD)
    head = json.loads((folder / HEAD).read_text())
    file = chance.choice(files)
    data = bytearray(file.read_bytes())
    match chance.randrange(7):
        case 0:
            for _ in range(3 if data else 0):
                data[chance.randrange(len(data))] = chance.randrange(256)
        case 1:
            data = bytearray(chance.choice(BODIES))
        case 2:
            data = bytearray(json.dumps(odd_value(chance)).encode("utf-8", "replace"))
        case 3:
            data = bytearray(pickle.dumps(Bomb()))
        case 4:
            name = chance.choice(["lessons.npy", "terms.npy", "weights.npy", f"{file.stem}.npy"])
            if isinstance(head.get("files"), dict):
                head["files"].pop(file.name, None)
            file.unlink()
            file, data = folder / name, bytearray(array_file(chance))
        case 5:
            head[chance.choice(sorted(head))] = odd_value(chance)
        case 6:
            place = chance.choice(
                ["../../etc/passwd", "/dev/zero", "a/b.json", "model.json", ".npy"]
            )
            if isinstance(head.get("files"), dict):
                head["files"][place] = ""
    file.write_bytes(bytes(data))
    if isinstance(head.get("files"), dict):
        head["files"][file.name] = hashlib.sha256(bytes(data)).hexdigest()
    if chance.random() < 0.8:
        with suppress(msgspec.ValidationError, UnicodeError):
            head["checksum"] = model_files._checksum(msgspec.convert(head, model_files._Head))
    (folder / HEAD).write_bytes(json.dumps(head).encode("utf-8", "surrogatepass"))


def test_a_tampered_model_is_read_or_refused_and_runs_nothing(tmp_path: Path) -> None:
    router = LearnedRouter(CARDS)
    texts = ["Where is the key?", *(f"Where is key {n} of house {n * n}?" for n in range(40))]
    router.learn_all(RouterLabel(text, {"red": 1.0}) for text in texts)
    read = refused = 0
    for number, chance in enumerate(rounds(40)):
        folder = tmp_path / "m"
        save_model(folder, router.to_model())
        for _ in range(1 + number % 2):
            tamper(folder, chance)
        try:
            loaded = load_router_model(folder, CARDS)
        except (ConfigError, NotFound):
            refused += 1
            continue
        read += 1
        loaded.router.route(UserQuestion(text="Where is the key?"))
    assert refused > 0
    assert read > 0
    assert ran == []


def test_a_model_is_made_of_ordinary_files_of_a_size_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    router = LearnedRouter(CARDS)
    folder = tmp_path / "m"
    for replace in (os.mkfifo, Path.mkdir, lambda file: file.symlink_to("/dev/zero")):
        save_model(folder, router.to_model())
        file = next(file for file in sorted(folder.iterdir()) if file.name != HEAD)
        file.unlink()
        replace(file)
        with pytest.raises(ConfigError, match="not an ordinary file"):
            load_model(folder)
        if file.is_dir():
            file.rmdir()
        else:
            file.unlink()
        file.write_bytes(b"")
    save_model(folder, router.to_model())
    monkeypatch.setattr(model_files, "MAX_PART", 1)
    with pytest.raises(ConfigError, match="at most 1 in one file"):
        load_model(folder)
