"""A bot in lines of JSON: `bot.py BEHAVIOUR`, one of `prolocutor.testing.behaviours`."""

import json
import sys

from prolocutor.testing import behaviours

act = getattr(behaviours, sys.argv[1])
for line in sys.stdin:
    print(json.dumps(act(json.loads(line))), flush=True)
