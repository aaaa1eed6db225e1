"""The order of the settings' levels, and that a repository cannot undo what the user switched off."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from aircoding.app.rule_sources import rule_switches
from aircoding.app.skills import skill_switches
from aircoding.errors import ConfigError
from aircoding.rules.rule_switches import RuleSwitches
from aircoding.settings import RulesSettings, SkillsSettings, load_settings
from aircoding.sources.skill_files import SkillSwitches

SWITCHES = [
    *(f"rules.{key}" for key in ("agents_md", "claude", "cursor", "copilot", "gemini", "hermes", "windsurf")),
    "skills.agents",
    "skills.claude",
]
LISTS = ["rules.excludes", "skills.disabled", "plugins.disabled"]
USER_ONLY = {
    "sandbox.backend": '"none"',
    "sandbox.allow_unconfined": "true",
    "rules.user_files": "true",
    "identity.profile": '"work"',
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / ".air").mkdir()
    return tmp_path


def line(name: str, value: str) -> str:
    section, key = name.split(".")
    return f"[{section}]\n{key} = {value}\n"


def held(root: Path, name: str) -> object:
    section, key = name.split(".")
    return getattr(getattr(load_settings(root), section), key)


def test_the_switches_below_are_all_that_let_text_in() -> None:
    found = {
        f"{section}.{key}"
        for section, kind in (("rules", RulesSettings), ("skills", SkillsSettings))
        for key, field in kind.model_fields.items()
        if field.annotation is bool
    }
    assert found == {*SWITCHES, "rules.user_files"}


@pytest.mark.parametrize("name", [*SWITCHES, *LISTS, *USER_ONLY])
def test_a_repository_lets_nothing_in_that_the_user_shut_out(
    root: Path, guarded_environment: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    user, project = guarded_environment / "config.toml", root / ".air/config.toml"
    if name in USER_ONLY:
        project.write_text(line(name, USER_ONLY[name]))
        with pytest.raises(ConfigError, match=r"may stand only in ~/\.air/config\.toml"):
            load_settings(root)
        project.unlink()
        user.write_text(line(name, USER_ONLY[name]))
        assert held(root, name) in {"none", True, "work"}
    elif name in LISTS:
        user.write_text(line(name, '["a"]'))
        for text, expected in (("[]", ("a",)), ('["b"]', ("a", "b"))):
            project.write_text(line(name, text))
            assert held(root, name) == expected
    else:
        for off in ("false", '"off"', "0"):
            user.write_text(line(name, off))
            for on in ("true", '"yes"', "1"):
                project.write_text(line(name, on))
                assert held(root, name) is False, (off, on)
        variable = f"AIR_{name.upper().replace('.', '__')}"
        monkeypatch.setenv(variable, "true")
        assert held(root, name) is True, "the user's own word, said later"
        monkeypatch.delenv(variable)
        user.write_text(line(name, "true"))
        project.write_text(line(name, "false"))
        assert held(root, name) is False, "a project may narrow"
        project.write_text(line(name, "true"))
        assert held(root, name) is True


def test_a_home_that_is_a_repository_has_one_file_which_is_the_users(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIR_HOME")
    monkeypatch.setenv("HOME", str(root))
    (root / ".git").mkdir()
    text = line("identity.profile", '"work"') + line("skills.disabled", '["a"]')
    (root / ".air/config.toml").write_text(text)
    assert (held(root, "identity.profile"), held(root, "skills.disabled")) == ("work", ("a",))


def test_a_wrong_value_is_said_also_where_the_user_switched_off(root: Path, guarded_environment: Path) -> None:
    (guarded_environment / "config.toml").write_text("[rules]\nclaude = false\n")
    (root / ".air/config.toml").write_text('[rules]\nclaude = "perhaps"\n')
    with pytest.raises(ConfigError, match=r"^\.air/config\.toml: \[rules\] claude"):
        load_settings(root)


def test_each_key_of_rules_is_carried_over() -> None:
    assert rule_switches(RulesSettings()) == RuleSwitches()
    other = RulesSettings(
        **dict.fromkeys(("agents_md", "claude", "cursor", "copilot", "gemini", "hermes", "windsurf"), False),
        user_files=False,
        agents_and_claude="managed-only",
        agents_fallbacks=("a.md",),
        excludes=("b/**",),
        max_bytes=7,
    )
    moved = asdict(rule_switches(other))
    assert moved == other.model_dump()
    assert not [key for key, value in asdict(RuleSwitches()).items() if moved[key] == value], "each is another"


def test_each_key_of_skills_is_carried_over() -> None:
    assert skill_switches(SkillsSettings()) == SkillSwitches()
    other = SkillsSettings(agents=False, claude=False, index_chars=7, disabled=("a",))
    moved = asdict(skill_switches(other))
    assert moved == other.model_dump()
    assert not [key for key, value in asdict(SkillSwitches()).items() if moved[key] == value], "each is another"


def test_a_section_that_stands_twice_is_told_from_a_file_that_is_wrong(root: Path) -> None:
    (root / ".air/config.toml").write_text('[store]\n# url = "x"\n[store]\nbodies = "digests"\n')
    with pytest.raises(ConfigError, match=r"'store'.* twice .*line 3") as twice:
        load_settings(root)
    (root / ".air/config.toml").write_text("[store\n")
    with pytest.raises(ConfigError) as wrong:
        load_settings(root)

    assert twice.value.hint == "that heading stands in the file already: put your keys below it"
    assert wrong.value.hint == "correct the file"
