"""Composition: the only room that knows all others."""
