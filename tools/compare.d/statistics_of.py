# statistics_of -- medians, spreads, ratios and bars: pure functions, no clock and no process.
import dataclasses
import statistics


@dataclasses.dataclass(frozen=True)
class Summary:
    """What the rounds of one contender in one row gave."""
    median: float
    low: float
    high: float
    rounds: int


def summary(values: list[float]) -> Summary:
    if not values:
        raise ValueError("no values")
    return Summary(statistics.median(values), min(values), max(values), len(values))


def ratio(ours: Summary, theirs: Summary) -> float | None:
    """Of the medians; None when there is nothing to divide by."""
    return ours.median / theirs.median if theirs.median != 0 else None


@dataclasses.dataclass(frozen=True)
class Bar:
    """What a contender must reach: its figure, or its ratio to that of the best of the named peers.

    `at_most` True: at most the limit, else at least. `against` empty: the figure itself is held to the limit.
    """
    limit: float
    at_most: bool = True
    against: tuple[str, ...] = ()
    of: str = "faio"

    def said(self, unit: str) -> str:
        sign = "<=" if self.at_most else ">="
        if not self.against:
            return f"{sign} {figure(self.limit)} {unit}".rstrip()
        names = self.against[0] if len(self.against) == 1 else "the best of " + ", ".join(self.against)
        return f"{sign} {self.limit:g} x {names}"


@dataclasses.dataclass(frozen=True)
class Verdict:
    bar: Bar
    value: float | None  # the figure, or the ratio
    passed: bool | None  # None: nothing to compare with
    why: str = ""


def judge(bar: Bar, results: dict[str, Summary], smaller_is_better: bool) -> Verdict:
    """`results` by contender; those that are missing were skipped."""
    if bar.of not in results:
        return Verdict(bar, None, None, f"{bar.of} was not measured")
    ours = results[bar.of]
    if not bar.against:
        value = ours.median
    else:
        there = [results[name] for name in bar.against if name in results]
        missing = [name for name in bar.against if name not in results]
        if missing:
            return Verdict(bar, None, None, f"{', '.join(missing)} was not measured")
        pick = min if smaller_is_better else max
        best = pick(there, key=lambda each: each.median)
        found = ratio(ours, best)
        if found is None:
            return Verdict(bar, None, None, "the peer's figure is 0")
        value = found
    return Verdict(bar, value, value <= bar.limit if bar.at_most else value >= bar.limit)


def figure(value: float) -> str:
    """Three significant digits, with thousands set apart."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    if abs(value) >= 0.995:
        return f"{value:.2f}"
    if abs(value) < 0.001:
        return f"{value:.6f}".rstrip("0") if abs(value) >= 1e-6 else "0"
    return f"{value:.3f}"
