#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the parser of results about precisions: of rows that lack something, and of the committed results. Standard library only.

usage: precisions_test.py BENCH_FOLDER
"""
import importlib.util
import subprocess
import sys
import tempfile
import unittest

BENCH = sys.argv.pop(1)
sys.path.insert(0, BENCH)
import precisions_tables as precisions  # noqa: E402  (after the path)


class Points(unittest.TestCase):
    def test_cpu(self):
        data = {"processor": "P", "rows": [{"name": "n", "real": True, "f32": {"us": 2.0, "relative_l2": 1e-7, "times_of_f32": 1.0},
                                            "f16": {"us": 5.0, "relative_l2": 3e-4, "times_of_f32": 2.4}, "f64": {"us": 4.0, "times_of_f32": 2.0}}]}
        self.assertEqual(precisions.points_of(data), [("P", "n", "f32", 1.0, 1e-7), ("P", "n", "f16", 2.4, 3e-4)])

    def test_gpu(self):
        row = {"name": "n", "cufft f32": {"us": 2.0, "relative_l2": 1e-7}, "tensor": {"us": 3.0, "relative_l2": 2e-7},
               "cufft f16": {"us": 1.0, "relative_l2": "overflow"}, "unsplit f16": {"failed": "why"}, "tuned f16": {"refused": True},
               "tuned f32": {"us": 1.0, "relative_l2": float("nan")}}
        data = {"device": "NVIDIA X", "rows": [row, {"name": "no float", "tensor": {"us": 3.0, "relative_l2": 2e-7}}]}
        self.assertEqual(precisions.points_of(data), [("NVIDIA X", "n", "cufft f32", 1.0, 1e-7), ("NVIDIA X", "n", "tensor", 1.5, 2e-7)])

    def test_committed_results(self):
        files = precisions.measured_files()
        self.assertGreaterEqual(len(files), 2)
        for file in files:
            data = precisions.load(file)
            points = precisions.points_of(data)
            self.assertGreaterEqual(len(points), 4 * len(data["rows"]), file)
            self.assertEqual({point.case for point in points}, {row["name"] for row in data["rows"]}, file)
            for point in points:
                self.assertLess(point.error, 1e-2, point)
                self.assertLess(1e-2, point.times_of_float, point)

    def test_tables(self):
        for name, table in precisions.TABLES.items():
            lines = table().splitlines()
            self.assertGreater(len(lines), 6, name)
            self.assertEqual({line.count("|") for line in lines}, {lines[0].count("|")}, name)

    def test_figure(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no Matplotlib: the figure is not drawn")
        with tempfile.TemporaryDirectory() as folder:
            drawn = subprocess.run([sys.executable, BENCH + "/plot_precisions.py", "-o", folder], capture_output=True, text=True, check=True)
            self.assertTrue(drawn.stdout.strip().endswith("precisions.svg"), drawn)


if __name__ == "__main__":
    unittest.main()
