"""The spaCy component `mind_root`, its input from a Doc (sources, reading), and its output to a Doc (annotate)."""
