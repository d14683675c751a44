"""Annotation by hand with a parser's help: the work on a file, without any server. `web` shows it in a browser."""

__all__: list[str] = []
