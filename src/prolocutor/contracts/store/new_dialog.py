"""What a dialog gets that does not exist yet."""

from __future__ import annotations

import msgspec

from prolocutor.dialog.ids import DialogId


class NewDialog(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Ids for a person and a dialog, used only where they do not exist yet.

    `human_id` becomes the `id` of the person's profile, `bot_id` of the bot's, `id` the dialog's
    `_id` in the agent state. `attributes` is the JSON object that a new dialog starts with.
    """

    human_id: str
    dialog_id: DialogId
    id: str
    bot_id: str
    attributes: bytes = b"{}"
