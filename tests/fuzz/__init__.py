"""Fuzzing: `python -m tests.fuzz TARGET --seconds N`. See CONTRIBUTING.md."""
