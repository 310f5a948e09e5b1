"""Telegram: a door for a bot of Telegram, by long polling of the Bot API."""
