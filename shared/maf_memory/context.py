"""ContextStore: the value that survives a restart while the dialogue does not.

One JSON file: ``{"version": 1, "entries": {"context": "…"}}``. It plays the part of the ``AgentState`` table of the
page that this project mirrors: entries for rows, an emptied object for ``DELETE``.
"""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path

from maf_memory.decoding import check_fields, decode_json
from maf_memory.errors import ContextRefused, FileRefused, VersionRefused
from maf_memory.files import StoreFile
from maf_memory.text import one_line, sound, utf16_length
from maf_memory.threads import finished_in_thread

VERSION = 1
KEY = "context"
MAXIMUM = 4096
"""The longest context, in UTF-16 code units, as .NET counts ``string.Length``."""


def checked_context(text: str) -> str:
    """Return ``text`` as it is stored: sound, and accepted as a context.

    Length is counted in UTF-16 code units and white space is .NET's (``char.IsWhiteSpace``), so that this store and
    the .NET one accept the same texts. The two rules come from ``AgentState.Set`` in the seed page.

    Raises:
        ContextRefused: it is empty, only white space, or longer than 4096.
    """
    text = sound(text)
    if all(_is_dotnet_space(character) for character in text):
        raise ContextRefused("Context must not be empty or only white space.")
    if utf16_length(text) > MAXIMUM:
        raise ContextRefused(f"Context must not exceed {MAXIMUM} characters.")
    return text


def _is_dotnet_space(character: str) -> bool:
    return character in "\t\n\v\f\r\x85" or unicodedata.category(character) in {"Zs", "Zl", "Zp"}


class ContextStore:
    """Keeps one context value in a file that is read again at every question."""

    def __init__(self, path: str | os.PathLike[str], *, root: Path | None = None) -> None:
        """Name the file; ``root`` is a folder above it, below which no link is followed."""
        self._file = StoreFile(path, root=root)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    async def open(self) -> None:
        """Create the file where it is missing, sweep what a killed save left; entries are never cleared.

        Raises:
            FileRefused: the file is damaged or of another version; it was left as it is.
            SaveFailed: the folder or the file cannot be created.
        """
        await finished_in_thread(self._open)

    async def get(self) -> str | None:
        """Return the value on the disk now, or ``None`` when there is none.

        Raises:
            FileRefused: the file is damaged or of another version; it was left as it is.
        """
        return (await self.entries()).get(KEY)

    async def entries(self) -> dict[str, str]:
        """Return every entry on the disk now; no file is no entry.

        Raises:
            FileRefused: as :meth:`get`.
        """
        return await finished_in_thread(self._read)

    async def set(self, text: str) -> str:
        """Replace the value, durably, and return it as stored. Other entries stay.

        Raises:
            ContextRefused: the text is not accepted; the value is as it was.
            FileRefused: the file is damaged; it was left as it is.
            SaveFailed: the disk refused; the old file is as it was.
            NotProvenDurable: the value is replaced, but a power cut may bring the old one back.
        """
        value = checked_context(text)
        await finished_in_thread(self._set, value)
        return value

    async def reset(self) -> int:
        """Empty all entries in one durable replace, keep the file, and return how many there were.

        Raises:
            FileRefused, SaveFailed, NotProvenDurable: as :meth:`set`.
        """
        return await finished_in_thread(self._reset)

    async def destroy(self) -> bool:
        """Delete the file, whatever it holds, and return whether there was one. Only an explicit command does this.

        Raises:
            SaveFailed, NotProvenDurable: as :meth:`set`.
        """
        return await finished_in_thread(self._destroy)

    def _open(self) -> None:
        self._file.sweep()
        if self._file.read() is None:
            with self._file.locked():
                if self._file.read() is None:
                    self._file.replace(_encode({}))
        self._read()

    def _read(self) -> dict[str, str]:
        content = self._file.read()
        return {} if content is None else _decode(content, self.path)

    def _set(self, value: str) -> None:
        with self._file.locked():
            self._file.replace(_encode({**self._read(), KEY: value}))

    def _reset(self) -> int:
        with self._file.locked():
            self._file.sweep_held()
            count = len(self._read())
            self._file.replace(_encode({}))
            return count

    def _destroy(self) -> bool:
        if self._file.folder_is_missing:
            return False
        with self._file.locked("deleted"):
            self._file.sweep_held()
            return self._file.delete()


def _encode(entries: dict[str, str]) -> bytes:
    return (json.dumps({"version": VERSION, "entries": entries}, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


def _decode(content: bytes, path: Path) -> dict[str, str]:
    document = decode_json(content, path, expected="a context store of version 1")
    if type(document) is dict and type(document.get("version")) is int and document["version"] != VERSION:
        raise VersionRefused(
            path, f"it has version {one_line(str(document['version']))}", f"this program reads version {VERSION}"
        )
    entries: dict[str, object] = check_fields(document, {"version": int, "entries": dict}, path)["entries"]
    for key, value in entries.items():
        if type(value) is not str:
            raise FileRefused(path, f"the entry {one_line(json.dumps(key))} is not a text", "texts only")
    if KEY in entries:
        _check_stored(str(entries[KEY]), path)
    return {key: str(value) for key, value in entries.items()}


def _check_stored(value: str, path: Path) -> None:
    try:
        checked_context(value)
    except ContextRefused as error:
        raise FileRefused(path, f"its context breaks the rule «{error}»", "a context that setctx accepts") from error
