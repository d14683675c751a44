"""Pipelines for UD treebanks, and the scoreboard that compares them with other parsers."""
