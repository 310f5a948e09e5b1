"""The only room that knows everybody's names: from a YAML file to settings to an assistant."""
