"""Stores: each module here is one place where dialogs can be kept."""
