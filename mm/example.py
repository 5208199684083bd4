"""The commented ``agent.yaml`` that ``mm init`` writes: every key, with its default."""

from __future__ import annotations

from pathlib import Path

from maf_memory.errors import NotProvenDurable
from maf_memory.files import StoreFile
from mm.agent_yaml import NAME
from mm.errors import ConfigRefused

EXAMPLE = """\
# agent.yaml: the agent of this project. Every key is here with its default; what you leave out keeps it.

# How the agent is called.
name: mini-me

# What the agent is told before everything else. A conversation that is resumed runs under today's instructions.
instructions: >-
  You are mini-me, a small agent that works in the project folder it was started in.
  Read before you change, change as little as needed, and say what you did.

model:
  # offline: no model, it quotes what it was sent. openai: any OpenAI-compatible endpoint. script: replies from a file.
  provider: offline
  # The model's name at the endpoint.
  # name: qwen3.5-4b
  # The endpoint; without it, OPENAI_BASE_URL.
  # baseURL: http://127.0.0.1:8080/v1
  # The NAME of the environment variable that holds the key, never the key itself.
  keyVariable: OPENAI_API_KEY
  # With provider script: the file of replies.
  # script: replies.json

# The longest output of one tool call that the model gets, in characters.
maxOutput: 20000

# How long the model may be silent before the turn is given up: 90s, 2m, 1m30s.
watchdogTimeout: 2m

sessions:
  # Whether conversations are kept, in .mm/sessions beside the project, and can be found again.
  enabled: true

memory:
  # Whether /memory WORDS searches earlier conversations.
  command: false
  # Whether the model may search them itself. To a small model each tool matters, even unused.
  tool: false

compaction:
  # At which share of contextSize old turns become a summary by themselves: a number from 0.1 to 1, or off.
  threshold: off
  # How many tokens the model can take.
  contextSize: 32768
  # Whether the conversation as it was is kept as a session of its own.
  keepOriginal: false
  # How many of the last turns stay as they are.
  keepTurns: 2

# What the agent may use. Writing and running ask first.
tools:
  - read_file
  - list_files
  - search_text
  - write_file
  - edit_file
  - run_command

hooks:
  # Commands that get the prompt as JSON before it is sent; they may add context or block it. No shell runs them.
  # preGeneration:
  #   - command: [python3, hooks/context.py]
  #     timeout: 10s
  preGeneration: []
"""


def write_example(folder: Path) -> Path:
    """Write the example into ``folder`` and return its path.

    Raises:
        ConfigRefused: there is one already; it is as it was.
        SaveFailed: the disk refused.
    """
    file = StoreFile(folder / NAME, root=folder, lock_name=f".{NAME}.lock")
    try:
        with file.locked():
            if file.status_held() is not None:
                raise ConfigRefused(f"{file.path} is there already and was left as it is.")
            file.replace(EXAMPLE.encode())
    except NotProvenDurable:
        pass  # it can be written again
    finally:
        file.lock_path.unlink(missing_ok=True)
    return file.path
