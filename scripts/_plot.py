"""Draws docs/save-cost.svg: JSON in, the picture out; run by the bench in an environment that holds matplotlib.

The picture loads nothing from anywhere and follows the reader's light or dark setting. Each line is named at its
end, so that no colour has to be told from another, and all figures stand in its description.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from io import StringIO
from typing import Any
from xml.sax.saxutils import escape

REQUIREMENTS = ("matplotlib==3.11.2",)
TITLE = "Saving one more turn"
WIDTH, HEIGHT, FONT = 600, 450, 14
GAP = 18.0  # between two labels, in the picture's own units
INK, FAINT, PAPER = "#010101", "#020202", "#030303"  # stand for the colours of THEME, and are nowhere else
LIGHT = ("#1f2328", "#d0d7de", "#ffffff", "#0b57d0", "#b3261e", "#1a7f37", "#8250df", "#9a5b00", "#57606a")
DARK = ("#e6edf3", "#3d444d", "#0d1117", "#8ab4f8", "#ff9b8f", "#7ee787", "#d2a8ff", "#ffb757", "#b1bac4")


@dataclass(frozen=True)
class Line:
    """The cost of one store: ``points`` are (turns, seconds) in order; ``durable`` ones flush to the disk."""

    name: str
    durable: bool
    points: tuple[tuple[int, float], ...]


def main() -> int:
    """Read the lines from the standard input and write the picture to the standard output."""
    lines = [Line(one["name"], one["durable"], tuple(map(tuple, one["points"]))) for one in json.load(sys.stdin)]
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")  # type: ignore[union-attr]
    sys.stdout.write(draw(lines))
    return 0


def draw(lines: list[Line]) -> str:
    """Return the picture; the first line is drawn strongest."""
    import matplotlib as mpl

    settings = {
        "svg.fonttype": "none",
        "svg.hashsalt": "save-cost",
        "font.size": FONT,
        "text.color": INK,
        "axes.labelcolor": INK,
        "axes.edgecolor": FAINT,
        "xtick.color": INK,
        "ytick.color": INK,
        "grid.color": FAINT,
        "figure.facecolor": PAPER,
        "axes.facecolor": PAPER,
    }
    with mpl.rc_context(settings):
        figure = _figure(lines)
        svg = StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        figure.savefig(svg, format="svg", metadata=nothing)
    return themed(svg.getvalue(), TITLE, description(lines))


def _figure(lines: list[Line]) -> Any:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72))
    axes = figure.add_axes((0.105, 0.125, 0.535, 0.735))
    axes.set_xscale("log")
    axes.set_yscale("log")
    for number, line in enumerate(lines):
        turns, seconds = zip(*line.points, strict=True)
        axes.plot(
            turns,
            [1000 * one for one in seconds],
            color=_colour(number),
            linestyle="-" if line.durable else (0, (5, 3)),
            linewidth=3.5 if number == 0 else 1.8,
            marker="o",
            markersize=6 if number == 0 else 4.5,
            zorder=3 if number else 4,
        )
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(axis="y", linewidth=0.8)
    axes.tick_params(length=0)
    lengths = sorted({turns for line in lines for turns, _ in line.points})
    axes.xaxis.set_major_locator(FixedLocator(lengths))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    plain = FuncFormatter(lambda value, _: f"{value:,g}" if value < 10 else f"{value:,.0f}")
    axes.xaxis.set_major_formatter(plain)
    axes.yaxis.set_major_formatter(plain)
    axes.set_xlabel("turns in the conversation")
    figure.text(0.015, 0.945, f"{TITLE}, in milliseconds", fontsize=FONT + 3, fontweight="bold")
    figure.text(0.015, 0.89, "Solid lines are flushed to the disk, dashed ones are not.")
    _name_at_ends(axes, lines)
    return figure


def _name_at_ends(axes: Any, lines: list[Line]) -> None:
    """Write each name and last figure beside the end of its line, moved apart where they would meet."""
    edge = axes.get_xlim()[1]
    to_units, back = axes.transData, axes.transData.inverted()
    ends = [to_units.transform((edge, 1000 * line.points[-1][1]))[1] for line in lines]
    scale = axes.figure.dpi / 72
    for number, (line, place) in enumerate(zip(lines, spread([end / scale for end in ends], GAP), strict=True)):
        turns, seconds = line.points[-1]
        height = back.transform((0, place * scale))[1]
        axes.annotate(
            f"{line.name}, {figure_of(seconds)}",
            (turns, 1000 * seconds),
            (edge, height),
            color=_colour(number),
            fontweight="bold" if number == 0 else "normal",
            va="center",
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": _colour(number), "linewidth": 0.8, "shrinkA": 0, "shrinkB": 4},
        )


def spread(places: list[float], gap: float) -> list[float]:
    """Return places near the given ones, in the same order, of which no two are nearer than ``gap``."""
    order = sorted(range(len(places)), key=places.__getitem__)
    groups: list[tuple[float, list[int]]] = []  # the middle of a group, and who stands in it one gap apart
    for index in order:
        middle, members = places[index], [index]
        while groups and groups[-1][0] + gap * len(groups[-1][1]) / 2 > middle - gap * len(members) / 2:
            before, others = groups.pop()
            middle = (before * len(others) + middle * len(members)) / (len(others) + len(members))
            members = [*others, *members]
        groups.append((middle, members))
    found = list(places)
    for middle, members in groups:
        for position, index in enumerate(members):
            found[index] = middle + gap * (position - (len(members) - 1) / 2)
    return found


def description(lines: list[Line]) -> str:
    """Return the picture in words: what is flushed, and each figure."""
    told = [
        f"{line.name} ({'flushed' if line.durable else 'not flushed'}): "
        + "; ".join(f"{turns:,} turns {figure_of(seconds)}" for turns, seconds in line.points)
        for line in lines
    ]
    return "The cost of saving one more turn against the length of the conversation. " + ". ".join(told) + "."


def figure_of(seconds: float) -> str:
    """Return a cost as the page and the picture tell it: two digits that count, then whole milliseconds."""
    milliseconds = seconds * 1000
    return (
        f"{milliseconds:.2f} ms"
        if milliseconds < 1
        else f"{milliseconds:.1f} ms"
        if milliseconds < 10
        else (f"{milliseconds:,.0f} ms")
    )


def themed(svg: str, title: str, alt: str) -> str:
    """Return matplotlib's picture with the reader's colours and fonts, with a title and a description, and no links."""
    names = [INK, FAINT, PAPER, *(_colour(number) for number in range(len(LIGHT) - 3))]
    for number, name in enumerate(names):
        svg = svg.replace(name, f"var(--c{number})")
    body = svg[svg.index("<g ") : svg.rindex("</svg>")]
    body = re.sub(r"font-family: [^;\"]*; ?", "", body)
    style = f""":root {{ {_variables(LIGHT)} }}
@media (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}
text {{ font-family: system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; }}
* {{ stroke-linejoin: round; stroke-linecap: butt; }}"""
    body = re.sub(r"<defs>\s*<style type=\"text/css\">.*?</style>\s*</defs>", "", body, flags=re.DOTALL)
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" role="img" aria-labelledby="title alt">\n'
        f'<title id="title">{escape(title)}</title>\n<desc id="alt">{escape(alt)}</desc>\n'
        f"<style>\n{style}\n</style>\n{body}</svg>\n"
    )


def _variables(colours: tuple[str, ...]) -> str:
    return " ".join(f"--c{number}: {colour};" for number, colour in enumerate(colours))


def _colour(number: int) -> str:
    return f"#0401{number:02x}"


if __name__ == "__main__":
    sys.exit(main())
