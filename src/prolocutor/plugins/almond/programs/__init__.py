"""Programs in ThingTalk: run in turns, and between turns when a monitor or timer is due."""
