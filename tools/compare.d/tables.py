# tables -- what was measured as text for the terminal and as Markdown: medians, spreads, ratios, bars.
import dataclasses

from statistics_of import Summary, Verdict, figure, judge, ratio, summary
from workloads import Figure, Row


@dataclasses.dataclass(frozen=True)
class Entry:
    """One figure of one row: who reached what."""
    row: Row
    figure: Figure
    results: dict[str, Summary]     # by contender, in the row's order
    skipped: dict[str, str]         # contender -> why
    verdicts: list[Verdict]

    def ratio_of(self, name: str) -> float | None:
        """faio's figure as a multiple of the peer's."""
        if name == "faio" or "faio" not in self.results or name not in self.results:
            return None
        return ratio(self.results["faio"], self.results[name])


def entries(rows: list[Row], results: dict, skipped: dict) -> list[Entry]:
    found = []
    for row in rows:
        for each in row.figures:
            have = {c.name: summary(results[row.name, c.name, each.key]) for c in row.contenders
                    if (row.name, c.name, each.key) in results}
            not_run = {c.name: skipped[row.name, c.name] for c in row.contenders if (row.name, c.name) in skipped}
            verdicts = [judge(bar, have, each.smaller_is_better) for bar in each.bars]
            found.append(Entry(row, each, have, not_run, verdicts))
    return found


def mark(verdict: Verdict) -> str:
    return {True: "pass", False: "FAIL", None: "?"}[verdict.passed]


def verdict_text(entry: Entry, verdict: Verdict) -> str:
    whose = "" if verdict.bar.of == "faio" else f"{verdict.bar.of}: "
    text = f"{mark(verdict)}: {whose}{verdict.bar.said(entry.figure.unit)}"
    if verdict.value is not None and verdict.bar.against:
        text += f" (is {figure(verdict.value)})"
    return text + (f" ({verdict.why})" if verdict.why else "")


def result_text(entry: Entry, name: str) -> list[str]:
    """Contender, median, spread, ratio."""
    if name in entry.skipped:
        return [name, "skipped", entry.skipped[name], ""]
    it = entry.results[name]
    times = entry.ratio_of(name)
    return [name, figure(it.median), f"{figure(it.low)} to {figure(it.high)}", "" if times is None else f"{figure(times)} x"]


def tally(all_of: list[Entry]) -> tuple[int, int, int]:
    """Bars passed, failed, not decided."""
    marks = [verdict.passed for entry in all_of for verdict in entry.verdicts]
    return marks.count(True), marks.count(False), marks.count(None)


def text(all_of: list[Entry]) -> str:
    lines: list[str] = []
    for entry in all_of:
        better = "less" if entry.figure.smaller_is_better else "more"
        lines.append(f"\n{entry.row.name}: {entry.row.what}")
        lines.append(f"  {entry.figure.title}, {entry.figure.unit} ({better} is better); the last column is faio's as a multiple of the peer's")
        for contender in entry.row.contenders:
            if contender.name in entry.results or contender.name in entry.skipped:
                name, median, spread, times = result_text(entry, contender.name)
                lines.append(f"    {name:20} {median:>10}   {spread:22} {times:>9}")
        lines += [f"    {verdict_text(entry, verdict)}" for verdict in entry.verdicts]
    passed, failed, unknown = tally(all_of)
    lines.append(f"\n{passed} bars passed, {failed} failed, {unknown} not decided")
    return "\n".join(lines)


def bars_table(all_of: list[Entry]) -> str:
    """Markdown: every bar in a line."""
    lines = ["| row | figure | faio | bar | |", "| --- | --- | --- | --- | --- |"]
    for entry in all_of:
        for verdict in entry.verdicts:
            bar = verdict.bar
            own = entry.results.get(bar.of)
            value = "–" if own is None else f"{figure(own.median)} {entry.figure.unit}"
            if verdict.value is not None and bar.against:
                value += f", {figure(verdict.value)} x"
            whose = "" if bar.of == "faio" else f", {bar.of}"
            state = {True: "reached", False: "**short**", None: f"not decided: {verdict.why}"}[verdict.passed]
            lines.append(f"| {entry.row.name} | {entry.figure.title}{whose} | {value} | {bar.said(entry.figure.unit)} | {state} |")
    return "\n".join(lines)


def peers_table(all_of: list[Entry]) -> str:
    """Markdown, for the README: the first figure of each row that has peers, faio beside them."""
    names = list(dict.fromkeys(c.name for entry in all_of for c in entry.row.contenders if not c.name.startswith("faio") and c.program != "faio"))
    firsts = [entry for entry in all_of if entry.figure is entry.row.figures[0] and any(name in entry.results for name in names)]
    names = [name for name in names if any(name in entry.results for entry in firsts)]
    lines = ["| | | faio | " + " | ".join(names) + " |", "| --- | --- | ---: |" + " ---: |" * len(names)]
    for entry in firsts:
        more = "" if entry.figure.smaller_is_better else " (more is better)"
        cells = [figure(entry.results[name].median) if name in entry.results else "" for name in ["faio", *names]]
        lines.append(f"| {entry.row.what} | {entry.figure.title}, {entry.figure.unit}{more} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def row_table(entry: Entry) -> str:
    """Markdown: one figure of one row."""
    lines = [f"| | {entry.figure.title}, {entry.figure.unit} | spread | faio's, as a multiple |", "| --- | ---: | --- | ---: |"]
    for contender in entry.row.contenders:
        if contender.name in entry.results or contender.name in entry.skipped:
            lines.append("| " + " | ".join(result_text(entry, contender.name)) + " |")
    return "\n".join(lines)
