"""The messages of A2A: version 1.0 as Structs, version 0.3 and its REST form as conversions."""
