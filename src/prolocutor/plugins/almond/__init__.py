"""Almond: ThingTalk, the programs written in it, and the door of the Almond Dialog API."""
