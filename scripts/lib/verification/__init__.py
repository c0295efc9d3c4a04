"""Checks of what Tintype decodes and encodes, by programs and arithmetic that share no code with it."""
