"""The spaCy component `mind_root`, with all that reads its input from a Doc (sources, reading) and writes its output (annotate)."""
