"""The plan of an assistant: which services there are, what waits for what, what each is shown."""
