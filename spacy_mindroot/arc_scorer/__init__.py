"""The trainable component `arc_scorer`, which scores arcs for `mind_root`; its model is built with thinc."""

__all__: list[str] = []  # import the modules themselves
