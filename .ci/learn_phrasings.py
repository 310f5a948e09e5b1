"""Learn the phrasings of the demo's agents, and write what was learned beside them.

`make phrasings` runs this after phrasings have changed; the assistant need not learn them when it
starts.
"""

from pathlib import Path

from prolocutor.config.loading import load
from prolocutor.contracts.connector import AgentProfile
from prolocutor.plan.pipeline import Stage
from prolocutor.plugins.language.follow_up.phrasings.learning import SUFFIX, write_weights
from prolocutor.plugins.language.follow_up.phrasings.loading import KEY, file_of
from prolocutor.plugins.language.follow_up.phrasings.reading import PhrasingReader
from prolocutor.reading.locales.locale import codes
from prolocutor_demo.reading.vocabulary import vocabulary

FILE = Path("src/prolocutor_demo/assistant/assistant.yaml")

skills = [one for one in load(FILE).pipeline.services_at(Stage.SKILL) if one.card_members.get(KEY)]
reader = PhrasingReader(
    [AgentProfile(name=one.name, card=one.card_members, vocabulary=vocabulary) for one in skills]
)
for code in codes():
    model, path = reader.model(code), file_of(str(skills[0].card_members[KEY]), code)
    write_weights(path.with_suffix(SUFFIX), model.name, model.weights)
