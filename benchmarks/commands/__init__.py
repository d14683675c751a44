"""The commands of `python -m benchmarks`, in files of their names: options, and the tables that are printed."""

__all__: list[str] = []
