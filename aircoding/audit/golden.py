"""Goldens: what of a context matters and repeats, in a form that people can read, and how it differs now. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aircoding.audit.views import View

__all__ = ["golden_changes", "golden_document", "golden_text"]

_VERSION = 1


def golden_document(views: Mapping[str, View]) -> dict[str, Any]:
    """Return what is kept of some views, each by its subject: no clock, no run, no machine is in it."""
    return {"version": _VERSION, "contexts": {subject: _context(view) for subject, view in views.items()}}


def _context(view: View) -> dict[str, Any]:
    return {
        "segments": [
            {
                "segment": part.place,
                "layer": part.layer,
                "scope": part.scope,
                "form": part.form,
                "text_digest": part.text_digest,
            }
            for part in view.parts
        ],
        "omissions": {one.place: f"{one.outcome}: {one.reason}" for one in view.left_out},
        "conflicts": list(view.conflicts),
        "tokens": dict(view.layer_tokens),
    }


def golden_text(document: Mapping[str, Any]) -> str:
    """Return the text of a golden: a line a segment, so that a version control shows what changed."""
    parts = []
    for subject, context in document["contexts"].items():
        rows = ",\n".join(f"        {_line(row)}" for row in context["segments"])
        segments = f"[\n{rows}\n      ]" if rows else "[]"
        more = {key: context[key] for key in ("omissions", "conflicts", "tokens")}
        rest = json.dumps(more, ensure_ascii=False, indent=2).replace("\n", "\n    ")[1:-1].strip()
        parts.append(f'    {_line(subject)}: {{\n      "segments": {segments},\n      {rest}\n    }}')
    inner = ",\n".join(parts)
    text = f'{{\n  "version": {document["version"]},\n  "contexts": {{\n{inner}\n  }}\n}}\n'
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def golden_changes(kept: object, now: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what `--update` would change, a line each; nothing where they agree.

    `kept` is whatever the file held; one that is no golden is one change.
    """
    if not isinstance(kept, dict) or kept.get("version") != _VERSION or not isinstance(kept.get("contexts"), dict):
        return ("! the file is no golden of this version",)
    if kept == json.loads(json.dumps(now)):
        return ()
    lines: list[str] = []
    for subject in {**kept["contexts"], **now["contexts"]}:
        old, new = kept["contexts"].get(subject), now["contexts"].get(subject)
        if old != new:
            lines += [f"@ {subject}", *_context_changes(old, new)]
    return tuple(lines) or ("! the file was changed by hand",)


def _context_changes(old: Any, new: Any) -> list[str]:
    if new is None:
        return ["- the whole context"]
    if not _is_context(old):
        return ["+ the whole context"]
    before = {row.get("segment", ""): row for row in old["segments"] if isinstance(row, dict)}
    after = {row["segment"]: row for row in new["segments"]}
    lines = [f"- {_segment(row)}" for place, row in before.items() if place not in after]
    lines += [f"+ {_segment(row)}" for place, row in after.items() if place not in before]
    lines += [f"~ {_changed(before[place], row)}" for place, row in after.items() if before.get(place, row) != row]
    kept_places = [place for place in before if place in after]
    if kept_places != [place for place in after if place in before]:
        lines.append("~ the order of the segments")
    for name, sign in (("omissions", "!"), ("tokens", "#")):
        was, now = old[name], new[name]
        for key in sorted({*was, *now}):
            if was.get(key) != now.get(key):
                lines.append(f"{sign} {key}: {was.get(key, 'not there')} -> {now.get(key, 'not there')}")
    lines += [f"! a contradiction is gone: {one}" for one in old["conflicts"] if one not in new["conflicts"]]
    lines += [f"! a new contradiction: {one}" for one in new["conflicts"] if one not in old["conflicts"]]
    return lines


def _is_context(value: Any) -> bool:
    shape = {"segments": list, "omissions": dict, "tokens": dict, "conflicts": list}
    return isinstance(value, dict) and all(isinstance(value.get(key), kind) for key, kind in shape.items())


def _segment(row: Mapping[str, Any]) -> str:
    return f"{row.get('layer', '')} {row.get('segment', '')} ({row.get('form', '')})".strip()


def _changed(old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    what = [f"{key} {old.get(key)} -> {new[key]}" for key in ("layer", "scope", "form") if old.get(key) != new[key]]
    if old.get("text_digest") != new["text_digest"]:
        what.append(f"text {str(old.get('text_digest'))[:8]} -> {new['text_digest'][:8]}")
    return f"{_segment(new)}: {', '.join(what)}"
