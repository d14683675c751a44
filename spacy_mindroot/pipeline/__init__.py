"""The spaCy component `mind_root`, its input from a Doc (sources, reading), and its output to a Doc (annotate)."""

__all__: list[str] = []  # import the modules themselves
