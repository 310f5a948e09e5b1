"""Parts shared by several connectors."""
