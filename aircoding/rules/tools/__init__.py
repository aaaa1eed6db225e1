"""What other coding agents make of a project's rule files, told from the files alone: no tool is run."""
