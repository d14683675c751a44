"""The arguments, options and help of each command, in a file of its name; the work is in the file of that name in cli.

Every spaCy command imports this folder when it starts, so each command imports its work when it runs.
"""

__all__: list[str] = []
