"""Plugins as installed distributions: what they register, in which order, and what is refused."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.plugins import install_plugin
from support.texts import REPOSITORY

from aircoding.errors import ConfigError
from aircoding.plugins import CommandAct, HostAct, PathAct
from aircoding.plugins.loading import load_plugins
from aircoding.plugins.registering import PluginContext
from aircoding.records.hooks import Extensions, HookEvent
from aircoding.records.layers import Layer, Trust
from aircoding.sources.roles import TOOL_CATEGORIES

CATEGORIES = TOOL_CATEGORIES
PAGE = REPOSITORY / "docs" / "how-to" / "write-a-plugin.md"


def load(**more: Any) -> Extensions:
    values: dict[str, Any] = {"disabled": (), "tool_categories": CATEGORIES, "taken_tools": {"fs_read"}, **more}
    importlib.invalidate_caches()
    return load_plugins(**values)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


def test_plugins_are_taken_by_name_and_register_all_they_have(site: Path) -> None:
    for name in ("zebra-t1", "ant-t1"):
        install_plugin(
            site,
            name,
            "def register(ctx):\n"
            "    ctx.hook('pre_llm_call', lambda facts: None, timeout_seconds=3, trust='external')\n"
            "    ctx.skill('release', 'Make a release', 'Tag it.', triggers=['ship it'])\n"
            "    ctx.trigger('review', ['look at this'])\n"
            "    ctx.tool('count', 'Count.', {'type': 'object'}, 'read', lambda given, facts: '1')\n",
        )
    found = load()
    assert [hook.name for hook in found.hooks] == ["ant-t1/pre_llm_call", "zebra-t1/pre_llm_call"]
    assert {(hook.event, hook.trust, hook.timeout_seconds) for hook in found.hooks} == {
        (HookEvent.PRE_LLM_CALL, Trust.EXTERNAL, 3.0)
    }
    assert [(one.source, one.triggers) for one in found.skills] == [
        ("plugin:ant-t1", ("ship it",)),
        ("plugin:zebra-t1", ("ship it",)),
    ]
    assert [(one.skill, one.source) for one in found.triggers] == [
        ("review", "plugin:ant-t1"),
        ("review", "plugin:zebra-t1"),
    ]
    assert [tool.spec.uri for tool in found.tools.values()] == ["plugin:ant-t1/tools/count"]
    assert [(one.name, one.reason) for one in found.faults] == [
        ("plugin:zebra-t1/tools/count", "the name count is taken by plugin:ant-t1/tools/count")
    ]
    assert load(disabled=["ant-t1"]).faults == ()


def test_an_object_can_register_and_one_that_fails_leaves_nothing(site: Path) -> None:
    install_plugin(site, "object-t2", "class P:\n    def register(self, ctx): ctx.trigger('a', ['b'])\nplugin = P()\n")
    points = site / "object_t2_plugin-1.0.dist-info/entry_points.txt"
    points.write_text("[aircoding.plugins]\nobject-t2 = object_t2_plugin:plugin\nhalf-t2 = object_t2_plugin:missing\n")
    install_plugin(site, "mid-t2", "def register(ctx):\n    ctx.trigger('a', ['b'])\n    raise KeyError('gone')\n")
    found = load()
    assert [one.source for one in found.triggers] == ["plugin:object-t2"]
    assert {one.name: one.reason.split(":")[0] for one in found.faults} == {
        "half-t2": "AttributeError",
        "mid-t2": "KeyError",
    }


def test_names_that_are_none_or_given_twice_are_refused(site: Path) -> None:
    install_plugin(site, "same-t3", "def register(ctx):\n    pass\n", module="one_t3")
    install_plugin(site, "same-t3", "def register(ctx):\n    pass\n", module="two_t3")
    install_plugin(site, "a b", "def register(ctx):\n    pass\n", module="odd_t3")
    reasons = {one.name: one.reason for one in load().faults}
    assert reasons["same-t3"] == "another plugin has this name; two_t3 is left out"
    assert "use letters, digits" in reasons["a b"]


def test_an_import_that_never_ends_is_given_up_and_the_process_ends(site: Path) -> None:
    install_plugin(site, "stuck-t4", "import threading\nthreading.Event().wait()\n")
    code = (
        "from aircoding.plugins.loading import load_plugins\n"
        "found = load_plugins(disabled=(), tool_categories=(), taken_tools=(), seconds=0.3)\n"
        "print(found.faults[0].reason)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env={"PYTHONPATH": str(site)},
        cwd=Path(__file__).parents[2],
    )
    assert done.stdout == "it was not loaded after 0.3 seconds\n"


def test_an_abandoned_function_keeps_no_process_alive(tmp_path: Path) -> None:
    code = (
        "import asyncio, threading\n"
        "from aircoding.plugins.threads import ask_in_thread\n"
        "async def main():\n"
        "    try:\n"
        "        async with asyncio.timeout(0.2):\n"
        "            await ask_in_thread(threading.Event().wait)\n"
        "    except TimeoutError:\n"
        "        print('given up')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert (done.stdout, done.stderr) == ("given up\n", "")


class Source:
    name = "s"
    layer: object = Layer.L3
    trust: object = "user"

    async def context(self, request: object) -> str:
        return str(request)


class Deep(Source):
    layer = "L0"


class Grand(Source):
    trust = "builtin"


class Nameless:
    async def context(self, request: object) -> str:
        return ""


@pytest.mark.parametrize(
    ("register", "said"),
    [
        (lambda ctx: ctx.context(Deep()), "'L0' is no layer"),
        (lambda ctx: ctx.context(Grand()), "'builtin' is no trust"),
        (lambda ctx: ctx.context(Nameless()), "a context source has the name None"),
        (lambda ctx: ctx.hook("context", print), "'context' is no event"),
        (lambda ctx: ctx.hook("pre_llm_call", None), "cannot be called"),
        (lambda ctx: ctx.hook("pre_llm_call", print, timeout_seconds=0), "timeout_seconds is 0"),
        (lambda ctx: ctx.hook("pre_llm_call", print, timeout_seconds=float("nan")), "timeout_seconds is nan"),
        (lambda ctx: ctx.hook("pre_llm_call", print, trust="builtin"), "'builtin' is no trust"),
        (lambda ctx: ctx.skill("s", "", "body"), "the description is no text"),
        (lambda ctx: ctx.skill("s", "d", "bo\0dy"), "the body is no text"),
        (lambda ctx: ctx.skill("s", "d", "b", triggers="one"), "a list of phrases"),
        (lambda ctx: ctx.trigger("s", []), "no phrase is given"),
        (lambda ctx: ctx.tool("a b", "d", {"type": "object"}, "read", print), "a tool has the name 'a b'"),
        (lambda ctx: ctx.tool("t", "d", {"type": "object"}, "finish", print), "'finish' is no category"),
        (lambda ctx: ctx.tool("t", "d", {"type": "array"}, "read", print), "is of no object"),
        (lambda ctx: ctx.tool("t", "d", {"x": object()}, "read", print), "is no JSON"),
    ],
)
def test_what_cannot_be_registered_says_why(register: Any, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        register(PluginContext("p", CATEGORIES))
    assert said in caught.value.message
    assert caught.value.hint


def test_each_category_of_tools_takes_one_and_is_named_where_authors_read_of_it() -> None:
    context = PluginContext("p", CATEGORIES)
    for category in CATEGORIES:
        context.tool(f"t_{category}", "d", {"type": "object"}, category, print)
        assert re.search(rf"category: .*\b{category}\b.*\.", PluginContext.tool.__doc__ or ""), category
        assert f"`{category}`" in PAGE.read_text(), category
    assert [tool.spec.category for tool in context.tools] == list(CATEGORIES)


def test_acts_are_there_for_authors_of_plugins() -> None:
    assert (CommandAct(command="ls").cwd, HostAct(host="a").host, PathAct(path="a", access="read").path) == (
        ".",
        "a",
        "a",
    )
