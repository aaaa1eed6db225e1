"""Compression of small texts: what nearly all of them hold stands in a dictionary that both ends know (RFC 1951).

The dictionary is a part of the format: what was written with it must be readable for ever. So it is never changed;
another one would be added beside it.
"""

from __future__ import annotations

import zlib

from aircoding.errors import StoreError

__all__ = ["DICTIONARY", "deflate", "inflate"]

DICTIONARY = (
    b"    def __init__(self, name: str, value: int = 0) -> None:\n        if not isinstance(valu"
    b"e, str):\n            raise"
    b' ValueError(f"\nfrom __future__ import annotations\n\nimport \n\nclass \n    @property\n  '
    b"  return None\n    for each in"
    b" range(len(\n        self. = \n    with open(path) as file:\n    try:\n    except Exceptio"
    b"n as error:\n    assert "
    b" == \nconst  = () => {\n  return \nfunction \nexport \n## \n\n- Use `` for .\n- Never \n- Run `` before \n# \n"
    b'tests/test_.py::test_ PASSED [ 10%]\nFAILED  AssertionError\nTraceback (most recent call last):\n  File ", line '
    b'","claims":[],"findings":[],"barred":null,"relevance_terms":["src/"]},{"segment_id":"L6:pr'
    b'oject:src/.py:1-@","layer"'
    b':"L6","scope":"session","trust":"project","kind":"file","source":{"uri":"project:src/","di'
    b'gest":"","text_digest":"",'
    b'"start_line":1,"end_line":1,"revision":null},"text":"","title":"","excerpt":null,"referenc'
    b'e":null,"required":false,'
    b'"priority":0,"recency":0,"rule_id":null,"rule_kind":null,"identity":null,"level":0,"sequence":0,"native":true,'
    b'"confirmed":false,"paths":[],"paths_line":null,"tags":[],"tags_line":null,"triggers":[],"triggers_line":null,'
    b'"importers":[],"claims":[{"uri":"project:","digest":""}],"findings":[],"barred":null,"relevance_terms":[]}]'
    b'[{"segment_id":"L5:air:task/T1@","layer":"L5","scope":"session","trust":"user","kind":"tas'
    b'k","source":{"uri":"air:'
    b'task/T1"{"segment_id":"L9:resource:prompts/instructions/executor.md@","layer":"L9","scope"'
    b':"turn","trust":"builtin",'
    b'"kind":"instruction"{"session_id":"","role":"executor","model":"claude-","mode":"full","ta'
    b'sk":{"id":"T1","title":"",'
    b'"description":"","role":"executor","worker":"native","depends_on":[],"write_area":["src/**"],"denied_paths":[],'
    b'"reads":[],"acceptance":[],"verify":[],"priority":0,"tags":[],"retry":{"max_attempts":2,"escalate":["debugger"]},'
    b'"model":null,"max_cost_usd":null,"adr":[],"roles":[],"line":0},"worktree":"","base_commit":"","run_revision":"",'
    b'"instruction":"","dependencies":[],"evidence":[],"max_turns":40,"max_idle_turns":8,"max_co'
    b'st_usd":null}{"request":{'
    b'"run_id":"","run_revision":"","session_id":":1:executor:1","task_id":"T1","attempt":1,"rol'
    b'e":"executor","mode":"full"'
    b',"model":"claude-","turn":1,"epoch":1},"created_at":"2026-01-01T00:00:00.000000Z","fields"'
    b':{"profile":"","tools":"",'
    b'"policy":"","limits":[{"model":"claude-","window_tokens":200000,"max_output_tokens":8000,"'
    b'min_cache_prefix_tokens":'
    b'1024,"cache_marks":true,"system_turns":false,"tools":true,"images":true}],"versions":[{"ai'
    b'rcoding":"0.1.0","prompts"'
    b':"","schema":1}],"task":"","touched_paths":[[]],"digests":[{"project:src/":""}],"baselines":[{}],"adrs":[[]],'
    b'"rulings":[[]],"suspicions":[[]],"estimator":[{"name":"byte-class-2","factor":1.0,"low":0.'
    b'8,"high":1.25,"samples":0}'
    b']},"segments":[],"messages":[],"frozen":null}[[],[],["",""],[],{"request":{"turn":2},"crea'
    b'ted_at":"2026-01-01T00:00:'
    b'00.000000Z","fields":{"touched_paths":[["src/.py"]]},"frozen":["m-",1],"messages_after":[[0,"assistant",null,""],'
    b'[1,"user",null,""]]}]{"type":"tool_use","id":"toolu_01","name":"shell","input":{"command":"pytest "}}{"type":'
    b'"tool_use","id":"toolu_01","name":"fs_edit","input":{"path":"src/","old":"    ","new":"    "}}{"type":"tool_use",'
    b'"id":"toolu_01","name":"fs_write","input":{"path":"","content":""}}{"type":"tool_use","id":"toolu_01","name":'
    b'"fs_read","input":{"path":"src/.py","start_line":1,"end_line":}}[{"role":"assistant","content":[null]},[],[['
    b'"/content/0",""]]][{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_01","content":[{"type":'
    b'"text","text":""}],"is_error":true}]},[["/content/0/content/0/text",[""]],["/content/1/text",[""]]],[]][{"role":'
    b'"assistant","content":[{"type":"text","text":""},null]},[["/content/0/text",[""]]],[["/content/1",""]]]'
)

_BARE = -zlib.MAX_WBITS
_HEAD = b"\x78"
"""The first byte of what was written with a head (RFC 1950). A bare stream never begins so: it would say that a
block is stored as it is, and such a block begins with a zero or a one.
"""


def deflate(raw: bytes, dictionary: bytes = DICTIONARY) -> bytes:
    """Return bytes compressed with a dictionary, without a head or a check: whoever reads them knows their digest."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _BARE, 9, zdict=dictionary)
    return packer.compress(raw) + packer.flush()


def inflate(packed: bytes, dictionary: bytes = DICTIONARY) -> bytes:
    """Return what was compressed with that dictionary; of before, with a head, with it or without one.

    Raises:
        StoreError: the bytes are damaged, or of a later program.
    """
    has_head = packed[:1] == _HEAD
    try:
        if has_head and not packed[1] & 0x20:
            return zlib.decompress(packed)
        unpacker = zlib.decompressobj(zlib.MAX_WBITS if has_head else _BARE, zdict=dictionary)
        raw = unpacker.decompress(packed) + unpacker.flush()
        if not unpacker.eof or unpacker.unused_data:
            raise zlib.error("it ends too early or too late")
        return raw
    except (zlib.error, IndexError) as error:
        raise StoreError(
            f"A text cannot be unpacked: {error}",
            hint="The database is damaged or was written by a newer version; restore a backup or upgrade aircoding.",
            code="store.damaged",
        ) from None
