"""A question brings files along; what cannot be attached is said before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from maf_memory.sessions.files import FileSessions
from mm.attachments import MAXIMUM_TEXT, AttachmentRefused, mentions, with_attachments
from tests.mm.brain import conversation_of, drawn

PNG = bytes.fromhex("89504e470d0a1a0a") + b"pixels"


def test_a_named_file_follows_the_question_after_a_line_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.md").write_text("\ufeffport 8080\n", encoding="utf-8")
    message = with_attachments("What is in @notes.md, please?", tmp_path)
    texts = [content.text for content in message.contents]
    assert texts == ["What is in @notes.md, please?", "[attached file: notes.md]\nport 8080\n"]


def test_an_image_goes_as_an_image(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(PNG)
    message = with_attachments('Look at @"a b.png"', tmp_path)
    assert message.contents[1].text == "[attached file: a b.png]"
    assert message.contents[2].media_type == "image/png"


def test_a_word_that_names_no_file_stays_a_word(tmp_path: Path) -> None:
    for text in ("mail ada@example.org", "@nobody is here", "@", "x @\0", "@" + "x" * 5000):
        assert with_attachments(text, tmp_path).text == text


def test_a_file_is_attached_once_however_often_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x", encoding="utf-8")
    assert with_attachments("@a and @a.", tmp_path).text.count("[attached file") == 1
    assert list(mentions('@a, (@b) @"c d" x@e')) == ["a", "c d"]


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"\0\1", "neither UTF-8 text nor an image"), (b"\xff", "neither"), (b"x" * (MAXIMUM_TEXT + 1), "262,145 bytes")],
)
def test_what_is_no_text_or_too_large_is_refused_by_name(tmp_path: Path, content: bytes, why: str) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(AttachmentRefused, match=f"^f was not attached: .*{why}"):
        with_attachments("@f", tmp_path)


def test_nothing_outside_the_project_is_attached_by_a_path_or_by_a_link(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret").write_text("key", encoding="utf-8")
    (project / "link").symlink_to(tmp_path / "secret")
    for name in ("../secret", str(tmp_path / "secret"), "link"):
        with pytest.raises(AttachmentRefused, match="outside the project"):
            with_attachments(f"@{name}", project)


async def test_text_and_image_are_recorded_as_they_were_sent(tmp_path: Path) -> None:
    (tmp_path / "p.png").write_bytes(PNG)
    (tmp_path / "t").write_text("text", encoding="utf-8")
    conversation, client = conversation_of(tmp_path, ["ok"])
    await drawn(conversation.ask(with_attachments("See @p.png and @t", tmp_path)))
    again = await FileSessions.of_project(tmp_path).load(conversation.keeper.record.id)
    sent = client.requests[0].messages[0]
    assert again.messages[1].to_dict() == sent.to_dict()
    assert again.messages[1].contents[2].uri.startswith("data:image/png;base64,")
    assert again.title == "See @p.png and @t"
