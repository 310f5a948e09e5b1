"""From a YAML file to settings to an assistant; the only package that imports all others."""
