#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives sfft-video vibration as a user would. Standard library only.

usage: vibration_program_test.py SFFT_VIDEO RECORDING
"""
import csv
import json
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from program_test import PROGRAM, RECORDING, FolderTest, run as run_program

WIDTH, HEIGHT = 80, 48


def film(frames, amplitude=0.5, hz=7.3, rate=25, flicker=0.0):
    """YUV4MPEG2: waves in both directions that swing from left to right, under a lamp, with a little noise."""
    noise = random.Random(1)
    out = [f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{rate}:1 Cmono\n".encode()]
    for i in range(frames):
        t = i / rate
        dx = amplitude * math.cos(2 * math.pi * hz * t)
        lamp = 1 + flicker * math.cos(2 * math.pi * 10 * t)
        column = [math.sin((x - dx) / 5) + math.sin((x - dx) / 3.3 + 1) for x in range(WIDTH)]
        row = [math.cos(y / 4) for y in range(HEIGHT)]
        frame = bytes(int(lamp * (120 + 25 * c * r + 15 * c + 10 * r) + noise.random() * 2) for r in row for c in column)
        out.append(b"FRAME\n" + frame)
    return b"".join(out)


def spots(frames, move_x, move_y, rate=25, header="", fields=""):
    """YUV4MPEG2: soft spots that move; with fields, lines of the later field are half a frame later."""
    noise = random.Random(2)
    places = [(noise.uniform(0, WIDTH), noise.uniform(0, HEIGHT), noise.uniform(2, 4), noise.uniform(-50, 60)) for _ in range(60)]
    out = [f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F{rate}:1 Cmono {header}\n".encode()]
    for i in range(frames):
        lines = []
        for parity in (0, 1):
            late = fields and (parity == 1) == (fields == "t")
            t = (i + (0.5 if late else 0)) / rate
            dx, dy = move_x(t), move_y(t)
            light = [[110.0] * WIDTH for _ in range(HEIGHT)]
            for x0, y0, size, level in places:
                across = [math.exp(-0.5 * ((x - x0 - dx) / size) ** 2) for x in range(WIDTH)]
                for y in range(max(0, int(y0 - 4 * size)), min(HEIGHT, int(y0 + 4 * size))):
                    down = level * math.exp(-0.5 * ((y - y0 - dy) / size) ** 2)
                    row = light[y]
                    for x in range(max(0, int(x0 - 4 * size)), min(WIDTH, int(x0 + 4 * size))):
                        row[x] += down * across[x]
            lines.append(light)
            if not fields:
                lines.append(light)
                break
        frame = bytes(min(255, max(0, int(v + noise.random()))) for y in range(HEIGHT) for v in lines[y % 2][y])
        out.append(b"FRAME\n" + frame)
    return b"".join(out)


def dots(times, hz, amplitude=0.4):
    """YUV4MPEG2: soft dots that swing from left to right, at these times in seconds."""
    noise = random.Random(3)
    places = [(noise.uniform(4, WIDTH - 4), noise.uniform(4, HEIGHT - 4), noise.choice((-50, 60))) for _ in range(20)]
    down = [[math.exp(-0.5 * ((y - y0) / 2) ** 2) for y in range(HEIGHT)] for _, y0, _ in places]
    out = [f"YUV4MPEG2 W{WIDTH} H{HEIGHT} F30:1 Cmono\n".encode()]
    for t in times:
        dx = amplitude * math.cos(2 * math.pi * hz * t)
        light = [[110 + noise.random()] * WIDTH for _ in range(HEIGHT)]
        for (x0, y0, level), column in zip(places, down):
            across = [level * math.exp(-0.5 * ((x - x0 - dx) / 2) ** 2) for x in range(WIDTH)]
            for y in range(max(0, int(y0) - 7), min(HEIGHT, int(y0) + 8)):
                row, weight = light[y], column[y]
                for x in range(max(0, int(x0) - 7), min(WIDTH, int(x0) + 8)):
                    row[x] += weight * across[x]
        out.append(b"FRAME\n" + bytes(int(v + noise.random()) for row in light for v in row))
    return b"".join(out)


def run(*arguments, stdin=b""):
    return run_program("vibration", *arguments, stdin=stdin)


class VibrationTest(FolderTest):
    def report(self, *arguments, stdin, code=0):
        done = run("-", "--json", "-", "--quiet", *arguments, stdin=stdin)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_all_outputs(self):
        names = {kind: self.path("v." + kind) for kind in ("json", "csv", "html", "svg")}
        done = run("-", *sum((["--" + kind, name] for kind, name in names.items()), []), "--tiles", "2x2", stdin=film(80))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"It vibrates at 7.3", done.stdout)
        with open(names["json"], encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual((report["schema"], report["status"]), ("sfft-video-vibration/1", "complete"))
        peak = report["vibration"]["motion"]["peaks"][0]
        self.assertAlmostEqual(peak["frequency_hz"], 7.3, delta=0.02)
        self.assertAlmostEqual(peak["amplitude_px"], 0.5, delta=0.05)
        self.assertLess(peak["standard_error_hz"], 0.02)
        self.assertIsNone(peak["alias_of_hz"])
        self.assertEqual(report["vibration"]["brightness"]["peaks"], [])
        self.assertEqual(len(report["vibration"]["tiles"]["tiles"]), 4)
        with open(names["csv"], encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 80)
        self.assertAlmostEqual(float(rows[2]["seconds"]), 0.08)
        with open(names["html"], encoding="utf-8") as file:
            self.assertIn("Where it vibrates", file.read())

    def test_rate_regions_and_flicker(self):
        report = self.report("--fps", "250", "--roi", "8,8,40,32", "--roi", "40,8,40,32", "--tiles", "0", "--expect", "177",
                             stdin=film(80, flicker=0.03))
        self.assertEqual(report["rate"], {"hz": 250.0, "source": "given", "steady": True})
        vibration = report["vibration"]
        self.assertAlmostEqual(vibration["motion"]["peaks"][0]["frequency_hz"], 73, delta=0.2)
        self.assertEqual(vibration["motion"]["peaks"][0]["alias_of_hz"], 177)
        self.assertAlmostEqual(vibration["brightness"]["peaks"][0]["frequency_hz"], 100, delta=0.2)
        self.assertEqual(len(vibration["regions"]), 2)
        self.assertEqual(vibration["regions"][1]["x"], 40)

    def test_shape_of_pixels(self):
        # The motion is at 45 degrees as shown: half as many pixels across, but they are twice as wide.
        report = self.report("--tiles", "0", stdin=spots(80, lambda t: 0.25 * math.cos(2 * math.pi * 7.3 * t),
                                                         lambda t: 0.5 * math.cos(2 * math.pi * 7.3 * t), header="A2:1"))
        peak = report["vibration"]["motion"]["peaks"][0]
        self.assertAlmostEqual(abs(peak["direction_deg"]), 45, delta=4)
        self.assertAlmostEqual(report["input"]["pixel_aspect"], 2)

    def test_fields_are_samples(self):
        # At 25 frames per second 18 Hz appears at 7 Hz, unless the 50 fields serve as samples.
        for order in "tb":
            report = self.report("--tiles", "0", stdin=spots(120, lambda t: 0.4 * math.cos(2 * math.pi * 18 * t), lambda t: 0,
                                                             header="I" + order, fields=order))
            self.assertAlmostEqual(report["rate"]["hz"], 50)
            peak = report["vibration"]["motion"]["peaks"][0]
            self.assertAlmostEqual(peak["frequency_hz"], 18, delta=0.1)

    def test_nothing_vibrates(self):
        done = run("-", "--tiles", "0", stdin=film(60, amplitude=0))
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"No vibration above noise, which is 0.00", done.stdout)

    def test_wrong_usage(self):
        for arguments in (["--roi", "1,2,3"], ["--roi", "0,0,4,4"], ["--tiles", "8"], ["--tiles", "ax3"], ["--fps", "0"],
                          ["--roi", "60,0,40,40"], ["--tiles", "40x40"], ["--json", self.path("none/x.json")],
                          ["--json", self.path("a"), "--csv", self.path("a")], ["--false-alarm", "2"]):
            done = run("-", *arguments, stdin=film(30))
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertTrue(done.stderr, arguments)

    def test_damage_is_told_and_the_rest_kept(self):
        report = self.report("--tiles", "0", stdin=film(60)[:-100], code=3)
        self.assertEqual((report["status"], report["input"]["frames_read"]), ("input_damaged", 59))
        self.assertTrue(report["vibration"]["motion"]["peaks"])
        self.assertEqual(self.report(stdin=b"", code=3)["vibration"]["motion"]["peaks"], [])
        report = self.report(stdin=film(10))
        self.assertIn("too few", report["warnings"][0])
        done = run(self.path("missing.mp4"), "--json", self.path("m.json"))
        self.assertEqual(done.returncode, 3)
        self.assertTrue(os.path.exists(self.path("m.json")))

    def test_hostile_name(self):
        name = self.path("<img src=x onerror=alert(1)>.y4m")
        with open(name, "wb") as file:
            file.write(film(30))
        done = run(name, "--html", "-", "--quiet", "--tiles", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn(b"<img src=x", done.stdout)

    def test_interrupt_keeps_what_is_done(self):
        report = self.path("i.json")
        command = [PROGRAM, "vibration", "-", "--json", report, "--tiles", "0", "--quiet"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            process.stdin.write(film(50))
            process.stdin.flush()
            time.sleep(3)
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
            self.assertEqual(process.returncode, 130)
        with open(report, encoding="utf-8") as file:
            content = json.load(file)
        self.assertEqual(content["status"], "interrupted")

    def test_unwritable_output_loses_no_other(self):
        done = run("-", "--json", self.path("j.json"), "--csv", "/dev/full", "--tiles", "0", "--quiet", stdin=film(30))
        self.assertEqual(done.returncode, 2)
        self.assertTrue(os.path.exists(self.path("j.json")))

    def test_hdf5(self):
        path = self.path("v.h5")
        done = run("-", "--hdf5", path, "--tiles", "2x2", "--quiet", stdin=film(40))
        if b"needs HDF5" in done.stderr:
            self.skipTest("no HDF5")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path, "rb") as file:
            content = file.read()
        self.assertEqual(content[:8], b"\x89HDF\r\n\x1a\n")
        for name in (b"regions", b"motion_spectrum", b"frequency", b"tiles", b"rate_hz"):
            self.assertIn(name, content)
        try:
            import h5py
            import numpy
        except ImportError:
            return
        with h5py.File(path) as file:
            spectrum = file["regions/0/motion_spectrum"]
            strongest = numpy.argmax(numpy.abs(spectrum["x"][:]))
            self.assertAlmostEqual(spectrum["frequency"][strongest], 7.3, delta=0.2)

    def test_tuning_fork(self):
        if b"reads YUV4MPEG2 only" in run_program("--version").stdout:
            self.skipTest("no OpenCV")
        fork = os.path.join(os.path.dirname(RECORDING), "tuning-fork-64hz-250fps.mp4")
        done = run(fork, "--fps", "250", "--tiles", "5x3", "--json", "-", "--quiet")
        self.assertEqual(done.returncode, 0, done.stderr)
        vibration = json.loads(done.stdout)["vibration"]
        self.assertAlmostEqual(vibration["motion"]["peaks"][0]["frequency_hz"], 64, delta=0.1)
        moving = [t["x"] // 128 for t in vibration["tiles"]["tiles"] if t["moves"]]
        self.assertIn(2, moving, "the fork stands in the middle")
        self.assertNotIn(0, moving)
        done = run(fork, "--json", "-", "--quiet", "--tiles", "0", "--frames", "300")
        self.assertAlmostEqual(json.loads(done.stdout)["vibration"]["motion"]["peaks"][0]["frequency_hz"], 64 / 5, delta=0.1)

    def recorded(self, name, stdin, *options):
        """Encodes pictures as ffmpeg's options say. Returns the path."""
        if shutil.which("ffmpeg") is None or b"FFmpeg     yes" not in run_program("--version").stdout:
            self.skipTest("no ffmpeg, or no FFmpeg in this build")
        path = self.path(name)
        done = subprocess.run(["ffmpeg", "-v", "error", "-y", "-f", "yuv4mpegpipe", "-i", "-", "-pix_fmt", "yuv420p", *options, path],
                              input=stdin, capture_output=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def report_of(self, path, *arguments):
        done = run(path, "--json", "-", "--quiet", "--tiles", "0", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_slow_motion_of_phones(self):
        # 64 Hz taken at 250 frames per second and stored at 30 is 7.68 Hz, unless the note of the phone is read.
        film_of_fork = dots([i / 250 for i in range(300)], 64)
        for note, hz, frequency in (("250.000000", 250, 64), ("30.000000", 30, 7.68), ("0", 30, 7.68), ("nonsense", 30, 7.68), (None, 30, 7.68)):
            with self.subTest(note):
                metadata = [] if note is None else ["-movflags", "use_metadata_tags", "-metadata", f"com.android.capture.fps={note}"]
                report = self.report_of(self.recorded("slow.mp4", film_of_fork, "-c:v", "mpeg4", "-q:v", "2", *metadata))
                self.assertAlmostEqual(report["rate"]["hz"], hz, delta=1e-6)
                self.assertAlmostEqual(report["vibration"]["motion"]["peaks"][0]["frequency_hz"], frequency, delta=0.001 * frequency)
        path = self.recorded("slow.mp4", film_of_fork, "-c:v", "mpeg4", "-q:v", "2", "-movflags", "use_metadata_tags",
                             "-metadata", "com.android.capture.fps=250.000000")
        self.assertAlmostEqual(self.report_of(path, "--fps", "500")["vibration"]["motion"]["peaks"][0]["frequency_hz"], 128, delta=0.2)

    def test_rate_that_falls(self):
        # 12 Hz taken 15 times per second appears at 3 Hz, but not where the first half has 30 frames per second.
        times = [i / 30 for i in range(240)] + [8 + i / 15 for i in range(120)]
        path = self.recorded("falls.mp4", dots(times, 12), "-vf", "setpts='if(lt(N,240),N,240+2*(N-240))/30/TB'", "-fps_mode", "vfr",
                             "-video_track_timescale", "30000", "-c:v", "mpeg4", "-q:v", "2")
        peaks = self.report_of(path)["vibration"]["motion"]["peaks"]
        self.assertAlmostEqual(peaks[0]["frequency_hz"], 12, delta=0.02)
        self.assertEqual([peak for peak in peaks if abs(peak["frequency_hz"] - 3) < 0.5], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
