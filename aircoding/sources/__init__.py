"""Edge: reads files, packaged resources and the plan, and freezes them into snapshots (DESIGN section 3)."""
