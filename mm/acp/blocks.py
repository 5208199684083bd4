"""What a prompt is made of, as the framework's contents and back: an image, a file or a link returns as it was sent.

The model reads a file or a link as text; what the editor sent stands beside it, in the content's own properties.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from acp.schema import (
    AudioContentBlock,
    BlobResourceContents,
    EmbeddedResourceContentBlock,
    ImageContentBlock,
    ResourceContentBlock,
    TextContentBlock,
    TextResourceContents,
)
from pydantic import ValidationError

from maf_memory.authorship import ATTACHMENT
from maf_memory.errors import MafMemoryError
from maf_memory.text import one_line, sound, sound_throughout
from mm.attachments import IMAGES, MAXIMUM_IMAGE, MAXIMUM_TEXT

if TYPE_CHECKING:
    from agent_framework import Content, Message

    Block = (
        TextContentBlock | ImageContentBlock | AudioContentBlock | ResourceContentBlock | EmbeddedResourceContentBlock
    )

_LONGEST_NAME = 300


class BlockRefused(MafMemoryError):
    """A prompt holds what cannot be sent to the model; nothing of it was sent."""


def message_of(blocks: Sequence[Block]) -> Message:
    """Return the question that the blocks are.

    Raises:
        BlockRefused: one of them cannot be taken, or there is nothing in them.
    """
    from agent_framework import Message

    contents = [_content(block) for block in blocks]
    if not any(content.type != "text" or (content.text or "").strip() for content in contents):
        raise BlockRefused("The prompt is empty. Write a question.")
    return Message("user", contents)


def _content(block: Block) -> Content:
    from agent_framework import Content

    match block:
        case TextContentBlock():
            return Content.from_text(sound(block.text))
        case ImageContentBlock():
            beside = {"type": "image", **({"uri": sound(block.uri)} if block.uri else {})}
            return Content.from_data(_image(block), block.mime_type, additional_properties={ATTACHMENT: beside})
        case ResourceContentBlock():
            text = f"[linked file: {_named(block.uri, block.title or block.name)}]"
            return Content.from_text(text, additional_properties={ATTACHMENT: _plain(block)})
        case EmbeddedResourceContentBlock(resource=TextResourceContents() as resource):
            where = _named(resource.uri)
            if len(resource.text) > MAXIMUM_TEXT:
                raise BlockRefused(f"{where} was not attached: it has {len(resource.text):,} characters, and at most "
                                   f"{MAXIMUM_TEXT:,} are taken. Attach a part of it, or link it.")  # fmt: skip
            sent = _plain(block)
            sent["resource"] = {name: value for name, value in sent["resource"].items() if name != "text"}
            text = f"[attached file: {where}]\n{sound(resource.text)}"
            return Content.from_text(text, additional_properties={ATTACHMENT: sent})
        case EmbeddedResourceContentBlock():
            raise BlockRefused(f"{_named(block.resource.uri)} was not attached: it is not text.")
        case _:
            raise BlockRefused("Audio cannot be sent to the model. Write the question.")


def _image(block: ImageContentBlock) -> bytes:
    if block.mime_type not in IMAGES:
        kinds = ", ".join(sorted(kind.partition("/")[2] for kind in IMAGES))
        raise BlockRefused(f"An image of the type {one_line(block.mime_type, 60)} is not taken, only {kinds}.")
    if len(block.data) // 4 * 3 > MAXIMUM_IMAGE + 2:
        raise BlockRefused(f"The image is too large: at most {MAXIMUM_IMAGE // 1024 // 1024} MiB are taken.")
    try:
        return base64.b64decode(block.data, validate=True)
    except binascii.Error as error:
        raise BlockRefused(f"The image is not sound base64: {error}.") from error


def _plain(block: Block) -> dict[str, Any]:
    plain: dict[str, Any] = sound_throughout(block.model_dump(mode="json", by_alias=True, exclude_none=True))
    return plain


def _named(uri: str, title: str = "") -> str:
    """Return where a file is, as the tools take it: the path of a ``file:`` address, else the address."""
    parts = urlsplit(uri) if uri.startswith("file:") else None
    where = url2pathname(parts.path) if parts else uri
    if parts and parts.fragment:
        where += f"#{parts.fragment}"
    name = one_line(sound(where or title), _LONGEST_NAME)
    return name if parts or not title or title == where else f"{one_line(sound(title), _LONGEST_NAME)}, {name}"


def blocks_of(content: Content) -> Block | None:
    """Return the block that a content came from, or the nearest one; ``None`` for what says nothing."""
    if content.type == "text":
        return _text_block(content.text or "", content.additional_properties.get(ATTACHMENT))
    uri = str(content.uri or content.file_id or "")
    if content.type == "data" and (found := _data(uri)):
        return _data_block(*found, content)
    if content.type in {"data", "uri", "hosted_file"}:
        name = str(content.name or uri.rpartition("/")[2] or "file")
        return ResourceContentBlock(type="resource_link", uri=uri, name=name, mime_type=content.media_type)
    return None


def _text_block(text: str, sent: object) -> Block | None:
    if isinstance(sent, Mapping):
        try:
            if sent.get("type") == "resource_link":
                return ResourceContentBlock.model_validate(sent)
            if sent.get("type") == "resource" and isinstance(sent.get("resource"), Mapping):
                resource = {**sent["resource"], "text": text.partition("\n")[2]}
                return EmbeddedResourceContentBlock.model_validate({**sent, "resource": resource})
        except ValidationError:
            pass  # written by another program, or changed by hand: what the model read is shown
    return TextContentBlock(type="text", text=text) if text else None


def _data(uri: str) -> tuple[str, str] | None:
    """Return the media type and the base64 text that a ``data:`` address holds."""
    head, comma, data = uri.partition(",")
    if not comma or not head.lower().startswith("data:") or not head.lower().endswith(";base64"):
        return None
    return head[5:-7].partition(";")[0], data


def _data_block(kind: str, data: str, content: Content) -> Block:
    sent = content.additional_properties.get(ATTACHMENT)
    where = sent.get("uri") if isinstance(sent, Mapping) else None
    where = where if isinstance(where, str) else None
    match kind.partition("/")[0]:
        case "image":
            return ImageContentBlock(type="image", data=data, mime_type=kind, uri=where)
        case "audio":
            return AudioContentBlock(type="audio", data=data, mime_type=kind)
        case _:
            blob = BlobResourceContents(uri=where or f"attachment:{content.name or 'file'}", blob=data, mime_type=kind)
            return EmbeddedResourceContentBlock(type="resource", resource=blob)
