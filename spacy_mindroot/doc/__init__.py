"""Reads from a Doc and writes to it: extension attributes, sentences, heads, alignment."""

__all__: list[str] = []
