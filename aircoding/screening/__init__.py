"""Findings and secrets in text that enters. Pure."""
