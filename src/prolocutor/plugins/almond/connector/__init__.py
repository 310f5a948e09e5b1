"""The connector to Almond and Genie servers."""
