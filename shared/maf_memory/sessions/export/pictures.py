"""Which images a page shows, and the reason where it does not show one."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass

from maf_memory.sessions.items import Attachment, in_bytes

LARGEST = 5_000_000
"""The largest image that is shown, in bytes."""

ALL_TOGETHER = 50_000_000
"""How many bytes of images one page holds."""

_RASTER = {
    "image/png": re.compile(rb"\x89PNG\r\n\x1a\n"),
    "image/jpeg": re.compile(rb"\xff\xd8\xff"),
    "image/gif": re.compile(rb"GIF8[79]a"),
    "image/webp": re.compile(rb"RIFF....WEBP", re.DOTALL),
}
"""The types that hold nothing but pixels, and how they begin. SVG is a document with scripts and links of its own."""

_DATA = re.compile(r"data:(image/[a-z]+)(?:;[^,;]*)*;base64,", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Picture:
    """An image as a page shows it: ``source`` is a ``data:`` address, or ``None``, and then ``reason`` says why."""

    source: str | None
    reason: str = ""


class Pictures:
    """The images of one page, within its budget."""

    def __init__(self, largest: int = LARGEST, all_together: int = ALL_TOGETHER) -> None:
        self._largest = largest
        self._left = all_together

    def __call__(self, attachment: Attachment) -> Picture:
        """Return how the page shows the attachment."""
        if attachment.size is None or attachment.uri is None:
            return Picture(None, "only referred to: nothing is loaded from elsewhere" if attachment.uri else "")
        if attachment.label != "Image":
            return Picture(None)
        if attachment.size > self._largest:
            return Picture(None, f"not shown: an image has at most {in_bytes(self._largest)} here")
        head = _DATA.match(attachment.uri)
        kind = head[1].lower() if head else ""
        if head is None or kind not in _RASTER:
            return Picture(None, "not shown: only PNG, JPEG, GIF and WebP images are")
        try:
            content = base64.b64decode(attachment.uri[head.end() :], validate=True)
        except (binascii.Error, ValueError):
            return Picture(None, "not shown: its data is damaged")
        if not _RASTER[kind].match(content):
            return Picture(None, f"not shown: it is no {kind}")
        if len(content) > self._left:
            return Picture(None, f"not shown: a page holds at most {in_bytes(ALL_TOGETHER)} of images")
        self._left -= len(content)
        return Picture(f"data:{kind};base64,{base64.b64encode(content).decode('ascii')}")
