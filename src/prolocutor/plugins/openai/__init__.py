"""OpenAI's API: models as skills, and the assistant as a model."""
