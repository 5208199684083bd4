"""Sessions that the tests of transcripts and exports share: an ordinary one, and one that means harm."""

from __future__ import annotations

import json
import struct
import zlib
from datetime import datetime, timedelta, timezone
from typing import Any

from agent_framework import Content, Message

from maf_memory.authorship import mark
from maf_memory.sessions.journal import Journal
from maf_memory.sessions.record import SessionRecord

START = datetime(2026, 9, 16, 10, 15, 30, tzinfo=timezone(timedelta(hours=2)))


def journal(*records: Any) -> Journal:
    return Journal.decode([*records])


def error(line: str, turns: int, **fields: Any) -> dict[str, Any]:
    """The form of an error, as a file holds it: whatever stands there, and not only what a program records."""
    time = (START + timedelta(minutes=turns)).isoformat()
    return {"time": time, "kind": "generation", "turns": turns, "question": "", "line": line, **fields}


def record_of(*messages: Message, errors: Journal | None = None, **fields: Any) -> SessionRecord:
    return SessionRecord(
        id="20260916-101530-4f2a9c1e",
        created=START,
        updated=START + timedelta(minutes=6),
        cwd="/home/ada/shop",
        messages=list(messages),
        errors=journal() if errors is None else errors,
        **fields,
    )


def user(*contents: Any, **fields: Any) -> Message:
    return Message("user", list(contents), **fields)


def assistant(*contents: Any, **fields: Any) -> Message:
    return Message("assistant", list(contents), **fields)


def by_program(role: str, kind: str, text: str) -> Message:
    return Message(role, [text], additional_properties=mark("mm", kind))


def call(call_id: str, name: str, arguments: Any = "{}") -> Content:
    return Content.from_function_call(call_id, name, arguments=arguments)


def result(call_id: str, outcome: Any, **fields: Any) -> Message:
    return Message("tool", [Content.from_function_result(call_id, result=outcome, **fields)])


def png(width: int = 320, height: int = 180) -> bytes:
    """A real image: a plain gradient."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(
        b"\0" + b"".join(bytes((60 + 150 * x // width, 120, 90 + 150 * y // height)) for x in range(width))
        for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


ANSWER = """\
Use the standard library's **`log/slog`**. It writes both formats, and the choice stays in one place:

| Format | For whom | Setting |
|:-------|:--------:|--------:|
| text   | a person at a terminal | `slog.NewTextHandler` |
| JSON   | a collector, `jq`      | `slog.NewJSONHandler` |

### What to change

1. Create the logger in `cmd/shop/main.go`.
2. Pass it on; do not use the package's default.
   - tests get one that writes to `t.Log`
   - handlers take it from the context

```go
logger := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo, AddSource: true}))
slog.SetDefault(logger) // nobody should need it
```

> Decide once. A log that is half text and half JSON can be read by nobody.

See the [package's documentation](https://pkg.go.dev/log/slog).
"""


def ordinary() -> SessionRecord:
    """What a day's work leaves: tools, an image, a note, reasoning, errors."""
    arguments = '{"path": "internal/log/log.go", "first_line": 1, "last_line": 40}'
    text = 'package log\n\nimport "log/slog"\n\nfunc New() *slog.Logger {\n\treturn slog.Default()\n}\n'
    write = json.dumps({"path": "internal/log/log.go", "text": text})
    return record_of(
        Message(
            "system",
            ["You are a careful assistant. Answer in the person's language."],
            additional_properties=mark("mm", "instructions"),
        ),
        user("Quel format pour les logs ?\nTexte ou JSON, et avec quelle bibliothèque ?"),
        assistant(
            Content.from_text_reasoning(text="The project is written in Go. Look at what it logs with today."),
            call("c1", "read_file", arguments),
            call("c2", "search", '{"pattern": "fmt.Println"}'),
        ),
        result("c1", 'package log\n\nimport "fmt"\n\nfunc Info(text string) {\n\tfmt.Println("INFO", text)\n}\n'),
        result("c2", "internal/log/log.go:6\ninternal/cart/cart.go:88\n"),
        assistant(ANSWER),
        by_program("user", "context", "Branch: main, 2 files changed."),
        user(
            Content.from_text("Et voici la capture du tableau de bord."),
            Content.from_data(png(), "image/png", name="dashboard.png"),
        ),
        assistant(call("c3", "write_file", write), call("c4", "run", '{"command": "go test ./..."}')),
        result("c3", "written"),
        assistant("C'est fait : `internal/log/log.go` passe par `slog`. Les tests tournent encore."),
        user("متى ينتهي الاختبار؟"),
        assistant("ينتهي الاختبار خلال دقيقة. اكتب `go test` مرة أخرى."),
        errors=journal(
            error(
                "the model server at http://127.0.0.1:8080 does not answer",
                2,
                question="Et les sauvegardes ?",
                raw="ConnectError: [Errno 111] Connection refused",
                model="qwen3.5-4b",
            ),
        ),
        title="Quel format pour les logs ?",
        provider="openai",
        model="qwen3.5-4b",
    )


HOSTILE = (
    "</style><script>alert(1)</script>",
    "</title></head><body onload=alert(1)><img src=https://evil.example/x.png onerror=alert(1)>",
    "<!-- <svg onload=alert(1)> --> <![CDATA[ x ]]> <?php ?> <iframe src=//evil.example></iframe>",
    "[click](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>) [f](file:///etc/passwd)",
    "[ent](javascript&#58;alert(1)) [tab](java&Tab;script:alert(1)) [case](JaVaScRiPt:alert(1)) [vb](vbscript:x)",
    "<javascript:alert(1)> [ref]\n\n[ref]: javascript:alert(1)\n",
    "![pixel](https://evil.example/pixel.png?q=1) ![local](file:///etc/passwd) ![rel](../secret.png)",
    '![data](data:image/svg+xml;base64,PHN2Zy8+) ![](https://evil.example/a.png "t" )',
    "[![x](https://evil.example/b.png)](https://evil.example/c)",
    '[quote](https://evil.example/"onmouseover="alert(1)) [q2](https://evil.example/\'x) {{ 7*7 }} {% raw %} ${x}',
    "left \u202egnp.exe\u202c \u2066isolated\u2069 right \u200fmark",
    "NUL \0, bell \a, escape \x1b[2J\x1b]0;title\x07, C1 \x9b31m, DEL \x7f, return \r, NEL \x85, LS \u2028 PS \u2029",
    "lone \ud800 surrogate",
    "```\nnever closed </code></pre><script>alert(1)</script>",
    "````\n```\ninside\n```\n</details></main>",
    "| a | b |\n|--|--:|\n| <b onclick=alert(1)>x</b> | ![i](https://evil.example/t.png) |",
    "    <script>indented()</script>\n\ntext `<script>` and `` ` `` and \\<script> and \\`<b>\\`",
    "<" * 300 + "&" * 300 + "&amp;&lt;&#0;&#x1F600;&nosuch;",
)


def hostile() -> SessionRecord:
    """Whatever a page could be attacked with, at every place where a session holds text."""
    everything = "\n\n".join(HOSTILE)
    line = "W" * 1_000_000
    deep = ">" * 3000 + "\n" + "- " * 3000 + "x\n\n" + "*a **b " * 3000 + "[" * 5000 + "\n"
    spoken: list[Message] = []
    for number, text in enumerate(HOSTILE):
        spoken += [
            user(text),
            assistant(Content.from_text_reasoning(text=text), call(f"c{number}", text, {text: text, "list": [text]})),
            result(f"c{number}", text),
            assistant(text, author_name=text),
            by_program("user", "note" + text, text),
        ]
    return record_of(
        Message("system", [everything]),
        *spoken,
        user(line, Content.from_uri("javascript:alert(1)", media_type="text/html", name=everything)),
        assistant(line, deep),
        user(
            Content.from_data(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"),
            Content.from_data(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/png", name='" onerror="alert(1)'),
            Content.from_uri("https://evil.example/remote.png", media_type="image/png"),
            Content.from_hosted_file("file-1", name="</figure>"),
        ),
        assistant("| " * 500 + "\n" + "|-" * 500 + "|\n", call("raw", "</summary>", "{not json </pre>")),
        errors=journal(
            *(error(text, 1, question=text, raw=text, model=text, kind=text) for text in HOSTILE), {"x": HOSTILE[0]}
        ),
        title=everything,
        provider=everything,
        model=everything,
        key=everything,
    )
