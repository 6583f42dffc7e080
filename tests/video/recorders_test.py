#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorders_test.py SFFT_VIDEO: dates of recordings, and segments as recorders write them. The recordings are those of containers_test.py.
Standard library and the program ffmpeg."""
import json
import os
import re
import subprocess
import sys
import unittest
from datetime import datetime, timedelta, timezone

import containers_test as base
from containers_test import EVENT, PROGRAM, RATE

START = EVENT.start / RATE


def time_of(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Dates(base.Recordings):
    def check(self, path, begin, source, *more):
        """Of the first frame and the event, in triage's report, lines, tables and summary."""
        done = subprocess.run([PROGRAM, "triage", path, "--roi", base.SCENE, "--csv", self.path("r.csv"), "--json", self.path("r.json"), "--html", self.path("r.html"), *more],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        [event], [file] = report["events"], report["files"]
        self.assertEqual(file["wall_clock_source"], source)
        line = json.loads(done.stdout)
        self.assertEqual(line["wall_clock"], event["wall_clock"])
        with open(self.path("r.csv"), encoding="utf-8") as table:
            head, row = table.read().splitlines()
        self.assertEqual(row.split(",")[head.split(",").index("wall_clock")], event["wall_clock"] or "")
        if begin is None:
            self.assertIsNone(event["wall_clock"])
            return report
        self.assertEqual(time_of(file["wall_clock"]), begin)
        self.assertAlmostEqual((time_of(event["wall_clock"]) - begin).total_seconds(), event["start_s"], delta=0.001)
        self.assertIn(event["wall_clock"], done.stderr)
        with open(self.path("r.html"), encoding="utf-8") as page:
            self.assertIn(event["wall_clock"], page.read())
        return report

    def test_a_name(self):
        path = self.record("front 2026-11-28_23-59-58.mp4", "h264", sound=False)
        self.check(path, datetime(2026, 11, 28, 23, 59, 58), "file_name")
        self.check(path, datetime(2026, 11, 28, 23, 59, 58), "file_name", "--start", "2")

    def test_a_creation_time(self):
        for kind in ("mp4", "mkv"):
            with self.subTest(kind):
                path = self.record(f"dated.{kind}", "h264b", "-metadata", "creation_time=2026-11-28T00:33:10Z", sound=False)
                self.check(path, datetime(2026, 11, 28, 0, 33, 10, tzinfo=timezone.utc), "creation_time")
        zoned = self.record("zoned.mov", "h264b", "-movflags", "use_metadata_tags", "-metadata", "com.apple.quicktime.creationdate=2026-11-28T00:33:10+0100", sound=False)
        self.check(zoned, datetime(2026, 11, 27, 23, 33, 10, tzinfo=timezone.utc), "creation_time")

    def test_a_time_code(self):
        path = self.record("code.mov", "mjpeg", "-timecode", "10:00:00:05", sound=False)
        report = self.triage(path)
        [event] = report["events"]
        self.assertEqual(report["files"][0]["wall_clock_source"], "time_code")
        self.assertEqual(event["wall_clock"], f"T10:00:{0.2 + event['start_s']:06.3f}")

    def test_no_date(self):
        for name, more in (("plain.mp4", ()), ("never.mp4", ("-metadata", "creation_time=1970-01-01T00:00:00Z")), ("plain.avi", ())):
            with self.subTest(name):
                self.check(self.record(name, "mpeg4", *more, sound=False), None, None)

    def test_dates_survive_the_state_file(self):
        path = self.record("2026-11-28_00-33-10.mkv", "h264", sound=False)
        first, second = (self.triage(path, "--state", self.path("state")) for _ in range(2))
        self.assertTrue(second["files"][0]["resumed"])
        self.assertEqual(first["events"], second["events"])
        self.assertEqual(*(report["files"][0]["wall_clock"] for report in (first, second)))

    def test_guard(self):
        black = base.WIDTH * base.HEIGHT * b"\x10"
        dark = b"".join(self.pictures[i * len(black):(i + 1) * len(black)] if i < 50 else black for i in range(150))
        path = self.record("cam 2026-11-28_00-33-10.mp4", "h264", pictures=dark, sound=False)
        variables = self.path("hook")
        done = subprocess.run([PROGRAM, "guard", path, "--json", self.path("r.json"), "--html", self.path("r.html"), "--on-event", f"env >> {variables}"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            report = json.load(file)
        [source], event = report["sources"], report["events"][0]
        self.assertEqual((source["wall_clock"], source["wall_clock_source"]), ("2026-11-28T00:33:10.000", "file_name"))
        self.assertEqual(time_of(event["wall_clock"]), datetime(2026, 11, 28, 0, 33, 10) + timedelta(seconds=round(event["start_s"], 3)))
        self.assertEqual(json.loads(done.stdout.splitlines()[0])["wall_clock"], event["wall_clock"])
        self.assertIn("2026-11-28T00:33:10.000 (file_name)", done.stderr)
        for name in ("r.html", "hook"):
            with open(self.path(name), encoding="utf-8", errors="replace") as file:
                self.assertIn(event["wall_clock"], file.read())

    def test_live_input_is_now(self):
        pipe = self.path("pipe.ts")
        os.mkfifo(pipe)
        source = self.record("live.ts", "h264", sound=False)
        begin = datetime.now(timezone.utc)
        with subprocess.Popen(["sh", "-c", 'cat "$0" > "$1"', source, pipe]):
            done = subprocess.run([PROGRAM, "triage", pipe, "--json", "-", "--quiet", "--reconnect", "0"], capture_output=True, text=True, timeout=60)
        [file] = json.loads(done.stdout)["files"]
        self.assertEqual(file["wall_clock_source"], "now", done.stderr)
        self.assertLess(abs((time_of(file["wall_clock"]) - begin).total_seconds()), 30)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
