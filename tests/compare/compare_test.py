#!/usr/bin/env python3
# compare_test -- tools/compare's own rules: medians, bars, what is skipped and why, and charts that are well-formed. No clock decides here.
import dataclasses
import pathlib
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools" / "compare.d"))

import charts  # noqa: E402
import measure  # noqa: E402
import pages  # noqa: E402
import programs  # noqa: E402
import tables  # noqa: E402
from statistics_of import Bar, figure, judge, ratio, summary  # noqa: E402
from workloads import ROWS, Contender, Figure, Row  # noqa: E402


def silent(*_, **__):
    pass


class Statistics(unittest.TestCase):
    def test_the_median_is_not_the_mean_and_the_spread_is_all_of_it(self):
        it = summary([3, 100, 1, 2, 5])
        self.assertEqual((it.median, it.low, it.high, it.rounds), (3, 1, 100, 5))

    def test_an_even_number_of_rounds_has_the_middle_of_two(self):
        self.assertEqual(summary([1, 2, 4, 9]).median, 3)

    def test_nothing_has_no_median(self):
        with self.assertRaises(ValueError):
            summary([])

    def test_a_ratio_is_of_medians_and_of_nothing_is_none(self):
        self.assertEqual(ratio(summary([1, 2, 3]), summary([4])), 0.5)
        self.assertIsNone(ratio(summary([1]), summary([0])))

    def test_figures_have_three_digits(self):
        self.assertEqual([figure(v) for v in (0, 0.1234, 1.234, 12.34, 123.4, 1234567)], ["0", "0.123", "1.23", "12.3", "123", "1,234,567"])


class Bars(unittest.TestCase):
    results = {"faio": summary([10]), "slow": summary([50]), "fast": summary([20])}

    def test_at_most_is_against_the_best_peer_where_less_is_better(self):
        self.assertTrue(judge(Bar(0.5, against=("slow", "fast")), self.results, True).passed)
        self.assertFalse(judge(Bar(0.49, against=("slow", "fast")), self.results, True).passed)
        self.assertEqual(judge(Bar(0.5, against=("slow", "fast")), self.results, True).value, 0.5)

    def test_at_least_is_against_the_best_peer_where_more_is_better(self):
        self.assertTrue(judge(Bar(0.2, at_most=False, against=("slow", "fast")), self.results, False).passed)
        self.assertFalse(judge(Bar(0.21, at_most=False, against=("slow", "fast")), self.results, False).passed)

    def test_a_figure_of_its_own_needs_no_peer(self):
        self.assertTrue(judge(Bar(10), self.results, True).passed)
        self.assertFalse(judge(Bar(9.9), self.results, True).passed)

    def test_a_bar_may_be_for_another_contender(self):
        self.assertFalse(judge(Bar(1.3, against=("faio",), of="fast"), self.results, True).passed)

    def test_a_peer_that_is_missing_decides_nothing(self):
        verdict = judge(Bar(1, against=("fast", "gone")), self.results, True)
        self.assertIsNone(verdict.passed)
        self.assertIn("gone", verdict.why)


ROW = Row("row", "a <row> & its figures", "run", (Contender("faio", "faio"), Contender("peer", "peer"), Contender("gone", "gone")),
          (Figure("ns_per_op", "time", "ns", bars=(Bar(0.5, against=("peer",)), Bar(1, against=("gone",)))),), command="x")
RESULTS = {("row", "faio", "ns_per_op"): [10.0, 30.0, 20.0], ("row", "peer", "ns_per_op"): [50.0, 60.0, 70.0]}
SKIPPED = {("row", "gone"): "libgone-dev is not installed"}


class Runs(unittest.TestCase):
    def runner(self, script: str) -> measure.Runner:
        """faio is a script that answers, peer one that fails, gone is not there."""
        folder = self.folder()
        for name, text in (("faio", script), ("peer", "echo sorry >&2; exit 3")):
            (folder / name).write_text(f"#!/bin/sh\n{text}\n")
            (folder / name).chmod(0o755)
        made = programs.Programs({name: folder / name for name in ("faio", "peer")}, {"gone": "libgone-dev is not installed"})
        return measure.Runner(made, "", False, say=silent)

    def folder(self) -> pathlib.Path:
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        return pathlib.Path(made.name)

    def test_every_round_gives_a_value(self):
        runner = self.runner('echo \'{"ns_per_op":12.5}\'')
        runner.run([ROW], 3, seed=1)
        self.assertEqual(runner.results["row", "faio", "ns_per_op"], [12.5] * 3)

    def test_a_missing_peer_is_skipped_by_name_and_the_table_says_so(self):
        runner = self.runner('echo \'{"ns_per_op":12.5}\'')
        runner.run([ROW], 1, seed=1)
        self.assertEqual(runner.skipped["row", "gone"], "libgone-dev is not installed")
        said = tables.text(tables.entries([ROW], runner.results, runner.skipped))
        self.assertRegex(said, r"gone +skipped +libgone-dev is not installed")

    def test_a_run_that_fails_is_skipped_with_its_reason(self):
        runner = self.runner('echo \'{"ns_per_op":12.5}\'')
        runner.run([ROW], 2, seed=1)
        self.assertIn("sorry", runner.skipped["row", "peer"])

    def test_a_run_that_fails_later_takes_its_earlier_rounds_with_it(self):
        runner = self.runner('if [ -e "$0.ran" ]; then exit 1; fi; touch "$0.ran"; echo \'{"ns_per_op":12.5}\'')
        runner.run([ROW], 3, seed=1)
        self.assertNotIn(("row", "faio", "ns_per_op"), runner.results)
        self.assertIn(("row", "faio"), runner.skipped)

    def test_a_row_may_want_fewer_rounds_and_quick_is_content_with_one(self):
        row = Row("r", "", "run", (), (), rounds=2)
        runner = self.runner("")
        self.assertEqual([runner.rounds_of(row, 5), runner.rounds_of(row, 1), runner.rounds_of(ROW, 5)], [2, 1, 5])
        runner.quick = True
        self.assertEqual([runner.rounds_of(row, 5), runner.rounds_of(ROW, 5)], [1, 5])

    def test_a_row_may_want_several_slices_of_each_round(self):
        row = dataclasses.replace(ROW, slices=3)
        runner = self.runner('echo \'{"ns_per_op":12.5}\'')
        runner.run([row], 2, seed=1)
        self.assertEqual(len(runner.results["row", "faio", "ns_per_op"]), 6)
        quick = self.runner('echo \'{"ns_per_op":12.5}\'')
        quick.quick = True
        quick.run([row], 2, seed=1)
        self.assertEqual(len(quick.results["row", "faio", "ns_per_op"]), 2)

    def test_quick_sizes_replace_the_rows_own(self):
        row = Row("r", "", "run", (), (), options=("n=10", "path={data}"), quick=("n=1",))
        self.assertEqual(measure.options_of(row, Contender("c", "c", ("k=v",)), False, "/d"), ["n=10", "path=/d", "k=v"])
        self.assertEqual(measure.options_of(row, Contender("c", "c"), True, "/d"), ["n=1"])

    def test_wrk_is_understood(self):
        said = "  Thread Stats\n    Latency   1.02ms    3.1ms   40.0ms   91.99%\n    Req/Sec   10k\n  Latency Distribution\n     50%  500.00us\n     99%    1.25ms\n  107450 requests in 1.00s, 5.33MB read\n"
        self.assertEqual(measure.wrk_answer(said), (107450, 1.25))
        with self.assertRaises(measure.Failed):
            measure.wrk_answer(said + "  Non-2xx or 3xx responses: 4\n")
        for said, right in (("950.00us", 0.95), ("1.5ms", 1.5), ("2.00s", 2000)):
            self.assertAlmostEqual(measure.milliseconds(said), right)


class Pages(unittest.TestCase):
    def test_every_file_is_written_and_well_formed(self):
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made)
            found = tables.entries([ROW], RESULTS, SKIPPED)
            pages.write(folder, found, programs.Programs(missing={"gone": "libgone-dev is not installed"}), 3, True, 0.5)
            drawn = sorted(file.name for file in folder.glob("*.svg"))
            self.assertEqual(drawn, ["overview.svg", "row.ns_per_op.svg"])
            for file in folder.glob("*.svg"):
                root = xml.etree.ElementTree.parse(file).getroot()
                self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
            page = (folder / "README.md").read_text()
            self.assertIn("skipped: gone: libgone-dev is not installed", page)
            for name in drawn:
                self.assertIn(f"({name})", page)

    def test_the_summary_replaces_what_is_between_its_marks(self):
        found = tables.entries([ROW], RESULTS, SKIPPED)
        with tempfile.TemporaryDirectory() as made:
            readme = pathlib.Path(made) / "README.md"
            readme.write_text("before\n<!-- made by tools/compare -->\nold\n<!-- end -->\nafter\n")
            pages.write_summary(readme, found, 3)
            pages.write_summary(readme, found, 3)
            page = readme.read_text()
            self.assertTrue(page.startswith("before\n") and page.endswith("<!-- end -->\nafter\n"))
            self.assertNotIn("old", page)
            self.assertEqual(page.count("| a <row> & its figures | time, ns | 20.0 | 60.0 |"), 1)
            readme.write_text("nothing\n")
            with self.assertRaises(SystemExit):
                pages.write_summary(readme, found, 3)

    def test_a_chart_shows_every_contender_and_stays_inside(self):
        (entry,) = tables.entries([ROW], {**RESULTS, ("row", "peer", "ns_per_op"): [50.0, 60.0, 70000.0]}, SKIPPED)
        root = xml.etree.ElementTree.fromstring(charts.chart(entry))
        said = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("faio", said)
        self.assertIn("peer", said)
        for line in root.iter("{http://www.w3.org/2000/svg}line"):
            self.assertLessEqual(float(line.get("x2")), charts.WIDTH)


class Table(unittest.TestCase):
    def test_rows_have_names_of_their_own_and_bars_that_name_contenders(self):
        self.assertEqual(len({row.name for row in ROWS}), len(ROWS))
        for row in ROWS:
            names = [each.name for each in row.contenders]
            self.assertLessEqual(len(row.what), 72, "the title of a chart has one line")
            self.assertEqual(len(set(names)), len(names), row.name)
            for each in row.figures:
                for bar in each.bars:
                    self.assertIn(bar.of, names, row.name)
                    self.assertLessEqual(set(bar.against), set(names), row.name)


if __name__ == "__main__":
    unittest.main()
