"""Which other files are sessions, too: formatted by somebody, written before something was added, or partly strange."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from maf_memory.errors import FileRefused, StateConflict, VersionRefused
from maf_memory.sessions.contract.base import MORNING, record_of, said, texts
from maf_memory.sessions.files import FileSessions
from maf_memory.sessions.journal import ErrorRecord, UnreadableRecord
from maf_memory.sessions.record import Damaged, Head
from tests.maf_memory.sessions.session_files import (
    ID,
    OTHER,
    damage_listed,
    golden,
    golden_record,
    kept,
    listed,
    put,
    untouched,
)


@pytest.fixture
def sessions(tmp_path: Path) -> FileSessions:
    return FileSessions(tmp_path / "sessions")


def jq(*options: str) -> Callable[[bytes], bytes]:
    def reformat(content: bytes) -> bytes:
        program = shutil.which("jq")
        if program is None:
            pytest.skip("jq is not installed")
        return subprocess.run([program, *options, "."], input=content, stdout=subprocess.PIPE, check=True).stdout

    return reformat


REFORMATTED: dict[str, Callable[[bytes], bytes]] = {
    "jq .": jq(),
    "jq -c .": jq("-c"),
    "jq -S .": jq("-S"),
    "jq --tab .": jq("--tab"),
    "indented by Python, in ASCII": lambda content: json.dumps(json.loads(content), indent=4).encode(),
    "the state first": lambda content: json.dumps(dict(reversed(json.loads(content).items()))).encode(),
    "line ends of Windows": lambda content: content.replace(b"\n", b"\r\n"),
    "without its last line end": lambda content: content.rstrip(),
    "followed by white space": lambda content: content + b" \n\t" * 500,
    "after white space": lambda content: b"\n \n" + content,
}


class TestOtherLayouts:
    @pytest.mark.parametrize("how", REFORMATTED)
    async def test_a_file_that_somebody_formatted_is_loaded_listed_found_and_saved(
        self, sessions: FileSessions, how: str
    ) -> None:
        record = golden_record()
        await sessions.create(record)
        head, before = await listed(sessions), sessions.path_of(ID).read_bytes()
        path = put(sessions, REFORMATTED[how](before))
        with untouched(path):
            loaded = await sessions.load(ID)
            assert said(loaded) == said(record)
            assert await listed(sessions) == head
            assert [hit.session_id for hit in (await sessions.search("slog")).hits] == [ID]
        await sessions.save(loaded)
        after, wanted = path.read_bytes(), before.replace(b'"revision": 1,', b'"revision": 2,')
        assert json.loads(after) == json.loads(wanted)
        assert after == wanted or how == "jq -S .", "within the state and the errors the order of the keys is theirs"

    async def test_a_file_from_before_there_were_errors_is_as_good(self, sessions: FileSessions) -> None:
        path = put(sessions, golden("before-errors"))
        with untouched(path):
            loaded = await sessions.load(ID)
            head = await listed(sessions)
        assert isinstance(head, Head)
        assert (head.title, head.turns, head.error_count, head.provider, head.model) == (
            "Quel format ?",
            1,
            0,
            None,
            None,
        )
        assert (texts(loaded), len(loaded.errors), loaded.provider) == (["Quel format ?", "log/slog."], 0, None)
        await sessions.save(loaded)
        document = json.loads(path.read_bytes())
        assert (document["errors"], document["error_count"], document["provider"], document["revision"]) == (
            [],
            0,
            None,
            8,
        )

    async def test_an_error_record_that_cannot_be_read_blocks_nothing_and_survives(
        self, sessions: FileSessions
    ) -> None:
        path = put(sessions, golden("strange-error-records"))
        strange = json.loads(golden("strange-error-records"))["errors"]
        with untouched(path):
            loaded = await sessions.load(ID)
            head = await listed(sessions)
        assert isinstance(head, Head)
        assert head.error_count == len(strange) == 7
        kinds = [type(one) for one in loaded.errors]
        assert kinds == [ErrorRecord, *[UnreadableRecord] * 5, ErrorRecord]
        loaded.errors.add("resume", line="again", turns=1, time=MORNING)
        await sessions.save(loaded)
        assert json.loads(path.read_bytes())["errors"][:7] == strange
        assert len((await sessions.load(ID)).errors) == 8

    @pytest.mark.parametrize("errors", ['{"kind": "generation"}', '"none"', "3", "null"])
    async def test_errors_that_are_no_list_block_nothing(self, sessions: FileSessions, errors: str) -> None:
        document = json.loads(golden("written")) | {"errors": json.loads(errors)}
        put(sessions, json.dumps(document).encode())
        loaded = await sessions.load(ID)
        assert loaded.errors.encode() == ([] if errors == "null" else [json.loads(errors)])
        await sessions.save(loaded)
        assert said(await sessions.load(ID)) == said(loaded)

    async def test_a_newer_format_is_refused_and_left_alone(self, sessions: FileSessions) -> None:
        stamp = await sessions.create(record := golden_record())
        await kept(sessions)
        path = put(sessions, golden("newer"))
        with untouched(path):
            with pytest.raises(VersionRefused) as caught:
                await sessions.load(ID)
            assert str(caught.value) == (
                f"{path} is refused: it has format 2; this program reads up to format 1. The file was left as it is."
            )
            assert await damage_listed(sessions) == "it has format 2; this program reads up to format 1"
            assert [one.id for one in (await sessions.search("slog")).unread] == [ID]
            for work in (
                sessions.save(record),
                sessions.create(record_of(id=ID)),
                sessions.delete(ID, expected=stamp),
            ):
                with pytest.raises((VersionRefused, StateConflict)):
                    await work
            assert isinstance(await listed(sessions, OTHER), Head)
        assert await sessions.delete(ID) is True

    @pytest.mark.parametrize("format", ["0", "-1", "true", "1.0", '"1"', "null", "18446744073709551616"])
    async def test_what_is_no_format_of_this_program_is_refused(self, sessions: FileSessions, format: str) -> None:  # noqa: A002
        path = put(sessions, golden("written").replace(b'"format": 1,', f'"format": {format},'.encode()))
        with untouched(path):
            with pytest.raises(FileRefused, match=r"it has (no )?format") as caught:
                await sessions.load(ID)
            assert str(caught.value).isprintable()
            assert isinstance(await listed(sessions), Damaged)
