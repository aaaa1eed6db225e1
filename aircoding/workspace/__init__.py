"""Edge: git, worktrees, files, processes, sandboxes."""
