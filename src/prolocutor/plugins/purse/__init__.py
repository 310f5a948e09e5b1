"""A purse: the costs of services' calls, and their limits."""
