"""Measures, pictures and reports of what the root constraint changes on a corpus. Nothing here writes to a Doc."""

__all__: list[str] = []  # import the modules themselves
