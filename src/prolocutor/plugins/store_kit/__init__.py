"""The contract tests of stores, a file for each part of `contracts/store`."""
