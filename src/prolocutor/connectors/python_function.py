"""PythonFunction: the options of a service that is a Python function.

They stand apart from the connector, which is compiled: a compiled Struct forgets `kw_only`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, ClassVar

from prolocutor.bounds import about
from prolocutor.connectors.python import PythonConnector
from prolocutor.contracts.connector import AgentOptions, Connector, ServiceContext
from prolocutor.errors import ConfigError
from prolocutor.functions import resolve
from prolocutor.plan.pipeline import Call


class PythonFunction(AgentOptions, frozen=True, kw_only=True):
    """A function in this process.

    An object with a method `with_skills` is asked for the function to call, given the skills of the
    pipeline (`AgentProfile`).
    """

    main: ClassVar[str] = "function"
    beside: ClassVar[tuple[str, ...]] = ("inline", "process")

    function: Annotated[
        str | Callable[..., Any],
        about("The function; in a file as module:function.", what="module:function"),
    ]
    inline: Annotated[
        bool, about("Whether a quick plain function is called in the event loop, without a thread.")
    ] = False
    process: Annotated[
        bool, about("Whether it runs in a child process of its own, killed at its time-out.")
    ] = False

    def __post_init__(self) -> None:
        """Refuse contradictory options."""
        if self.inline and self.process:
            raise ConfigError("a service is inline or has a process, not both", key="inline")

    def build(self, context: ServiceContext) -> Connector:
        """Make the connector; a name is imported."""
        if self.process:
            return context.connect(Call(self.function, "process"))
        function = resolve(self.function) if isinstance(self.function, str) else self.function
        if (known := getattr(function, "with_skills", None)) is not None:
            function = known(context.skills)
        return PythonConnector(
            function,
            name=context.name,
            batched=context.batched,
            inline=self.inline,
            together=context.together,
            max_threads=context.max_in_flight,
        )
