"""An editor that speaks ACP starts an assistant and talks to it, by the protocol's own library."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sdk_environment import SdkError, sdk_script

KIT = Path(__file__).parents[3] / "conformance" / "assistant.yaml"
COMMAND = [sys.executable, "-m", "prolocutor", "acp", str(KIT)]


async def talk(*texts: str, **options: Any) -> Any:
    async with sdk_script("acp_client") as editor:
        return await editor.call("talk", command=COMMAND, texts=texts, **options)


def words(shown: list[list[str]], kind: str = "agent_message_chunk") -> list[str]:
    return [text for update, text in shown if update == kind]


async def test_an_editor_is_shown_the_reply_and_who_was_asked() -> None:
    found = await talk("hello")

    assert found["version"] == 1
    assert found["reasons"] == ["end_turn"]
    assert words(found["shown"]) == ["You said: hello"]
    assert sorted(set(words(found["shown"], "tool_call_update"))) == ["completed", "failed"]


async def test_a_question_is_answered_by_the_next_prompt() -> None:
    found = await talk("ask me", "Ann")

    assert words(found["shown"]) == ["What is your name?", "Hello, Ann!"]


async def test_a_turn_that_is_cancelled_says_so() -> None:
    found = await talk("take long", stops_at="Asking slow")

    assert found["reasons"] == ["cancelled"]


async def test_a_session_that_is_loaded_shows_what_was_said() -> None:
    found = await talk("hello", again=True)

    assert found["shown"] == [
        ["user_message_chunk", "hello"],
        ["agent_message_chunk", "You said: hello"],
    ]


async def test_a_session_that_nobody_began_is_refused() -> None:
    async with sdk_script("acp_client") as editor:
        with pytest.raises(SdkError, match="there is no session 'none'"):
            await editor.call("stray", command=COMMAND)


async def test_what_is_no_message_gets_an_error_and_ends_nothing() -> None:
    lines = [
        b"nonsense",
        b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}',
        b'{"jsonrpc": "2.0", "id": 2, "method": "session/prompt", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 3, "method": "session/new", "params": {}}',
    ]
    process = await asyncio.create_subprocess_exec(
        *COMMAND, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate(b"\n".join(lines) + b"\n")

    codes = [b"-32700", b"-32601", b"-32602", b"sessionId"]
    assert [code in said for code in codes] == [True] * 4
    assert process.returncode == 0
