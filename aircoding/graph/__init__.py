"""The task graph: plans, waves, write areas. Pure."""
