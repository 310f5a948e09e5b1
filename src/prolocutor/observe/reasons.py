"""Reasons: why skills were asked, as it may be shown to those who are not to read others' words."""

from __future__ import annotations

from prolocutor.contracts.observer import Reason


def without_quotes(reason: Reason) -> Reason:
    """Return a reason without what stands in brackets at its end, where people may be quoted."""
    return {**reason, "reason": reason["reason"].partition(" (")[0]}
