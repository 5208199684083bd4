"""The program that the README shows runs as it stands there, and goes on where it was when it runs again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"


def test_the_program_saves_its_session_and_finds_it_again(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "mine.py").write_text(program, encoding="utf-8")
    said = [
        subprocess.run(
            [sys.executable, "-W", "error", "mine.py"], cwd=tmp_path, check=True, capture_output=True, encoding="utf-8"
        ).stdout
        for _ in range(2)
    ]
    assert said[0].startswith("Noted. It is now message 1 of this conversation. revision 1 of lineage ")
    assert said[1].startswith("Noted. It is now message 3 of this conversation. revision 2 of lineage ")
    envelope = json.loads((tmp_path / "session.json").read_text(encoding="utf-8"))
    assert (envelope["instruction_version"], envelope["revision"]) == ("mine-1", 2)
    assert len(envelope["session"]["state"]["in_memory"]["messages"]) == 4
