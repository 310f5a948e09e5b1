"""Reasons why skills were asked, without the texts of users."""

from __future__ import annotations

from prolocutor.contracts.observer import Reason


def without_quotes(reason: Reason) -> Reason:
    """Return a reason without the brackets at its end, which may quote a user."""
    return {**reason, "reason": reason["reason"].partition(" (")[0]}
