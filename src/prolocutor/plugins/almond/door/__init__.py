"""The door for the Almond Dialog API, over WebSockets and HTTP."""
