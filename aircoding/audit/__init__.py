"""Questions over manifests: why, why not, who saw, what changed. Pure."""
