"""Mutation testing of the C++ core."""
