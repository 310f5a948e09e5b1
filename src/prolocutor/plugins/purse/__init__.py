"""A purse: what calls of services cost, and limits that they keep."""
