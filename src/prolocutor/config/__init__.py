"""From a YAML file to settings to an assistant; the one package that knows all others by name."""
