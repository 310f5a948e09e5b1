"""The client of ACP's own library for Python: it starts an agent and talks to it."""

from typing import Any

from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block
from answering import answer


class Editor(Client):
    """An editor that notes what it is shown, and stops turns once `stops_at` is asked."""

    def __init__(self, stops_at: str | None) -> None:
        self.shown: list[list[str]] = []
        self.conn: Any = None
        self._stops_at = stops_at

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Note an update: its kind, and its words or the state of its call."""
        content = getattr(update, "content", None)
        words = getattr(content, "text", None) or getattr(update, "status", None)
        self.shown.append([update.session_update, words])
        if getattr(update, "title", None) == self._stops_at and self._stops_at:
            await self.conn.cancel(session_id=session_id)


async def talk(
    command: list[str], texts: list[str], stops_at: str | None = None, again: bool = False
) -> dict[str, Any]:
    """Say texts in one session; return why each turn ended, and what was shown.

    `again`: at last the session is loaded again, and only what that shows is returned.
    """
    editor = Editor(stops_at)
    async with spawn_agent_process(editor, *command) as (conn, _):
        editor.conn = conn
        hello = await conn.initialize(protocol_version=PROTOCOL_VERSION)
        session = (await conn.new_session(cwd="/", mcp_servers=[])).session_id
        reasons = []
        for text in texts:
            done = await conn.prompt(session_id=session, prompt=[text_block(text)])
            reasons.append(done.stop_reason)
        if again:
            editor.shown.clear()
            await conn.load_session(session_id=session, cwd="/", mcp_servers=[])
    return {"version": hello.protocol_version, "reasons": reasons, "shown": editor.shown}


async def stray(command: list[str]) -> str:
    """Prompt in a session that nobody began; the error says so."""
    async with spawn_agent_process(Editor(None), *command) as (conn, _):
        await conn.initialize(protocol_version=PROTOCOL_VERSION)
        await conn.prompt(session_id="none", prompt=[text_block("hi")])
    return "taken"


if __name__ == "__main__":
    answer(talk, stray)
