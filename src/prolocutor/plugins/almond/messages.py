"""Almond's own messages, beside those that all doors know."""

from prolocutor.dialog.messages import NewProgram as NewProgram
from prolocutor.dialog.messages import Rdl as Rdl
from prolocutor.dialog.messages import RichLink as RichLink
from prolocutor.dialog.messages import Sound as Sound
