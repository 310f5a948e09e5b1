"""Schemathesis against all doors: no error of the server, and answers as the document has them.

It has an environment of its own, `build/fuzz` (`make fuzz` makes it), or `PROLOCUTOR_FUZZERS`.
"""

import asyncio
import os
from pathlib import Path

import pytest

from prolocutor.testing.channel_kit import Gate, pipeline
from tests.fuzz.rounds import FIRST, SECONDS, patience
from tests.fuzz.served import served

ROOT = Path(__file__).parents[2]
PROGRAM = Path(os.environ.get("PROLOCUTOR_FUZZERS", ROOT / "build" / "fuzz")) / "bin" / "st"
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,"
    "response_schema_conformance,allow_header_conformance"
)
FEW = "^/(api/(visitor|converse|parse|user|dialogs|turns)|auth|uploads|v1/chat|a2a)"


@pytest.mark.skipif(not PROGRAM.is_file(), reason="schemathesis (no build/fuzz: make fuzz)")
async def test_answers_are_as_the_document_has_them() -> None:
    length = ["--max-time", str(int(SECONDS))] if SECONDS else ["--include-path-regex", FEW]
    phases = "coverage,fuzzing,stateful" if SECONDS else "fuzzing"
    async with asyncio.timeout(patience()), served(pipeline(Gate())) as it:
        it.watch.doing = "schemathesis"
        # It tries every operation with what fits its schema and with what does not.
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            *("run", f"{it.url}/openapi.json", "--phases", phases, "--checks", CHECKS),
            *("--max-examples", "100" if SECONDS else "3", "--seed", str(FIRST)),
            *("--warnings", "off", "--continue-on-failure", *length),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=ROOT / "build",
        )
        told, _ = await process.communicate()
    assert process.returncode == 0, told.decode(errors="replace")[-8_000:]
