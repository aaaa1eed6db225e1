"""The PermissionEngine: what may be done, judged before it is done. Pure."""
