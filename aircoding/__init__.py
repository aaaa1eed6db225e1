"""AirCoding: drive fleets of coding agents, and say for every byte an agent saw where it came from."""

__version__ = "0.1.0"
