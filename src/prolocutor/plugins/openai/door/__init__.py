"""The door that speaks as OpenAI's API does: chat completions, responses, conversations."""
