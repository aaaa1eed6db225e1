"""Settings: flag > environment > project > user > default (DESIGN section 10)."""
