"""The contract tests of stores that replicas share, to be inherited."""
