"""Composition root: the only package that knows which edge is used. Faces call it; it decides nothing."""
