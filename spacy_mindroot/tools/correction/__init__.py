"""Finds what to annotate, and what to correct, first."""

__all__: list[str] = []
