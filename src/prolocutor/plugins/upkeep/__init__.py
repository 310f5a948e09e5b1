"""Commands for those who keep a store: its dialogs, its keys, its audit trail."""
