"""Programs in ThingTalk: run in turns, watching and ringing between them."""
