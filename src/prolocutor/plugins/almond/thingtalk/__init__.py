"""ThingTalk, the language of programs: grammar, tree, checker, printer."""
