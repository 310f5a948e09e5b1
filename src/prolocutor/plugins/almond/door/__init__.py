"""The door that speaks the Almond Dialog API, over WebSockets and over HTTP."""
