"""Pairing questions with agents before they are asked, and with answers after."""
