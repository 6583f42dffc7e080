#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sfft-bench technologies on what this machine has: every answer right, every technology that is missing with its reason.

usage: technologies_program_test.py SFFT_BENCH FAULTY_VULKAN_FOLDER
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM, FAULTY = sys.argv[1], sys.argv[2]
PORTS = ("OpenCL", "OpenGL", "Vulkan GLSL", "Vulkan HLSL")


def run(*arguments, **environment):
    """(exit code, result file, what it said)"""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "result.json"
        # Threads that wait asleep leave the cores to the other tests.
        surroundings = {**os.environ, "OMP_WAIT_POLICY": "passive", "OMP_NUM_THREADS": "2", **environment}
        done = subprocess.run([PROGRAM, "technologies", "--quick", "--json", str(file), *arguments], capture_output=True, timeout=500, check=False,
                              env=surroundings)
        return done.returncode, json.loads(file.read_text()) if file.exists() else None, (done.stdout + done.stderr).decode()


def reasons(data):
    return [entry["skipped"] for entry in data["technologies"] + data["rows"] if entry["skipped"]]


class Technologies(unittest.TestCase):
    def test_every_answer_is_right(self):
        only = [argument for name in ("C++", "OpenMP", "FFTW", "emulation", *PORTS) for argument in ("--only", name)]
        code, data, said = run("--bits", "14", "--batch-bits", "13", "--threads", "64,256", "--tiles", "16,32", *only)
        self.assertEqual(code, 0, said)
        self.assertEqual(data["status"], "complete")
        self.assertEqual(data["failures"], 0)
        there = {entry["technology"] for entry in data["technologies"] if not entry["skipped"]}
        for name in PORTS:
            missing = [entry["skipped"] for entry in data["technologies"] if entry["technology"] == name and entry["skipped"]]
            self.assertTrue(name in there or missing, f"{name} has neither a device nor a reason")
            if missing:
                print(f"{name} is not here: {missing[0]}")
        for name in there:
            rows = [row for row in data["rows"] if row["technology"] == name and row.get("kind") == "time"]
            self.assertEqual([row["skipped"] for row in rows if row["skipped"]], [], name)
            self.assertEqual({row["problem"] for row in rows if row["rank"] == 1 and row["batch"] == 1}, {f"2^{bits}" for bits in range(1, 15)}, name)
            for row in rows:
                self.assertLessEqual(row["relative_l2"], 1e-6 * row["bits"] * row["rank"] / 8)
                self.assertGreater(row["wall_us"], 0)
        if not there & set(PORTS):
            print("SKIPPED: neither OpenCL, OpenGL nor Vulkan has a device here")

    def test_missing_drivers_are_rows(self):
        code, data, said = run("--bits", "3", "--bits-2d", "5", "--batch-bits", "5", "--only", "OpenCL", "--only", "OpenGL", "--only", "Vulkan",
                               OCL_ICD_VENDORS="/nowhere", VK_ICD_FILENAMES="/nowhere.json", VK_DRIVER_FILES="/nowhere.json",
                               __EGL_VENDOR_LIBRARY_FILENAMES="/nowhere.json")
        self.assertEqual(code, 0, said)
        self.assertEqual(data["status"], "complete")
        self.assertGreaterEqual(len(reasons(data)), 3)

    def test_a_driver_that_crashes_or_hangs_is_a_row(self):
        for fault, sign in (("crash", "signal 6"), ("hang", "no answer in 1 seconds")):
            code, data, said = run("--bits", "2", "--bits-2d", "5", "--batch-bits", "5", "--patience", "1", "--only", "Vulkan GLSL", "--only", "C++",
                                   LD_LIBRARY_PATH=FAULTY, SFFT_TEST_FAULT=fault)
            self.assertEqual(code, 0, said)
            found = reasons(data)
            if found and "this build has no Vulkan" in found[0]:
                continue
            self.assertTrue(any(sign in reason for reason in found), found)
            self.assertTrue([row for row in data["rows"] if row["technology"] == "C++" and row["passed"]])

    def test_wrong_usage(self):
        self.assertEqual(run("--only", "nothing of that name")[0], 2)
        self.assertEqual(run("--bits", "27")[0], 2)
        self.assertEqual(run("--threads", "100")[0], 2)
        self.assertEqual(run("--from-bits", "9", "--bits", "8", "--bits-2d", "5", "--batch-bits", "5")[0], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
