"""Parses corpora that outgrow one process: in shards, on one machine or on a Dask cluster, resumable at any time."""

from .jobs import ParseSummary, WorkerSummary
from .parse import parse_corpus

__all__ = ["ParseSummary", "WorkerSummary", "parse_corpus"]
