"""The contract tests of stores, one file for each part of `contracts/store`."""
