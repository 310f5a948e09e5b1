"""Public kits and fakes for authors of plug-ins."""
