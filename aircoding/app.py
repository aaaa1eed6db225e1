"""Composition root: the only module that knows which edge is used."""
