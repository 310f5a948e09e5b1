"""Learns the phrasings of the demo's agents, and writes what was learned beside them.

`make phrasings` runs it whenever phrasings have changed; the assistant starts in an instant then.
"""
