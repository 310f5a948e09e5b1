"""Almond's own message types, beside the types known to all doors."""

from prolocutor.dialog.messages import NewProgram as NewProgram
from prolocutor.dialog.messages import Rdl as Rdl
from prolocutor.dialog.messages import RichLink as RichLink
from prolocutor.dialog.messages import Sound as Sound
