"""Runs pytest in the project's own environment: ``python3 scripts/test.py [arguments of pytest]``."""

import os
import sys

from _environment import ROOT, become, ensure

if __name__ == "__main__":
    python = ensure(("test",))
    os.chdir(ROOT)
    become([str(python), "-m", "pytest", *sys.argv[1:]])
