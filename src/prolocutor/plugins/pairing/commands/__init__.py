"""The commands that train and measure routers and rankers."""
