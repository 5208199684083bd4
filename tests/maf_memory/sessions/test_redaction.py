"""Redaction takes keys and tokens out of free text, leaves ordinary text alone, and takes linear time."""

from __future__ import annotations

import random
import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maf_memory.sessions.redaction import MARK, redact

STEADY = settings(derandomize=True, deadline=None)
ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
HEX = "0123456789abcdef"


def of(alphabet: str, length: int) -> str:
    """Letters as a maker of tokens draws them, always the same ones."""
    return "".join(random.Random(f"{alphabet}{length}").choices(alphabet, k=length))


TOKENS = {
    "sk-…": f"sk-{of(ALNUM, 20)}T3BlbkFJ{of(ALNUM, 20)}",
    "sk-proj-…": f"sk-proj-{of(WORD, 74)}T3BlbkFJ{of(WORD, 74)}",
    "sk-ant-…": f"sk-ant-api03-{of(WORD, 93)}AA",
    "sk-or-…": f"sk-or-v1-{of(HEX, 64)}",
    "ghp_…": f"ghp_{of(ALNUM, 36)}",
    "github_pat_…": f"github_pat_{of(ALNUM, 22)}_{of(ALNUM, 59)}",
    "glpat-…": f"glpat-{of(WORD, 20)}",
    "AKIA…": f"AKIA{of(string.ascii_uppercase, 16)}",
    "AIza…": f"AIza{of(WORD, 35)}",
    "ya29.…": f"ya29.{of(WORD, 80)}",
    "xoxb-…": f"xoxb-123456789012-1234567890123-{of(ALNUM, 24)}",
    "xapp-…": f"xapp-1-A0123456789-1234567890123-{of(HEX, 64)}",
    "hooks.slack.com/services/…": f"hooks.slack.com/services/T01234567/B01234567/{of(ALNUM, 24)}",
    "eyJ…": f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{of(WORD, 43)}",
    "hf_…": f"hf_{of(string.ascii_letters, 34)}",
    "npm_…": f"npm_{of(ALNUM, 36)}",
    "pypi-…": f"pypi-AgEIcHlwaS5vcmc{of(WORD, 80)}",
    "sk_live_…": f"sk_live_{of(ALNUM, 24)}",
    "SG.…": f"SG.{of(ALNUM, 22)}.{of(ALNUM, 43)}",
    "dapi…": f"dapi{of(HEX, 32)}",
    "gsk_…": f"gsk_{of(ALNUM, 52)}",
    "xai-…": f"xai-{of(ALNUM, 80)}",
    "r8_…": f"r8_{of(ALNUM, 37)}",
    "hvs.…": f"hvs.{of(WORD, 90)}",
    "dp.pt.…": f"dp.pt.{of(ALNUM, 43)}",
    "AGE-SECRET-KEY-1…": f"AGE-SECRET-KEY-1{of('QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}",
    "": f"{of(ALNUM, 52)}JQQJ99{of(ALNUM, 26)}",  # an Azure key
    " ": f"1234567890:AA{of(WORD, 33)}",  # a Telegram bot's
    "  ": f"abc8Q~{of(WORD, 34)}",  # a secret of an Entra ID application
}


@pytest.mark.parametrize(("left", "token"), TOKENS.items(), ids=[token[:12] for token in TOKENS.values()])
def test_a_token_is_known_by_its_own_shape(left: str, token: str) -> None:
    for before, after in (("refused ", " (401)"), ("'", "'"), ("(", ")."), ("a_", "\n"), ("", "")):
        assert redact(f"{before}{token}{after}") == f"{before}{left.strip()}{MARK}{after}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer hunter2", "Authorization: Bearer [redacted]"),
        ("authorization: bearer abcdef", "authorization: bearer [redacted]"),
        ("{'Authorization': 'Bearer abcdef', 'x': 1}", "{'Authorization': 'Bearer [redacted]', 'x': 1}"),
        ("sent Bearer abc.def-123= to the server", "sent Bearer [redacted] to the server"),
        ("Proxy-Authorization: Basic YWRhOmh1bnRlcjI=", "Proxy-Authorization: Basic [redacted]"),
        ('Authorization: Digest username="ada", response="abc"\nnext', "Authorization: Digest [redacted]\nnext"),
        ("Authorization: 8f3a", "Authorization: [redacted]"),
        ("x-api-key: swordfish", "x-api-key: [redacted]"),
        ("X-Auth-Token: swordfish\r\n", "X-Auth-Token: [redacted]\r\n"),
        ("Set-Cookie: id=abc; Path=/", "Set-Cookie: [redacted]"),
        ("GET /v1?model=a&key=abc&x=1 failed", "GET /v1?model=a&key=[redacted]&x=1 failed"),
        ("/v1?access_token=abc#x", "/v1?access_token=[redacted]"),
        ("?u=https%3A%2F%2Fh%3Fapi_key%3Dabc", "?u=https%3A%2F%2Fh%3Fapi_key%3D[redacted]"),
        ('{"api_key": "abc def", "model": "x"}', '{"api_key": "[redacted]", "model": "x"}'),
        (r'{"password": "a\"b", "x": 1}', '{"password": "[redacted]", "x": 1}'),
        (r"{\"client_secret\": \"a b\", \"x\": 1}", r"{\"client_secret\": \"[redacted]\", \"x\": 1}"),
        ("{'token': 'abc123'}", "{'token': '[redacted]'}"),
        ("OPENAI_API_KEY=abcdef python x.py", "OPENAI_API_KEY=[redacted] python x.py"),
        ("export HF_TOKEN=abcdef", "export HF_TOKEN=[redacted]"),
        ("key=hunter2", "key=[redacted]"),
        ("apiKey: abcdef", "apiKey: [redacted]"),
        ("password=hunter2 host=db", "password=[redacted] host=db"),
        ("password: hunter2", "password: [redacted]"),
        ("PGPASSWORD=a,b;c&d psql", "PGPASSWORD=[redacted] psql"),
        ("Server=db;Password=a;b;User=c", "Server=db;Password=[redacted];User=c"),
        ("AccountKey=ab+/cd==;EndpointSuffix=core", "AccountKey=[redacted];EndpointSuffix=core"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MD", "aws_secret_access_key = [redacted]"),
        ("login(password=hunter2, user=ada)", "login(password=[redacted], user=ada)"),
        ("mot de passe : hunter2", "mot de passe : [redacted]"),
        ("密码: hunter2", "密码: [redacted]"),
        ("serve --api-key abcdef --token-count 12", "serve --api-key [redacted] --token-count 12"),
        ("Incorrect API key provided: abc-def", "Incorrect API key provided: [redacted]"),
        ("provided: sk-proj-*******1234. See", "provided: sk-proj-…[redacted]. See"),
        ("Received API Key = sk-...abcd, Key", "Received API Key = sk-…[redacted], Key"),
        ("api_key=sk-abcdef", "api_key=sk-…[redacted]"),
        ("postgres://ada:s3cret!@db:5432/shop", "postgres://ada:[redacted]@db:5432/shop"),
        ("https://ada:p@ss@host/a?b=c@d", "https://ada:[redacted]@host/a?b=c@d"),
        ("redis://:hun/ter2@host", "redis://:[redacted]@host"),
        (f"https://{of(ALNUM, 24)}@host/1", "https://[redacted]@host/1"),
        ("a -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- b",) * 2,
        ("-----BEGIN OPENSSH PRIVATE KEY-----\\nb3Bl", "-----BEGIN OPENSSH PRIVATE KEY-----[redacted]"),
        ("sk-a-very-secret-key", "sk-…[redacted]"),
        ("[(b'api-key', b'swordfish')]", "[(b'api-key', b'[redacted]')]"),
        ("('x-api-key', 'swordfish')", "('x-api-key', '[redacted]')"),
        ("(b'host', b'h'), (b'x-auth-token', b'a b')", "(b'host', b'h'), (b'x-auth-token', b'[redacted]')"),
        ("(b'Authorization', b'Bearer abc')", "(b'Authorization', b'Bearer [redacted]')"),
        (
            "(b'Authorization', b'abc'), ('cookie', 'a=b')",
            "(b'Authorization', b'[redacted]'), ('cookie', '[redacted]')",
        ),
        ("Invalid token 'swordfish'", "Invalid token '[redacted]'"),
        ("invalid x-api-key hunter2fish.", "invalid x-api-key [redacted]."),
        ("api key hunter2fish is invalid", "api key [redacted] is invalid"),
        ("password 'swordfish' rejected", "password '[redacted]' rejected"),
        ("the password is hunter2fish", "the password is [redacted]"),
        ("the password is 'a b'", "the password is '[redacted]'"),
        ("token sk-abcdef1 expired", "token sk-…[redacted] expired"),
        ("<password>sword fish</password>", "<password>[redacted]</password>"),
        ('<s:ApiKey id="1">swordfish</s:ApiKey>', '<s:ApiKey id="1">[redacted]</s:ApiKey>'),
        ('"tokens": ["hunter2fish", "b"]', '"tokens": ["[redacted]", "b"]'),
        ('"api_keys": [\n "swordfish",\n "b"]', '"api_keys": [\n "[redacted]",\n "[redacted]"]'),
        ("api_key\uff1aswordfish", "api_key\uff1a[redacted]"),
        ("api_key\x00=swordfish", "api_key\x00=[redacted]"),
        ("curl -u ada:swordfish http://h", "curl -u ada:[redacted] http://h"),
        ("curl --user 'ada:swordfish' x", "curl --user 'ada:[redacted]' x"),
        ("sshpass -p swordfish ssh h", "sshpass -p [redacted] ssh h"),
        ("password: >\n  sword\n  fish\nhost: h", "password: >\n  [redacted]\n  [redacted]\nhost: h"),
        ("password: |-\r\n  swordfish", "password: |-\r\n  [redacted]"),
        ("api_key:\n  swordfish\nhost: h", "api_key:\n  [redacted]\nhost: h"),
        ('"api_key":\n  "swordfish",\n', '"api_key":\n  "[redacted]",\n'),
    ],
)
def test_a_value_behind_a_telling_name_goes_and_its_name_stays(text: str, expected: str) -> None:
    if text == expected:
        expected = text.replace("\nMIIE\n", MARK)
    assert redact(text) == expected
    assert redact(expected) == expected


@pytest.mark.parametrize(
    "text",
    [
        "the key is under the mat",
        "token count = 12, max_tokens: 4096, tokenizer=bpe, eos_token=</s>",
        "key: C minor, the secret: patience, password: required, api key: please set it",
        "sorted(items, key=len) and sorted(items, key=lambda item: item.name)",
        '{"key": "name", "value": 3, "token": "hello", "password": null}',
        "Unexpected token < in JSON at position 0; Unexpected token: punc",
        "primary key: user_id2024, cache_key=page:12, public_key=ab12cd34ef, sort_key=3",
        "api_key: str = None, api_key = settings.api_key, password = getpass()",
        'api_key = os.environ["OPENAI_API_KEY"] and password=$PGPASSWORD and token: <your token>',
        "PWD=/home/ada/shop OLDPWD=/home/ada",
        "commit 4f2a9c1e4f2a9c1e4f2a9c1e4f2a9c1e4f2a9c1e, sha256:4f2a9c1e4f2a9c1e4f2a9c1e4f2a9c1e4f2a9c1e",
        "No session key-00112233445566778899aabbccddeeff; 20260916-101530-4f2a9c1e is there",
        "id 550e8400-e29b-41d4-a716-446655440000, Qwen3-30B-A3B-Instruct-2507-Q4_K_M.gguf",
        "TestHttpServer2HandlesManyConcurrentRequestsQuickly",
        "http://localhost:11434/v1/chat/completions, https://host:8080/path?mail=a@b.example, https://[::1]:80/@x",
        "git@github.com:ada/shop.git, ssh://git@github.com/ada/shop, ada@example.test",
        "Basic authentication failed; Visual Basic code; Bearer tokens are missing; the bearer of bad news",
        "Authorization: the server refused; cookie: chocolate; auth: none; author: ada",
        "sk-SK, sk-learn, scikit-learn, risk-averse-strategies-2024, task-sk, a glossary-of-terms-and-definitions",
        "npm_config_registry=x npm_package_version, hf_transformers_model_loader",
        "monkey=banana keyboard: de compass: north bypass=true bigotry: none",
        "the endpoint http://127.0.0.1:8080/v1 does not accept the key (401); check OPENAI_API_KEY",
        "the password is wrong, your api key is invalid, the token is required, this api key was revoked yesterday",
        "Unexpected token 'function2' in JSON, unknown token \"else\", secret 'db' not found, token 12 of 4096",
        "API key 'OPENAI_API_KEY' is not set; the password is sha256-hashed; a token of 128-bits; token https://h/2",
        "replace <password> and <user> in <a href='x'>b</a>, <tokenizer>bpe</tokenizer>",
        '"tokens": ["the", "cat", "sat"], "keys": ["a", "b"], tokens = [1, 2, 3]',
        "docker run -u 1000:1000 x, python -u a.py, -u https://h/x, -u C:\\x, ssh -p 22 h",
        "password:\n  required\ntoken:\n  Field required [type=missing]\npassword:\nnext",
        "('email', 'x'), [('name', 'ada'), ('key', 'b')], ('password',), ['user', 'id']",
        "",
        "\0\u2028é 日本 🙂",
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


def test_a_value_that_the_caller_names_is_taken_out_as_it_is_as_json_and_as_a_url() -> None:
    secret = 'p"ä ß/w+d'
    text = f'{secret} in "p\\"\\u00e4 \\u00df/w+d" and p\\"ä ß/w+d and '
    text += "p%22%C3%A4%20%C3%9F/w%2Bd, p%22%C3%A4%20%C3%9F%2Fw%2Bd"
    assert redact(text, [secret]) == '[redacted] in "[redacted]" and [redacted] and [redacted], [redacted]'


def test_a_short_value_is_taken_out_of_no_longer_word_and_a_shorter_one_not_at_all() -> None:
    assert redact("test the latest, test", ["test"]) == "[redacted] the latest, [redacted]"
    assert redact("abc", ["abc", "", "  "]) == "abc"


def test_a_value_that_the_caller_names_goes_with_what_hangs_on_it() -> None:
    assert redact("xabcdefghijkl-99 y", [" abcdefghijkl\n"]) == "x[redacted] y"
    assert redact("abcdef abcdefgh", ["abcdef", "abcdefgh"]) == "[redacted] [redacted]"
    assert redact("the mark [redacted] stays", ["redacted", "[redacted]"]) == "the mark [redacted] stays"


PIECES = st.sampled_from(
    [
        *TOKENS.values(),
        *(token[:5] for token in TOKENS.values()),
        *(
            "key=",
            "key:",
            "token=",
            "password:",
            "PASSWORD=",
            "api_key=",
            "'api_key':'",
            '"token":"',
            "secret",
            " provided",
            "('api-key','",
            "<password>",
            "</",
            "tokens: [",
            "password: >\n ",
            "-u a:",
            "invalid token '",
            "api key is ",
        ),
        *("Bearer ", "Basic ", "Authorization:", "Cookie:", "a=", "://", "://a:", "@", "--token ", "%3D", "hunter2"),
        *("-----BEGIN", "-----END", "-----BEGIN PRIVATE KEY-----", "sk-", "sk-…", "…", MARK, "[red", "acted]"),
        *" \n\t\\\"'`,;&?=:)]}({[<>$*.-_/%é\0",
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=14).map("".join)
SECRETS = st.lists(TEXTS.filter(lambda text: len(text) < 30) | st.text(min_size=3, max_size=20), max_size=2)


@settings(derandomize=True, deadline=None, max_examples=1_500)
@given(TEXTS, SECRETS)
def test_what_was_redacted_is_redacted_no_further(text: str, secrets: list[str]) -> None:
    once = redact(text, secrets)
    assert redact(once, secrets) == once


@STEADY
@given(st.text(), st.text(st.sampled_from(ALNUM + "!$%/+.-_~^ é"), min_size=6, max_size=40), st.text())
def test_a_value_that_the_caller_names_never_survives_whole(before: str, secret: str, after: str) -> None:
    out = redact(f"{before} {secret} {after}", [secret])
    assert secret not in out.replace(MARK, "") or len(secret.strip()) < 4


@STEADY
@given(
    st.sampled_from(
        ["password={}", "?a=1&key={}&b=2", "https://ada:{}@host/x", '"api_key": "{}"', "Bearer {}", "sk-{}"]
    )
)
@pytest.mark.parametrize("length", [8, 20, 300])
def test_no_four_letters_of_a_secret_survive(length: int, around: str) -> None:
    secret = of(ALNUM, length)
    out = redact(f"before {around.format(secret)} after")
    assert all(secret[start : start + 4] not in out for start in range(length - 3))
    assert out.startswith("before ")
    assert out.endswith(" after") or "Bearer" in around


HOSTILE = (
    *"a1M\\-=<.:/@'\"_ \u017f",
    *("a1B", "A.", ",a", "a@", "eyJ", "sk-", "pat", "ghp_", "0123456789:AA", "hooks.slack.com/services/"),
    *(
        "://",
        "://a:",
        "://x@",
        "pass",
        "--a",
        "--key key ",
        MARK,
        f"sk-…{MARK}",
        "-----BEGIN",
        "-----BEGIN PRIVATE KEY-----",
    ),
    *(
        "key=",
        'key="',
        "key='",
        'key=\\"',
        "key=${",
        "key: ",
        "token:",
        "token,token:",
        "cache_key=",
        "secret=(",
        "secret \n",
    ),
    *(
        "('api-key','",
        "(b'password', ",
        "<password>",
        "<password ",
        "<token><",
        '"tokens": [',
        "tokens:['a'",
        "password 'a",
    ),
    *(
        "password:\n ",
        "password: >\n a",
        "password: |\n",
        "-u a:",
        "sshpass -p ",
        "invalid token '",
        "token is ",
        "[b'",
    ),
    *("password: ", "password='\"", "api key: ", "Bearer ", "Authorization: ", "authorization: digest ", "cookie: "),
)


@pytest.mark.parametrize("unit", HOSTILE, ids=repr)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    """A quadratic pattern would take minutes to hours for this length; the bound leaves room for a slow machine."""
    text = (unit * (200_000 // len(unit) + 1))[:200_000]
    started = time.process_time()
    redact(text, ["a-key-that-is-named"])
    assert time.process_time() - started < 10


def test_a_megabyte_of_everything_that_is_hostile_takes_linear_time() -> None:
    text = "".join(unit * 40 for unit in HOSTILE if "BEGIN" not in unit)  # a private key takes the rest with it
    text = (text * (1_000_000 // len(text) + 1))[:1_000_000]
    started = time.process_time()
    redact(text)
    assert time.process_time() - started < 60
