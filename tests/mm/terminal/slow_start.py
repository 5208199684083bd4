"""An ``mm`` that loads slowly: it waits at one module, so that a key can be pressed exactly then."""

from __future__ import annotations

import time
from pathlib import Path

from tests.consoles import PATIENCE

# It waits in the module itself: while one is looked for, Python lets nobody else import anything.
_START = """
import importlib.util, os, runpy, sys, time
name, gate = sys.argv[1:3]
class Slow:
    def find_spec(self, wanted, path=None, target=None):
        if wanted != name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(wanted)
        run = spec.loader.exec_module
        def slowly(module):
            open(gate + ".reached", "w").close()
            while os.path.exists(gate):
                time.sleep(0.005)
            run(module)
        spec.loader.exec_module = slowly
        return spec
sys.meta_path.insert(0, Slow())
sys.argv = ["mm", *sys.argv[3:]]
runpy.run_module("mm", run_name="__main__", alter_sys=True)
"""


class SlowStart:
    """Holds the loading of ``module`` until it is let go; ``start`` is how a window is started with it."""

    def __init__(self, module: str, folder: Path) -> None:
        self._gate = folder / f"{module}.gate"
        self._gate.touch()
        self.start = ("-c", _START, module, str(self._gate))

    def reached(self, _: object = None) -> bool:
        """Whether the module is being loaded."""
        return self._gate.with_name(f"{self._gate.name}.reached").exists()

    def wait(self) -> None:
        """Wait until the module is being loaded, whatever the terminal shows."""
        end = time.monotonic() + PATIENCE
        while not self.reached():
            assert time.monotonic() < end, "it is never loaded"
            time.sleep(0.005)

    def let_go(self) -> None:
        """Let the loading go on."""
        self._gate.unlink()
