"""`aircoding export` and `aircoding import`: a run elsewhere answers as it did here, no secret goes along, and a
bundle that is not what it says is refused as a whole."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import shlex
import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.recorded_runs import answers, bare_project, record_run

from aircoding.app.bundles.reading import import_run
from aircoding.app.bundles.writing import export_run
from aircoding.app.questions.asking import Asked, Page
from aircoding.app.questions.replays import replay_contexts
from aircoding.app.questions.why import why_not_subject, why_text
from aircoding.app.run_results import run_status, runs_status
from aircoding.app.runs import resume_run
from aircoding.cli.main import main
from aircoding.errors import NotFoundError, ProjectError, UsageError
from aircoding.records.events import Event
from aircoding.records.ids import RunId
from aircoding.sources.bundle_files import BundleError
from aircoding.sources.resources import read_resource
from aircoding.store import open_store
from aircoding.workspace.git import git

WORDS = "The kettle of the north tower sings at noon.\n"
KEY_LINES = "".join(base64.b64encode(hashlib.sha384(bytes([line])).digest()).decode() + "\n" for line in range(10))
SECRETS = {
    "github": "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",
    "aws": "AKIA" + "Q3EGZ7LM5XWT2RKD",
    "slack": "xoxb-" + "123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
    "key": "-----BEGIN RSA PRIVATE KEY-----\n" + KEY_LINES + "-----END RSA PRIVATE KEY-----",
}


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIR_HOME", str(tmp_path / "air-home"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with two runs on record, one without any, and the bundle of a run as a folder of files."""
    folder = tmp_path_factory.mktemp("made")
    root, _ = bare_project(folder / "here"), bare_project(folder / "there")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIR_HOME", str(folder / "air-home"))
        _record(root)
        export_run(root, "r1", folder / "bundle", texts=True, mask_paths=False)
    return folder


def _record(root: Path) -> None:
    with open_store(root / ".air/local/air.db") as store:
        record_run(store, "r-old", ["elsewhere\n"], project_root=str(root))
        record_run(
            store, "r1", [WORDS, "x = 1\n" * 80], created_at="2026-12-01T12:00:00Z", project_root="/home/somebody/items"
        )


@pytest.fixture
def here(made: Path, tmp_path: Path) -> Path:
    """A project with two runs on record."""
    return shutil.copytree(made / "here", tmp_path / "here")


@pytest.fixture
def there(made: Path, tmp_path: Path) -> Path:
    """A project with nothing on record."""
    return shutil.copytree(made / "there", tmp_path / "there")


@pytest.fixture
def bundle(made: Path, tmp_path: Path) -> Path:
    """The run as a folder of files."""
    return shutil.copytree(made / "bundle", tmp_path / "bundle")


def told(root: Path, run: str = "r1") -> Any:
    with open_store(root / ".air/local/air.db") as store:
        return answers(store, run)


@pytest.mark.parametrize("name", ["b.tar.gz", "b.zip"])
def test_a_run_answers_elsewhere_as_it_did_here(
    here: Path, there: Path, bundle: Path, tmp_path: Path, name: str
) -> None:
    report = export_run(here, None, tmp_path / name, texts=True, mask_paths=False)
    assert (report.run_id, report.assemblies, report.redaction.assemblies) == ("r1", 2, 0)
    taken = import_run(there, tmp_path / name)
    assert (taken.run_id, taken.assemblies, taken.known) == ("r1", 2, False)
    ours, theirs = told(here), told(there)
    brief = 4  # holds the paths of a machine, which do not go along
    assert [each for place, each in enumerate(theirs) if place != brief] == [
        each for place, each in enumerate(ours) if place != brief
    ]
    assert [one.equal for one in replay_contexts(there, None, whole_run=True)] == [True, True]
    assert why_text(there, "north tower", Asked(), manifest_id=None, page=Page()).total
    assert run_status(there, "r1").cost_usd == run_status(here, "r1").cost_usd == 0.5
    export_run(there, None, tmp_path / "again", texts=True, mask_paths=False)
    for file in sorted((tmp_path / "again").glob("*.jsonl")):
        assert file.read_bytes() == (bundle / file.name).read_bytes(), file.name


@pytest.mark.parametrize("is_repository", [False, True])
def test_who_gets_a_bundle_needs_no_commit_and_no_repository(
    bundle: Path,
    tmp_path: Path,
    is_repository: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = tmp_path / "received"
    (folder / "notes").mkdir(parents=True)
    if is_repository:
        git(folder, "init", "--quiet")
    monkeypatch.chdir(folder)

    def said(*words: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        told = capsys.readouterr()
        assert ended.value.code == 0, told
        return told.out

    said("import", str(bundle))
    monkeypatch.chdir(folder / "notes")
    assert "r1" in said("status", "r1")
    assert "0.py" in said("context", "why", "north tower")
    assert "path_not_matched" in said("context", "why-not", "r.md")
    assert "was never considered" in said("context", "why-not", "no/such.md")
    assert "seen by 1 of 1" in said("context", "who-saw", "0.py")
    assert "kettle" in said("context", "expand", "0.py", "--now")
    assert "equal" in said("context", "replay", "--all")
    assert "no conflicts" in said("conflicts", "list")
    assert "assemblies" in said("db", "info")
    said("export", "r1", "--output", str(tmp_path / "again.tar.gz"))
    said("db", "prune", "--older-than", "1d", "--dry-run")
    if is_repository:
        assert git(folder, "status", "--porcelain") == ""


def test_who_waits_is_told_what_goes_on(here: Path, there: Path, tmp_path: Path) -> None:
    said: list[str] = []
    export_run(here, "r1", tmp_path / "b.zip", texts=True, mask_paths=False, say=said.append)
    import_run(there, tmp_path / "b.zip", say=said.append)

    assert said == [
        "reading and masking run r1",
        f"packing {tmp_path / 'b.zip'}",
        "checking b.zip",
        "writing 2 recorded prompts of run r1",
    ]


def test_a_folder_without_a_record_and_a_home_are_told_apart(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AIR_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(ProjectError) as nothing:
        run_status(tmp_path, "r1")
    with pytest.raises(ProjectError) as home:
        import_run(tmp_path, bundle)

    assert "aircoding import" in nothing.value.hint
    assert (home.value.code, (tmp_path / ".air").exists()) == ("project.home", False)


def test_the_same_bundle_again_is_nothing_to_do_and_another_run_of_that_name_is_refused(
    here: Path, there: Path, bundle: Path
) -> None:
    import_run(there, bundle)
    assert import_run(there, bundle).known
    with pytest.raises(UsageError, match="a run r1 is on record already; it is one of this project's own"):
        import_run(here, bundle)


def test_an_imported_run_is_not_resumed_and_own_runs_come_first(there: Path, bundle: Path) -> None:
    import_run(there, bundle)
    with pytest.raises(UsageError, match="was imported"):
        resume_run(there, "r1", max_cost_usd=None, report=lambda _: None, say=lambda _: None)
    with open_store(there / ".air/local/air.db") as store:
        assert store.sightings.newest_run() == "r1"
        assert store.usage.newest("test-model", limit=9) == (), "what others counted teaches our estimates nothing"
        record_run(store, "own", ["z\n"], created_at="2026-01-01T00:00:00Z")
        assert store.sightings.newest_run() == "own"
        assert len(store.usage.newest("test-model", limit=9)) == 2


def test_no_planted_secret_goes_along(here: Path, there: Path, tmp_path: Path) -> None:
    secrets = "\n".join(SECRETS.values())
    with open_store(here / ".air/local/air.db") as store:
        record_run(store, "r2", [f"token = '{SECRETS['github']}'\n{WORDS}"], turns=1, output=f"env:\n{secrets}\n")
        record = Event(run_id=RunId("r2"), type="note", at="2026-01-01T00:00:00Z", payload={"said": [secrets]})
        store.events.append(record)
    report = export_run(here, "r2", tmp_path / "bundle", texts=True, mask_paths=False)
    whole = "".join(json.dumps(_values(file), ensure_ascii=False) for file in (tmp_path / "bundle").glob("*.jsonl"))
    raw = b"".join(file.read_bytes() for file in (tmp_path / "bundle").iterdir()).decode()
    for kind, secret in SECRETS.items():
        for line in secret.splitlines():
            assert "-----" in line or (line not in whole and line not in raw), kind
    assert report.redaction.assemblies == 1
    assert set(report.redaction.secrets) == {"github_token", "aws_key_id", "slack_token", "private_key"}
    import_run(there, tmp_path / "bundle")
    (replay,) = replay_contexts(there, "r2", whole_run=True)
    assert (replay.equal, replay.redacted) == (False, True)
    with open_store(there / ".air/local/air.db") as store:
        (head,) = store.index.heads(run_id="r2")
        context = store.assemblies.get(head.manifest_id)  # type: ignore[arg-type]
    assert context.digest == head.digest, "the digest stays that of what was sent"
    (shown,) = [each for each in context.manifest.segments if each.source.uri == "project:0.py"]
    block = next(span for span in shown.spans)
    text = context.request["messages"][0]["content"][int(block.block.split("/")[4])]["text"]
    piece = text.encode()[block.start : block.end].decode()
    assert piece.startswith("token = '[REDACTED:")
    assert piece.endswith(WORDS), "spans moved with what was masked"


def _values(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_names_of_this_machine_are_masked_outside_of_prompts(here: Path, tmp_path: Path) -> None:
    with open_store(here / ".air/local/air.db") as store:
        payload = {"root": f"{here}/.air/local/worktrees/x", "log": "/home/somebody/x.log"}
        store.events.append(Event(run_id=RunId("r1"), type="note", at="2026-01-01T00:00:00Z", payload=payload))
    export_run(here, "r1", tmp_path / "bundle", texts=True, mask_paths=False)
    whole = b"".join(file.read_bytes() for file in (tmp_path / "bundle").glob("*")).decode()
    assert str(here) not in whole
    assert "/home/somebody" not in whole
    assert "/project/.air/local/worktrees/x" in whole


def test_an_account_goes_along_without_texts(here: Path, there: Path, tmp_path: Path) -> None:
    report = export_run(here, "r1", tmp_path / "b.zip", texts=False, mask_paths=False)
    assert report.texts == "none"
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        whole = b"".join(archive.read(name) for name in archive.namelist())
    assert b"kettle" not in whole
    import_run(there, tmp_path / "b.zip")
    considered = why_not_subject(there, "r.md", Asked(), manifest_id=None, page=Page()).considerations[0]
    assert considered.outcome.reason is not None
    assert run_status(there, "r1").cost_usd == 0.5
    with pytest.raises(NotFoundError, match="texts of run r1 are not kept"):
        why_text(there, "kettle", Asked(), manifest_id=None, page=Page())
    with pytest.raises(NotFoundError, match="texts of run r1 are not kept"):
        replay_contexts(there, None, whole_run=True)
    again = export_run(there, "r1", tmp_path / "again", texts=True, mask_paths=False)
    assert (again.texts, again.assemblies) == ("none", 2)


def repacked(bundle: Path, name: str, change: Callable[[list[Any]], object]) -> None:
    """Change a file of a bundle, and let the manifest say so: what is found then is found in the lines."""
    lines = _values(bundle / name)
    change(lines)
    raw = b"".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" for line in lines)
    (bundle / name).write_bytes(raw)
    manifest = json.loads((bundle / "manifest.json").read_text())
    (told_of,) = [file for file in manifest["files"] if file["name"] == name]
    told_of |= {"sha256": hashlib.sha256(raw).hexdigest(), "size_bytes": len(raw), "lines": len(lines)}
    (bundle / "manifest.json").write_text(json.dumps(manifest))


CHANGES: dict[str, tuple[str, Callable[[list[Any]], object], str]] = {
    "a text that is not its digest": ("texts.jsonl", lambda v: v[0].update(text="x"), "texts.jsonl, line 1: the text"),
    "a part that is not its digest": ("parts.jsonl", lambda v: v[2].update(value=1), "parts.jsonl, line 3: the value"),
    "a request of another digest": (
        "assemblies.jsonl",
        lambda v: v[1]["manifest"].update(digest="0" * 64),
        "assemblies.jsonl, line 2: the request of",
    ),
    "a reference to nothing": (
        "assemblies.jsonl",
        lambda v: v[0]["request"].update(system=[{"$part": "f" * 64}]),
        "assemblies.jsonl, line 1: it names f",
    ),
    "a session of another run": (
        "messages.jsonl",
        lambda v: v[0].update(session_id="other:T1:1:executor:1"),
        "messages.jsonl, line 1: it belongs to another run",
    ),
    "a run with a path for a name": (
        "run.jsonl",
        lambda v: v[0].update(run_id="../../x"),
        "run.jsonl, line 1: it belongs",
    ),
    "an event out of its place": ("events.jsonl", lambda v: v.pop(0), "events.jsonl, line 1: event 2 stands"),
    "an event without a kind": ("events.jsonl", lambda v: v[1].pop("type"), "events.jsonl, line 2: it cannot be read"),
    "a lost snapshot": ("snapshots.jsonl", lambda v: v.pop(), "has no request, or no snapshot"),
    "a try that is missing": (
        "calls.jsonl",
        lambda v: v[0]["record"].update(tries=3),
        "calls.jsonl, line 1: the tries",
    ),
    "a number without end": ("tools.jsonl", lambda v: v[0]["call"].update(turn=10**30), "tools.jsonl, line 1"),
    "a run that no store can hold": (
        "run.jsonl",
        lambda v: v[0].update(concurrency=-1),
        "run.jsonl, line 1: it is not as a bundle has it",
    ),
    "a tool call that stands twice": (
        "tools.jsonl",
        lambda v: v.append(v[-1]),
        "has its result already",
    ),
    "two runs": ("run.jsonl", lambda v: v.append(v[0]), "run.jsonl holds no single run"),
}


@pytest.mark.parametrize("case", CHANGES)
def test_a_bundle_that_is_not_what_it_says_is_refused_with_file_and_line(there: Path, bundle: Path, case: str) -> None:
    name, change, says = CHANGES[case]
    repacked(bundle, name, change)
    with pytest.raises(BundleError) as refused:
        import_run(there, bundle)
    assert says in refused.value.message, refused.value.message
    database = there / ".air/local/air.db"
    if database.exists():
        with open_store(database) as store:
            rows = store.index.row_counts()
        assert set(rows.values()) == {0}, "nothing was taken in"


def test_a_file_that_was_changed_or_cut_off_is_noticed(there: Path, bundle: Path) -> None:
    raw = (bundle / "events.jsonl").read_bytes()
    (bundle / "events.jsonl").write_bytes(raw[:-9])
    with pytest.raises(BundleError, match=r"events.jsonl is not as manifest.json says"):
        import_run(there, bundle)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_refused(there: Path, bundle: Path, version: object) -> None:
    manifest = json.loads((bundle / "manifest.json").read_text())
    (bundle / "manifest.json").write_text(json.dumps(manifest | {"format": version}))
    with pytest.raises(BundleError, match="this program knows 1"):
        import_run(there, bundle)


def _tar(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for entry, content in members:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def _link(name: str, target: str, kind: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname = kind, target
    return entry


@pytest.mark.parametrize(
    "entry",
    [
        tarfile.TarInfo("../../evil"),
        tarfile.TarInfo("/tmp/evil"),
        tarfile.TarInfo("texts.jsonl/../../evil"),
        _link("texts.jsonl", "/etc/passwd", tarfile.SYMTYPE),
        _link("texts.jsonl", "manifest.json", tarfile.LNKTYPE),
        _link("texts.jsonl", "", tarfile.FIFOTYPE),
    ],
    ids=lambda entry: f"{entry.name} {entry.linkname}",
)
def test_an_archive_writes_nowhere(there: Path, tmp_path: Path, entry: tarfile.TarInfo) -> None:
    before = sorted(tmp_path.rglob("*"))
    archive = _tar(tmp_path / "b.tar.gz", (entry, b""))
    with pytest.raises(BundleError):
        import_run(there, archive)
    archive.unlink()
    assert sorted(path for path in tmp_path.rglob("*") if "air-home" not in str(path)) == before


def test_a_bomb_and_a_torn_archive_are_refused(
    there: Path, tmp_path: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aircoding.sources.bundle_files._MOST_BYTES", 100_000)
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("texts.jsonl", b"0" * 5_000_000)
    with pytest.raises(BundleError, match="larger than a bundle may be"):
        import_run(there, bomb)
    whole = _tar(tmp_path / "b.tar.gz", (tarfile.TarInfo("texts.jsonl"), bytes(range(256)) * 300)).read_bytes()
    (tmp_path / "torn.tar.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BundleError, match="cut off"):
        import_run(there, tmp_path / "torn.tar.gz")
    (tmp_path / "no.zip").write_bytes(b"PK no zip")
    with pytest.raises(BundleError):
        import_run(there, tmp_path / "no.zip")


def test_a_line_that_grows_without_end_is_refused(there: Path, bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("aircoding.app.bundles.contents._MOST_CHARS", 200_000)
    texts = [line for line in _values(bundle / "texts.jsonl") if "digest" in line]
    long = max(texts, key=lambda line: len(line["text"]))["digest"]
    repacked(bundle, "events.jsonl", lambda lines: lines[0].update(payload={"x": [{"$text": long}] * 2000}))
    with pytest.raises(BundleError, match=r"events.jsonl, line 1: it names more than a bundle may hold"):
        import_run(there, bundle)


def test_the_commands(
    here: Path, there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def air(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        said = capsys.readouterr()
        return int(str(ended.value.code)), said.out + said.err

    monkeypatch.chdir(here)
    code, said = air("export", "r1")
    assert (code, "2 recorded prompts: r1.tar.gz" in said) == (0, True)
    assert air("export", "run", "r1", "--output", "no/where/b.zip")[0] == 2
    assert "spans" in air("export", "--help")[1]
    code, said = air("db", "prune")
    assert (code, "--older-than 30d" in said) == (2, True)
    monkeypatch.chdir(there)
    code, said = air("import", str(here / "r1.tar.gz"), "--json")
    assert (code, json.loads(said)["import"]["assemblies"]) == (0, 2)
    code, said = air("db", "prune", "--older-than", "1h", "--dry-run")
    first, run, *_, last = said.splitlines()
    assert (code, first, last) == (0, "would remove 1 run", "nothing was changed")
    assert re.fullmatch(r"  r1  ended 2026-01-02 00:00 UTC, [0-9]+ days ago", run)
    code, said = air("db", "prune", "--older-than", "9999w")
    assert said.splitlines()[0] == "removed 0 runs"
    assert "1 run not asked about: newer than that" in said
    code, said = air("db", "prune", "--older-than", "1h", "--json")
    report = json.loads(said)["prune"]
    assert (report["runs"], report["ended_at"]) == (["r1"], {"r1": "2026-01-02T00:00:00Z"})
    code, said = air("status", "r1")
    assert (code, "no run r1" in said) == (2, True)


def test_a_folder_that_is_there_is_no_half_bundle(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "out").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr("aircoding.sources.bundle_files.shutil.copyfile", stopped)
        with pytest.raises(KeyboardInterrupt):
            export_run(here, "r1", tmp_path / "out" / "b", texts=True, mask_paths=False)
    assert list((tmp_path / "out").iterdir()) == []
    export_run(here, "r1", tmp_path / "out" / "b", texts=True, mask_paths=False)
    assert [one.name for one in (tmp_path / "out").iterdir()] == ["b"]


def test_a_plan_that_cannot_be_read_does_not_keep_other_runs_from_being_listed(there: Path, bundle: Path) -> None:
    import_run(there, bundle)
    (head,) = runs_status(there, limit=5)
    assert (head.run_id, head.total) == ("r1", 1), "its plan is no plan at all"


@pytest.mark.parametrize("question", ["why", "why-not", "show", "blame", "replay", "cache", "expand", "diff"])
def test_a_name_that_is_no_utf8_is_no_internal_error(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], question: str
) -> None:
    monkeypatch.chdir(here)
    with pytest.raises(SystemExit) as ended:
        main(["context", question, "no\udcff", "--json"])
    said = json.loads(capsys.readouterr().out)
    assert (ended.value.code, said["error"]["code"]) == (2, "not_found")


def test_the_manifest_is_what_its_schema_says(bundle: Path) -> None:
    manifest = json.loads((bundle / "manifest.json").read_text())
    schema = json.loads(read_resource("schemas/bundle-manifest.json"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(manifest)] == []


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "keep-and-share-the-record.md"


def test_the_commands_of_the_page_run(
    here: Path, there: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    blocks = [block.removeprefix("sh\n") for block in PAGE.read_text().split("```")[1::2] if block.startswith("sh\n")]
    commands = [line for block in blocks for line in block.splitlines() if line.startswith("aircoding")]
    assert len(commands) == 9
    for line in commands:
        root = there if " import " in line or " replay " in line else here
        monkeypatch.chdir(root)
        _, *arguments = shlex.split(line.replace("RUN", "r1"), comments=True)
        if "import" in arguments:
            arguments[-1] = str(here / arguments[-1])
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 0, (line, capsys.readouterr())


def test_the_report_stands_alone_and_hostile_text_in_it_is_inert(here: Path, tmp_path: Path) -> None:
    with open_store(here / ".air/local/air.db") as store:
        evil = {"reason": f"<script>x()</script> {SECRETS['github']} \u202egnp"}
        record = Event(run_id=RunId("r1"), type="task.failed", at="2026-01-02T00:00:00Z", task_id="T1", payload=evil)
        store.events.append(record)
    export_run(here, "r1", tmp_path / "bundle", texts=False, mask_paths=False)
    page = (tmp_path / "bundle" / "report.html").read_text()
    assert "<script" not in page
    assert "&lt;script&gt;x()" in page
    assert "\u202e" not in page
    assert SECRETS["github"] not in page
    assert re.findall(r'(?:src|href)="(?!#|data:,")', page) == []
    assert "default-src &#39;none&#39;" in page
    assert page.count("m-") >= 2, "its prompts"
