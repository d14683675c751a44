"""Readable versions of the compiled code in plain Python, for its readers and its tests."""
