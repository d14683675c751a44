"""Pictures of trees as SVG: layout, arcs, and parses with the probability of each arc. Nothing here writes to a Doc."""

__all__: list[str] = []  # import the modules themselves
