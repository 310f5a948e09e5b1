"""A fruit as what a person is asked for."""

from typing import Annotated, Any

import msgspec

from prolocutor.asks.answers import AnswerContext, NotUnderstood, Outcome, Understood
from prolocutor.bounds import about


class Fruit(msgspec.Struct, frozen=True):
    """A fruit."""

    kinds: Annotated[tuple[str, ...], about("The fruits that there are.")] = ("apple", "pear")

    @property
    def hint(self) -> str:
        return f"I'm looking for a fruit: {', '.join(self.kinds)}."

    def build(self, context: None) -> "Fruit":
        return self

    def read(self, text: str, context: AnswerContext) -> Outcome:
        fruit = text.strip().lower()
        return Understood(fruit) if fruit in self.kinds else NotUnderstood(self.hint)

    def take(self, type_name: str, value: Any, context: AnswerContext) -> Outcome:
        return self.read(str(value), context)
