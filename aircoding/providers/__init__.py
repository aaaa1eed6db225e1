"""Edge: ways to a model, and what each model can take."""
