"""What would let a candidate in that stayed out: one sentence per reason, with the place to change."""

from __future__ import annotations

from aircoding.records.layers import Layer, OutcomeKind, Reason
from aircoding.records.manifest import OutcomeRecord

__all__ = ["remedy"]


def remedy(note: OutcomeRecord) -> str:
    """Return what to change so that the candidate would be in; empty when it is in."""
    if note.outcome is OutcomeKind.INCLUDED or note.reason is None:
        return ""
    if note.reason is Reason.OVERRIDDEN and note.by.startswith(_RULING):
        conflict_id = note.by.removeprefix(_RULING)
        return f'a person ruled so: rule again with `aircoding conflicts rule {conflict_id} --winner ... "why"`'
    if note.reason is Reason.OVERRIDDEN and note.detail.startswith(_OF_EXTERNAL_TRUST):
        return "trust the project: `aircoding permissions trust`"
    if note.by == note.uri and note.layer is Layer.L3:
        own = _OF_SKILLS if note.uri.lower().endswith("/skill.md") else _OF_RULE_FILES
        if note.reason in own:
            return own[note.reason].format(uri=_plain(note.uri))
    return _REMEDIES[note.reason].format(place=_plain(note.by), uri=_plain(note.uri))


def _plain(uri: str) -> str:
    """Show a project path as a person would write it."""
    return uri.removeprefix("project:")


_RULING = "ruling:"
"""What `by` of an outcome begins with that a person's ruling made; the id of the conflict follows."""

_OF_EXTERNAL_TRUST = "text of external trust "
"""How the detail of an outcome begins where only trust kept a text from overriding another."""

_REMEDIES = {
    Reason.NOT_IN_PROFILE: "retrieve it in the role's profile ({place}), or ask another role",
    Reason.MODE: "assemble in mode full",
    Reason.PATH_NOT_MATCHED: "add a glob that matches the task's write area at {place}",
    Reason.TAG_NOT_MATCHED: "give the task one of the rule's tags, or change `tags` at {place}",
    Reason.TRIGGER_NOT_MATCHED: "use one of its triggers in the task, or change `triggers` at {place}",
    Reason.TOPIC_NOT_MATCHED: "name its topic in the request, or name the request's topic in a heading of {uri}",
    Reason.BUDGET: "mark it `required`, raise its priority, or use a model with a larger window",
    Reason.OVERRIDDEN: "{place} has the same identity at a later level: rename one, or change the text there",
    Reason.DUPLICATE: "nothing: the same text is in from {place}",
    Reason.QUARANTINED: "look at the lines that were blocked, and remove what the screener names",
    Reason.UNREADABLE: "make {uri} a readable regular file inside the project",
    Reason.INVALID: "correct {uri} at the line that the detail names",
    Reason.DISABLED: "change the key of the settings that the detail names",
    Reason.STALE: "read {uri} again: it has changed since the text was taken",
    Reason.PERMISSION: "change the policy line at {place}",
}

_OF_SKILLS = {
    Reason.TRIGGER_NOT_MATCHED: "give the skill `triggers` or `paths`, or let the worker read it with skill_read",
    Reason.BUDGET: "raise `[skills] index_chars` in config.toml, or shorten descriptions",
    Reason.OVERRIDDEN: "rename one of the two skills, or switch one off in config.toml",
    Reason.DUPLICATE: "nothing: the same file is in under its other name",
    Reason.DISABLED: "change what the detail names: `[skills]` in config.toml, or the header of the skill",
    Reason.PERMISSION: "trust the project: `aircoding permissions trust`",
}
"""What a skill's own file is barred for; a line of the prompt or of a policy decided the rest."""
_OF_RULE_FILES = {
    Reason.BUDGET: "shorten {uri}, raise `[rules] max_bytes`, or import it by fewer hops",
    Reason.PERMISSION: "approve the file for this project, as the detail says",
    Reason.NOT_IN_PROFILE: "give the role a tool to read {uri} with",
}
"""Where the reader of rule files itself left a file out (it names the file as who did so)."""
