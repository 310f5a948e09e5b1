"""Public kits and fakes for whoever writes a plug-in."""
