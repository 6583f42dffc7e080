# SPDX-License-Identifier: Apache-2.0
"""triage_program_test.py SFFT_VIDEO RECORDING: sfft-video triage as scripts use it, on drawn YUV4MPEG2 recordings, and clips
of RECORDING, in which cars pass."""
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, RECORDING = sys.argv[1:3]
WIDTH, HEIGHT, RATE = 128, 72, 25


def scene():
    drawn = random.Random(5)
    grey = [[90 + x // 4 for x in range(WIDTH)] for y in range(HEIGHT)]
    for _ in range(60):
        left, top, w, h, level = (drawn.randrange(WIDTH), drawn.randrange(HEIGHT), drawn.randrange(3, 20), drawn.randrange(3, 12), drawn.randrange(40, 200))
        for y in range(top, min(HEIGHT, top + h)):
            grey[y][left:left + w] = [level] * len(grey[y][left:left + w])
    return grey


SCENE = scene()


def frame(noise, square=None, gain=1.0):
    rows = [list(row) for row in SCENE]
    if square:
        left, top, side, level = square
        for y in range(top, top + side):
            rows[y][left:left + side] = [level] * side
    return bytes(min(255, max(0, int(gain * v) + noise.choice((-1, 0, 1)))) for row in rows for v in row)


def y4m(path, frames):
    with open(path, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F%d:1 Cmono\n" % (WIDTH, HEIGHT, RATE))
        for one in frames:
            file.write(b"FRAME\n" + one)


def crossing(count, first, seed=1):
    """Something crosses the picture in 30 frames from `first` on."""
    noise = random.Random(seed)
    return [frame(noise, (4 + 3 * (i - first), 30, 12, 240) if first <= i < first + 30 else None) for i in range(count)]


def triage(*arguments, **options):
    return subprocess.run([PROGRAM, "triage", *arguments], capture_output=True, text=True, timeout=60, **options)


class Triage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.recordings = os.path.join(cls.folder.name, "week")
        os.mkdir(cls.recordings)
        cls.quiet = os.path.join(cls.recordings, "1.y4m")
        cls.busy = os.path.join(cls.recordings, "2'; <b>&.y4m")
        noise = random.Random(3)
        y4m(cls.quiet, [frame(noise, gain=0.7 if 60 <= i < 110 else 1.0) for i in range(160)])
        y4m(cls.busy, crossing(200, 100))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def check_event(self, event):
        self.assertEqual(event["file"], self.busy)
        self.assertAlmostEqual(event["change_start_s"], 4.0, delta=0.2)
        self.assertAlmostEqual(event["change_end_s"], 5.2, delta=0.4)
        self.assertAlmostEqual(event["start_s"], event["change_start_s"] - 1, places=3)
        self.assertAlmostEqual(event["end_s"], event["change_end_s"] + 1, places=3)
        self.assertEqual(event["start_frame"], round(event["start_s"] * RATE))
        self.assertTrue(4.0 <= event["peak_s"] <= 5.4)
        self.assertGreater(event["peak"], 6)

    def test_light_is_no_event(self):
        run = triage(self.quiet)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
        self.assertIn("0 events", run.stderr)

    def test_lines_and_margins(self):
        run = triage(self.busy, "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        [event] = [json.loads(line) for line in run.stdout.splitlines()]
        self.check_event(event)
        run = triage(self.busy, "--margin-before", "2", "--margin-after", "0")
        [event] = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertAlmostEqual(event["start_s"], event["change_start_s"] - 2, places=3)
        self.assertAlmostEqual(event["end_s"], event["change_end_s"], places=3)

    def test_folder_and_reports(self):
        names = {kind: self.path("report." + kind) for kind in ("json", "csv", "html", "svg", "edl", "ffconcat")}
        options = [part for kind in ("json", "csv", "html", "svg", "edl") for part in ("--" + kind, names[kind])]
        run = triage(self.recordings, "--jobs", "2", "--quiet", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(names["json"]) as file:
            report = json.load(file)
        self.assertEqual([(f["file"], f["status"], f["frames"]) for f in report["files"]], [(self.quiet, "complete", 160), (self.busy, "complete", 200)])
        self.assertGreater(report["files"][0]["us_per_frame"], 0)
        [event] = report["events"]
        self.check_event(event)
        with open(names["csv"], newline="") as file:
            [row] = list(csv.DictReader(file))
        self.assertEqual(row["file"], self.busy)
        self.assertAlmostEqual(float(row["peak_s"]), event["peak_s"], places=3)
        with open(names["html"]) as file:
            page = file.read()
        self.assertNotIn("<b>&.y4m", page)
        self.assertIn("&lt;b&gt;&amp;.y4m", page)
        self.assertEqual(page.count("data:image/png;base64,"), 1)
        with open(names["edl"]) as file:
            self.assertIn("FROM CLIP NAME", file.read())
        self.assertEqual(triage(self.busy, "--quiet", "--edl", names["ffconcat"]).returncode, 0)
        with open(names["ffconcat"]) as file:
            self.assertIn("2'\\''; <b>&.y4m'\ninpoint %.3f\n" % event["start_s"], file.read())

    def test_regions_and_times(self):
        self.assertEqual(triage(self.busy, "--roi", "0,0,128,24").stdout, "")
        self.assertEqual(len(triage(self.busy, "--roi", "0,20,128,40").stdout.splitlines()), 1)
        self.assertEqual(triage(self.busy, "--end", "3").stdout, "")
        report = json.loads(triage(self.busy, "--every", "2", "--json", "-").stdout)
        self.assertAlmostEqual(report["files"][0]["seconds"], 8, places=3)
        self.assertEqual(report["files"][0]["frames"], 100)
        [event] = report["events"]
        self.assertAlmostEqual(event["change_start_s"], 4.0, delta=0.3)
        self.assertEqual(event["start_frame"], round(event["start_s"] * RATE / 2))

    def test_masks_and_zones(self):
        path = os.path.join(self.folder.name, "zones.y4m")
        y4m(path, crossing(300, 120))
        lower, upper = "lower=0,0.4 1,0.4 1,0.65 0,0.65", "upper=0,0 1,0 1,0.3 0,0.3"
        events = [json.loads(line) for line in triage(path, "--quiet", "--zone", lower, "--zone", upper).stdout.splitlines()]
        self.assertEqual([event["zones"] for event in events], [["lower"]])
        self.assertEqual(triage(path, "--quiet", "--mask", "0,0.3 1,0.3 1,0.8 0,0.8").stdout, "")
        self.assertEqual(triage(path, "--quiet", "--zone", upper, "--only-zones").stdout, "")

    def test_state_goes_on(self):
        state = self.path("state")
        first = triage(self.quiet, "--state", state, "--quiet")
        self.assertEqual(first.returncode, 0, first.stderr)
        run = triage(self.recordings, "--state", state, "--json", "-", "--quiet")
        report = json.loads(run.stdout)
        self.assertEqual([f["resumed"] for f in report["files"]], [True, False])
        again = json.loads(triage(self.recordings, "--state", state, "--json", "-", "--quiet").stdout)
        self.assertEqual([f["resumed"] for f in again["files"]], [True, True])
        self.assertEqual(again["events"], report["events"])
        other = triage(self.recordings, "--state", state, "--json", "-", "--sensitivity", "2")
        self.assertEqual([f["resumed"] for f in json.loads(other.stdout)["files"]], [False, False])
        self.assertIn("other options", other.stderr)
        with open(state, "w") as file:
            file.write("notes")
        self.assertEqual(triage(self.quiet, "--state", state).returncode, 2)
        with open(state) as file:
            self.assertEqual(file.read(), "notes")

    def test_kill_and_go_on(self):
        state = self.path("killed")
        pipe = self.path("pipe.y4m")
        os.mkfifo(pipe)
        with subprocess.Popen([PROGRAM, "triage", self.busy, pipe, "--state", state], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            with open(pipe, "wb"):  # the second file has begun and is being read
                for _ in range(100):
                    if os.path.exists(state):
                        break
                    time.sleep(0.1)
                run.send_signal(signal.SIGKILL)
                run.wait(30)
        again = triage(self.busy, "--state", state, "--json", "-", "--quiet")
        report = json.loads(again.stdout)
        self.assertTrue(report["files"][0]["resumed"])
        self.check_event(report["events"][0])

    def test_interrupt_keeps_the_report(self):
        with subprocess.Popen([PROGRAM, "triage", "-", self.quiet, "--json", self.path("i.json")], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as run:
            with open(self.busy, "rb") as file:
                run.stdin.write(file.read())
            run.stdin.flush()
            time.sleep(1)
            run.terminate()  # while it waits for more data
            self.assertEqual(run.wait(30), 130)
        with open(self.path("i.json")) as file:
            report = json.load(file)
        self.assertEqual([f["status"] for f in report["files"]], ["interrupted", "not_read"])
        self.assertGreater(report["files"][0]["frames"], 0)

    def test_damaged_input_is_reported(self):
        with open(self.busy, "rb") as file:
            data = file.read()
        cut = self.path("cut.y4m")
        with open(cut, "wb") as file:
            file.write(data[: len(data) - 5000])
        run = triage(cut, self.quiet, "--json", "-")
        self.assertEqual(run.returncode, 3, run.stderr)
        report = json.loads(run.stdout)
        self.assertEqual([f["status"] for f in report["files"]], ["input_damaged", "complete"])
        self.assertEqual(report["files"][0]["frames"], 199)
        self.assertEqual(len(report["events"]), 1)

    def test_clips(self):
        if "FFmpeg     yes" not in subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout:
            self.skipTest("this build cuts no clips")
        folder = self.path("clips")
        with open(self.path("no folder"), "w"):
            self.assertEqual(triage(RECORDING, "--clips", self.path("no folder")).returncode, 2)
        run = triage(RECORDING, "--start", "2", "--clips", folder, "--quiet")
        self.assertEqual(run.returncode, 0, run.stderr)
        events = [json.loads(line) for line in run.stdout.splitlines()]
        names = sorted(os.listdir(folder))
        self.assertEqual(names, ["car-detection-excerpt-%04d.mkv" % e["id"] for e in events])
        self.assertGreater(len(names), 0)
        clip = json.loads(triage(os.path.join(folder, names[0]), "--json", "-").stdout)["files"][0]
        self.assertEqual((clip["status"], clip["width"], clip["height"]), ("complete", 768, 432))
        # The clip lasts from the key frame before the start to the end.
        self.assertGreaterEqual(clip["seconds"], events[0]["end_s"] - events[0]["start_s"] - 0.1)
        self.assertLessEqual(clip["seconds"], events[0]["end_s"] + 0.2)

    def test_wrong_usage(self):
        self.assertEqual(triage().returncode, 2)
        self.assertEqual(triage(self.quiet, "--sensitivity", "0").returncode, 2)
        self.assertEqual(triage(self.quiet, "--roi", "0,0,500,500").returncode, 2)
        self.assertEqual(triage(self.quiet, "--json", "/nonexistent/r.json").returncode, 2)
        self.assertEqual(triage(self.quiet, "--json", self.quiet).returncode, 2)
        self.assertEqual(triage(self.quiet, "--state", self.quiet).returncode, 2)
        self.assertEqual(triage(self.quiet, "--state", "/dev/zero").returncode, 2)
        self.assertEqual(triage(self.quiet, "--json", self.path("same"), "--csv", self.path("same")).returncode, 2)
        self.assertEqual(triage("/nonexistent.y4m").returncode, 3)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
