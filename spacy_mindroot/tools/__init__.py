"""Tools that work on annotated sentences: audit, correction, evaluation, drawing and building."""

__all__: list[str] = []
