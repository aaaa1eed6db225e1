"""`aircoding context`: build prompts, show recorded ones, and put questions to them."""
