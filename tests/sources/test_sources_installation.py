"""What an installation keeps in `~/.air`: approvals of several processes at once are all kept."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

from aircoding.sources.installation import approved

APPROVER = """
import sys
from pathlib import Path
from aircoding.sources.installation import approve

for number in range(40):
    approve(Path(sys.argv[1]), Path(sys.argv[2]), [f"{sys.argv[3]}-{number}"])
"""


def test_approvals_of_processes_at_once_are_all_kept(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "project"
    call = [sys.executable, "-c", APPROVER, str(home), str(root)]
    approvers = [subprocess.Popen([*call, name]) for name in "abcd"]

    assert [approver.wait() for approver in approvers] == [0] * 4
    assert approved(home, root) == {f"{name}-{number}" for name in "abcd" for number in range(40)}
    assert os.listdir(home) == ["approvals.json"], "no lock and no partial file is left"
    assert stat.S_IMODE((home / "approvals.json").stat().st_mode) == 0o600
