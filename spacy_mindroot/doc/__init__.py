"""What is read from and written to a Doc: extension attributes, sentences, heads, alignment."""

__all__: list[str] = []
