"""The contract tests of shared stores, to be inherited."""
