"""Answers of language models: parses as JSON, aligned with the words of a sentence and turned into its best tree."""

from .decoding import DecodedAnswer, decode_answer
from .reading import Answer, Fault, read_answer

__all__ = ["Answer", "DecodedAnswer", "Fault", "decode_answer", "read_answer"]
