# charts -- SVG drawn by hand: a bar for each contender, a thin line for its spread, a dashed line where faio's bar is.
#
# No script and no outside font. Colours are plain and read on white and on dark pages: the chart has its own background.
import math
from xml.sax.saxutils import escape, quoteattr

from statistics_of import figure
from tables import Entry

WIDTH, LEFT, RIGHT, LINE, TOP = 720, 150, 150, 30, 58
OURS, OURS_TOO, PEER, INK, FAINT, LIMIT = "#1f6feb", "#7fb0f5", "#a8b0ba", "#1c2128", "#656d76", "#c62828"


def text(x: float, y: float, what: str, size: int = 13, anchor: str = "start", colour: str = INK, weight: str = "normal") -> str:
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-family="sans-serif" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{colour}" font-weight="{weight}">{escape(what)}</text>')


def limits(entry: Entry) -> list[float]:
    """Where faio's own bars lie on the axis."""
    found = []
    for verdict in entry.verdicts:
        bar = verdict.bar
        if bar.of != "faio":
            continue
        if not bar.against:
            found.append(bar.limit)
            continue
        there = [entry.results[name].median for name in bar.against if name in entry.results]
        if there:
            found.append(bar.limit * (min(there) if entry.figure.smaller_is_better else max(there)))
    return found


def strictest(entry: Entry) -> float | None:
    found = limits(entry)
    if not found:
        return None
    return min(found) if entry.figure.smaller_is_better else max(found)


def chart(entry: Entry) -> str:
    names = [c.name for c in entry.row.contenders if c.name in entry.results]
    height = TOP + LINE * len(names) + 34
    limit = strictest(entry)
    # A wild outlier would make every bar a dot: the axis ends near the largest median, and a spread beyond it is cut.
    most = max([entry.results[name].median for name in names] + ([limit] if limit is not None else []), default=1) * 1.08 or 1
    room = WIDTH - LEFT - RIGHT

    def x(value: float) -> float:
        return LEFT + room * min(value, most) / most

    better = "less is better" if entry.figure.smaller_is_better else "more is better"
    title = f"{entry.row.what}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label={quoteattr(title)}>',
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
        text(16, 24, title, 15, weight="bold"),
        text(16, 43, f"{entry.figure.title}, {entry.figure.unit}: {better}", 12, colour=FAINT),
    ]
    for number, name in enumerate(names):
        it = entry.results[name]
        y = TOP + LINE * number
        colour = OURS if name == "faio" else OURS_TOO if name.startswith("faio") or name[0].isdigit() else PEER
        parts.append(text(LEFT - 10, y + 17, name, anchor="end", weight="bold" if name == "faio" else "normal"))
        parts.append(f'<rect x="{LEFT}" y="{y + 4}" width="{max(1.0, x(it.median) - LEFT):.1f}" height="{LINE - 12}" fill="{colour}"/>')
        middle = y + 4 + (LINE - 12) / 2
        parts.append(f'<line x1="{x(it.low):.1f}" y1="{middle}" x2="{x(it.high):.1f}" y2="{middle}" stroke="{INK}" stroke-width="1.5"/>')
        parts.append(text(LEFT + room + 12, y + 17, value_text(entry, name)))
    if limit is not None:
        bottom = TOP + LINE * len(names)
        parts.append(f'<line x1="{x(limit):.1f}" y1="{TOP - 4}" x2="{x(limit):.1f}" y2="{bottom}" stroke="{LIMIT}" stroke-width="1.5" '
                     'stroke-dasharray="5 3"/>')
        side = "at most" if entry.figure.smaller_is_better else "at least"
        anchor = "end" if x(limit) > WIDTH / 2 else "start"
        parts.append(text(x(limit), bottom + 16, f"faio's bar: {side} {figure(limit)}", 12, anchor, LIMIT))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def value_text(entry: Entry, name: str) -> str:
    times = entry.ratio_of(name)
    said = figure(entry.results[name].median)
    return said if times is None else f"{said}  (faio {figure(times)} x)"


def overview(all_of: list[Entry]) -> str:
    """How far faio is from each bar that is a ratio or a limit: 1 is the bar, to the right of it is better, on a scale of doublings."""
    lines = []
    for entry in all_of:
        scores = []
        for verdict in entry.verdicts:
            if verdict.passed is None or verdict.value is None or verdict.bar.limit == 0:
                continue
            value = max(verdict.value, 1e-9)
            scores.append(verdict.bar.limit / value if verdict.bar.at_most else value / verdict.bar.limit)
        if scores:
            lines.append((f"{entry.row.name}, {entry.figure.title}", min(scores)))
    left, right, line = 330, 70, 20
    height = 64 + line * len(lines) + 16
    middle = left + (WIDTH - left - right) / 2
    half = (WIDTH - left - right) / 2

    def x(score: float) -> float:
        return middle + half * max(-1.0, min(1.0, math.log2(score) / 3))

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" role="img" '
        'aria-label="faio and its bars">',
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>',
        text(16, 24, "faio and its bars", 15, weight="bold"),
        text(16, 43, "the hardest bar of each figure: right of the line it is reached; either end is a factor of 8", 12, colour=FAINT),
        f'<line x1="{middle}" y1="54" x2="{middle}" y2="{height - 12}" stroke="{LIMIT}" stroke-width="1.5" stroke-dasharray="5 3"/>',
    ]
    for number, (name, score) in enumerate(lines):
        y = 58 + line * number
        start, end = sorted((middle, x(score)))
        parts.append(text(left - 10, y + 14, name, 12, "end"))
        parts.append(f'<rect x="{start:.1f}" y="{y + 3}" width="{max(1.0, end - start):.1f}" height="{line - 7}" '
                     f'fill="{OURS if score >= 1 else LIMIT}"/>')
        parts.append(text(WIDTH - right + 10, y + 14, f"{figure(score)} x", 12))
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
