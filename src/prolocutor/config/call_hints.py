"""Hints in place of a `call` in another program's form."""

from __future__ import annotations

import re
from typing import Final

_NAMED: Final = re.compile(r"(?P<who>[A-Za-z][\w.-]*)[:/](?!//)(?P<what>[\w./:-]+)")
_SCHEME: Final = re.compile(r"(?P<scheme>[a-z][a-z0-9+]*)://")

_MODELS: Final = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com/v1",
    "deepseek": "https://api.deepseek.com/v1",
    "gemini": "https://generativelanguage.googleapis.com/v1beta/openai",
    "google": "https://generativelanguage.googleapis.com/v1beta/openai",
    "groq": "https://api.groq.com/openai/v1",
    "lmstudio": "http://127.0.0.1:1234/v1",
    "mistral": "https://api.mistral.ai/v1",
    "ollama": "http://127.0.0.1:11434/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "together": "https://api.together.xyz/v1",
    "vllm": "http://127.0.0.1:8000/v1",
}
"""Where the models of a provider answer as OpenAI's do."""

_BARE_MODELS: Final = re.compile(
    r"(gpt-|o[1-9]\b|chatgpt|claude|llama|gemini|mistral|qwen)[\w.:-]*"
)
_CONNECTORS: Final = frozenset(
    {"a2a", "mcp", "rasa", "almond", "prolocutor", "parlai", "websocket", "command"}
)
_NAMED_OTHERWISE: Final = {
    "genie": "almond",
    "ws": "websocket",
    "socket": "websocket",
    "stdio": "command",
    "cmd": "command",
    "exec": "command",
    "run": "command",
    "shell": "command",
}
_SOCKETS: Final = frozenset({"ws", "wss"})
_IN_SCHEMES: Final = {"a2a": "a2a", "mcp": "mcp", "rasa": "rasa", "almond": "almond"}
_CONVERSATIONS: Final = ("/conversation", "/anonymous")
_NO_SCHEME: Final = re.compile(
    r"(localhost|\d{1,3}(\.\d{1,3}){3}|\[[0-9a-fA-F:]+\]|[\w-]+(\.[\w-]+)*(?=:\d))(:\d{1,5})?(/\S*)?"
)
_DOTTED: Final = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)+")
_PROGRAM: Final = re.compile(r"(\.{0,2}/\S*|(node|python3?|bash|sh|go|ruby|perl|deno|bun) )")


def call_hint(call: object) -> str | None:
    """Return the probable form of a wrong `call`, None if it cannot be guessed."""
    if isinstance(call, dict | list):
        starts = isinstance(call, list) or "run" in call
        return "for a program write connector: command (or mcp)" if starts else None
    if not isinstance(call, str):
        return None
    if scheme := _SCHEME.match(call):
        return _for_scheme(scheme["scheme"], call)
    if _PROGRAM.match(call):
        return f"for a program write connector: command, call: {{run: {call!r}}}"
    if _BARE_MODELS.fullmatch(call):
        return _for_model("openai" if call.startswith(("gpt", "o", "chat")) else "ollama", call)
    if _NO_SCHEME.fullmatch(call):
        return f"did you mean 'http://{call}'?"
    if _DOTTED.fullmatch(call):
        module, _, name = call.rpartition(".")
        return f"did you mean '{module}:{name}'?"
    found = _NAMED.fullmatch(call)
    who = found["who"].lower() if found else ""
    if found is None:
        return None
    if who in _MODELS:
        return _for_model(who, found["what"])
    who = _NAMED_OTHERWISE.get(who, who)
    if who == "command":
        return f"for a program write connector: command, call: {{run: {found['what']!r}}}"
    return f"write connector: {who}, call: {found['what']}" if who in _CONNECTORS else None


def _for_scheme(scheme: str, call: str) -> str | None:
    """Return the hint for an address with a scheme other than HTTP's."""
    if scheme in _SOCKETS:
        path = call.partition("://")[2].partition("?")[0].rstrip("/")
        if path.endswith(_CONVERSATIONS):
            return "write connector: almond (or websocket, for lines of JSON)"
        return "write connector: websocket (or almond)"
    connector, _, over = scheme.partition("+")
    if connector in _IN_SCHEMES:
        rest = call.partition("://")[2]
        return f"write connector: {connector}, call: {over or 'http'}://{rest}"
    return None


def _for_model(provider: str, model: str) -> str:
    url = _MODELS[provider]
    return f"for a model write connector: openai_chat, call: {{url: {url!r}, model: {model!r}}}"
