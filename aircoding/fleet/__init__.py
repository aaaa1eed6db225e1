"""Many sessions: the scheduler, the attempts, the merge queue, and the durable engine."""
