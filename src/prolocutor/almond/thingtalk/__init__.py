"""ThingTalk: the commands that Almond clients send, its language, its bookkeeping."""
