"""A session as one file for a reader: a self-contained page (:func:`as_html`), or Markdown (:func:`as_markdown`).

Both draw the items of :func:`maf_memory.sessions.transcript.transcript`, and nothing that a model, a tool or a person
wrote is more than text in either. They return texts; writing a file is the caller's work.
"""

from __future__ import annotations

from maf_memory.sessions.export.document import as_markdown
from maf_memory.sessions.export.page import as_html

__all__ = ["as_html", "as_markdown"]
