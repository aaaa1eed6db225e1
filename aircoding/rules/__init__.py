"""Rule text: front matter, sections, globs, identity and precedence. Pure."""
