"""PipelineFileFormat: a pipeline file of DeepPavlov Agent in the place of our YAML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from prolocutor.cli.lazy_group import import_object
from prolocutor.config.loading import Survey

_SERVICES: Final = re.compile(rb"^services\s*:", re.MULTILINE)
_SKILLS: Final = re.compile(rb"^skills\s*:", re.MULTILINE)


class PipelineFileFormat(msgspec.Struct, frozen=True):
    """A `pipeline_conf.json` of DeepPavlov Agent, or the same as YAML."""

    refusal: ClassVar[str] = (
        "is a pipeline of DeepPavlov Agent; prolocutor convert makes YAML of it"
    )

    def recognizes(self, path: Path) -> bool:
        """Return whether it is JSON, or YAML with `services` and no `skills` at its top."""
        if path.suffix.lower() == ".json":
            return True
        try:
            data = path.read_bytes()
        except OSError:
            return False
        return bool(_SERVICES.search(data)) and not _SKILLS.search(data)

    def survey(self, path: Path, code: Path | None) -> Survey:
        """Read it as it stands; `code` is the folder of DREAM's own code."""
        survey = import_object("prolocutor.plugins.deeppavlov.survey:survey_deeppavlov")
        read: Survey = survey(path, code)
        return read
