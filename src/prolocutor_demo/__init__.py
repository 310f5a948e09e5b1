"""The thirteen agents of the demo assistant, one package or module each, independent of each other.

calculator, units, clock, days, currency, countries, holidays, dictionary, jokes, todo, timer,
chance, small_talk; a guide for what none of them knows, and a demonstration for those who try
clients. `assistant/` holds the YAML that makes one assistant of them, `together/` what makes one
reply of their answers, `reading/` what several of them read with.
"""
