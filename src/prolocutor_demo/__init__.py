"""The thirteen agents of the demo assistant, one package or module each, independent of each other.

calculator, units, clock, days, currency, countries, holidays, dictionary, jokes, todo, timer,
chance and small_talk. Beside them a guide answers what no other agent can, and a demonstration
serves to try clients. `assistant/` has the YAML file that makes one assistant of them, `reading/`
what several of them share.
"""
