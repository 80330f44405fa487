# pages -- writes docs/benchmarks: README.md and a chart for each figure; and the table in the project's own README.
import datetime
import os
import pathlib
import platform
import re

import charts
import tables
from programs import Programs
from tables import Entry


def machine() -> str:
    model = next((line.partition(":")[2].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    memory = next((int(line.split()[1]) // (1 << 20) for line in pathlib.Path("/proc/meminfo").read_text().splitlines()
                   if line.startswith("MemTotal")), 0)
    return f"{os.cpu_count()} processors ({model}), {memory} GiB, Linux {platform.release()}"


def chart_name(entry: Entry) -> str:
    return f"{entry.row.name}.{entry.figure.key}.svg"


def write(folder: pathlib.Path, all_of: list[Entry], made: Programs, rounds: int, quick: bool, load: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.svg"):
        old.unlink()
    (folder / "overview.svg").write_text(charts.overview(all_of))
    passed, failed, unknown = tables.tally(all_of)
    now = datetime.datetime.now(datetime.timezone.utc)
    sliced: dict[int, list[str]] = {}
    for row in dict.fromkeys(entry.row for entry in all_of if entry.row.slices > 1):
        sliced.setdefault(row.slices, []).append(row.name)
    lines = [
        "# Side by side",
        "",
        "Written by `tools/compare`; do not edit. What each program does: [apps/compare](../../apps/compare/README.md).",
        "",
        f"- {now:%Y-%m-%d %H:%M} UTC; {machine()}; load average before it began: {load:.1f}",
        f"- {rounds} interleaved rounds{', the quick sizes' if quick else ''}; medians, lowest and highest; 2 workers each unless a row says otherwise",
        *(f"- {slices} slices in each round: {', '.join(names)}" for slices, names in sliced.items() if not quick),
        "- glibc's allocator and default configurations; the discipline as the row says, fifo otherwise",
        *(f"- {name}: {version}" for name, version in made.versions.items()),
        *(f"- skipped: {name}: {why}" for name, why in made.missing.items()),
        "",
        f"{passed} bars reached, {failed} short, {unknown} not decided.",
        "",
        "![faio and its bars](overview.svg)",
        "",
        tables.bars_table(all_of),
    ]
    group = None
    for entry in all_of:
        if entry.row.group != group:
            group = entry.row.group
            lines += ["", f"## {group.capitalize()}"]
        if entry.figure is entry.row.figures[0]:
            lines += ["", f"### {entry.row.name}: {entry.row.what}"]
        if entry.results and entry.figure.chart:
            (folder / chart_name(entry)).write_text(charts.chart(entry))
            lines += ["", f"![{entry.figure.title}]({chart_name(entry)})"]
        lines += ["", tables.row_table(entry)]
    (folder / "README.md").write_text("\n".join(lines) + "\n")


def write_summary(readme: pathlib.Path, all_of: list[Entry], rounds: int) -> None:
    """What stands between the two marks, and nothing else."""
    begin, end = "<!-- made by tools/compare -->", "<!-- end -->"
    passed, failed, _ = tables.tally(all_of)
    now = datetime.datetime.now(datetime.timezone.utc)
    text = "\n".join([
        begin, f"{now:%Y-%m-%d}, {machine()}; medians of {rounds} interleaved rounds, 2 workers each; less is better unless a row says otherwise. "
        f"Of the bars that we set ourselves {passed} are reached and {failed} are not: [docs/benchmarks](docs/benchmarks/README.md) has each, with its spread.",
        "", tables.peers_table(all_of), end])
    whole = readme.read_text()
    if begin not in whole or end not in whole:
        raise SystemExit(f"compare: {readme} has no place for the summary, between {begin} and {end}")
    readme.write_text(re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: text, whole, flags=re.DOTALL))
