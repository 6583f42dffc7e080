#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drives sfft-video as a user would: exit codes, reports, damaged inputs, Ctrl-C. Standard library only.

usage: program_test.py SFFT_VIDEO RECORDING
"""
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, RECORDING = sys.argv[1], sys.argv[2]
KEYS = {
    "input": {"path", "width", "height", "fps", "frames_expected", "frames_read"},
    "template": {"k", "energy_captured", "learn_ms"},
    "plan": {"path", "backend", "buckets", "delays", "samples_fraction"},
    "frames": {"transformed", "relearned", "dense_fallbacks", "median_us", "p95_us"},
    "dense": {"engine", "median_us"},
    "pipeline": {"decode_us", "copy_us", "transform_us", "bytes_per_frame", "frames_per_batch", "bottleneck"},
    "verified": {"frames", "relative_error", "standard_error_coverage"},
    "similarity": {"every_frame", "frames", "overlap", "correlation", "energy", "median_us"},
}


def film(frames, width=96, height=64, chroma="mono"):
    """A YUV4MPEG2 stream: a textured scene, a block that moves, a little noise."""
    noise = random.Random(1)
    out = [f"YUV4MPEG2 W{width} H{height} F25:1 C{chroma}\n".encode()]
    for t in range(frames):
        rows = bytearray()
        for y in range(height):
            for x in range(width):
                value = 120 + 40 * math.sin(x / 7) * math.cos(y / 9) + 20 * math.sin((x + 2 * y) / 13)
                if 20 < y < 34 and 10 + t < x < 26 + t:
                    value += 60
                rows.append(int(value) + noise.randrange(2))
        out.append(b"FRAME\n" + bytes(rows))
    return b"".join(out)


def run(*arguments, stdin=b"", timeout=100, **environment):
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=timeout, check=False,
                          env=os.environ | environment)


class FolderTest(unittest.TestCase):
    """A test with a temporary folder."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)


class ProgramTest(FolderTest):
    def test_reports_of_a_film(self):
        names = {kind: self.path("report." + kind) for kind in ("json", "csv", "html")}
        done = run("run", "-", "--backend", "cpu", "--k", "40", "--verify", "4", "--json", names["json"], "--csv", names["csv"],
                   "--html", names["html"], stdin=film(20))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(names["json"], encoding="utf-8") as file:
            report = json.load(file)
        self.assertEqual(report["schema"], "sfft-video/1")
        for part, keys in KEYS.items():
            self.assertLessEqual(keys, set(report[part]), part)
        self.assertEqual((report["input"]["width"], report["input"]["height"], report["input"]["frames_read"]), (96, 64, 20))
        self.assertEqual(report["frames"]["transformed"], 19)
        self.assertEqual(report["verified"]["frames"], 4)
        self.assertAlmostEqual(report["speedup"], report["dense"]["median_us"] / report["frames"]["median_us"], places=6)
        pipeline = report["pipeline"]
        self.assertGreater(pipeline["decode_us"], 0)
        self.assertEqual((pipeline["copy_us"], pipeline["bytes_per_frame"]), (0, 0), "a CPU reads frames where they are")
        self.assertAlmostEqual(pipeline["transform_us"], report["frames"]["median_us"])
        self.assertEqual((report["backend"], report["device"]), ("cpu", 0))
        self.assertIn(b"sets the pace", done.stdout)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["report.csv", "report.html", "report.json"])
        self.assertIn(b"frequencies", done.stdout)

    def test_similarity_of_every_frame(self):
        names = {kind: self.path("report." + kind) for kind in ("json", "csv", "html")}
        done = run("run", "-", "--k", "20", "--similarity", "--json", names["json"], "--csv", names["csv"], "--html", names["html"],
                   stdin=film(7))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rb"similarity +[0-9.]+ % of the support overlap.*6 frames")
        with open(names["json"], encoding="utf-8") as file:
            found = json.load(file)["similarity"]
        self.assertEqual((found["every_frame"], found["frames"]), (True, 6))
        for share in ("overlap", "correlation", "energy"):
            self.assertTrue(0 <= found[share]["least"] <= found[share]["median"] <= 1, found)
        with open(names["csv"], encoding="utf-8") as file:
            rows = [line.rstrip("\n").split(",") for line in file]
        self.assertEqual(rows[0][-3:], ["overlap", "correlation", "energy"])
        self.assertTrue(all(0 <= float(value) <= 1 for row in rows[1:] for value in row[-3:]), rows)
        with open(names["html"], encoding="utf-8") as file:
            self.assertIn("spectral correlation", file.read())

    def test_json_on_standard_output_is_alone_there(self):
        done = run("run", "-", "--k", "20", "--json", "-", stdin=film(5))
        self.assertEqual(done.returncode, 0)
        self.assertEqual(json.loads(done.stdout)["input"]["frames_read"], 5)
        done = run("run", "-", "--k", "20", "--quiet", stdin=film(5))
        self.assertEqual((done.stdout, done.stderr), (b"", b""))

    def test_verbose_says_what_is_decided(self):
        done = run("run", "-", "--k", "20", "--quiet", "--verbose", stdin=film(5))
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        self.assertRegex(done.stderr, rb"(?m)^learn: 20 frequencies of real 64x96 ")
        self.assertRegex(done.stderr, rb"(?m)^plan: real 64x96, k = 20: ")
        learned = run("learn", "-", "-o", self.path("film.sfft"), "--k", "30", "--verbose", stdin=film(1))
        self.assertRegex(learned.stderr, rb"(?m)^learn: 30 frequencies of real 64x96 ")

    def test_template_file(self):
        file = self.path("film.sfft")
        self.assertEqual(run("learn", "-", "-o", file, "--k", "30", "--frames", "3", stdin=film(5)).returncode, 0)
        info = run("info", file)
        self.assertEqual(info.returncode, 0)
        self.assertIn(b"64x96", info.stdout)
        done = run("run", "-", "--template", file, "--json", "-", stdin=film(8))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["frames"]["transformed"], 8)
        other = run("run", "-", "--template", file, stdin=film(3, width=80))
        self.assertEqual(other.returncode, 2)
        self.assertIn(b"64x96", other.stderr)
        with open(file, "r+b") as damaged:
            damaged.seek(40)
            damaged.write(b"\xff")
        self.assertEqual(run("run", "-", "--template", file, stdin=film(3)).returncode, 3)

    def test_plans_are_kept_with_the_template(self):
        def plan_of(*arguments, code=0):
            done = run("run", "-", "--json", "-", *arguments, stdin=film(8))
            self.assertEqual(done.returncode, code, done.stderr)
            report = json.loads(done.stdout)
            return report["plan"] | {"warnings": report["warnings"], "summary": done.stderr}

        file, other = self.path("film.sfft"), self.path("other.sfft")
        learned = run("learn", "-", "-o", file, "--k", "30", stdin=film(1))
        self.assertEqual(learned.returncode, 0, learned.stderr)
        self.assertIn(b"plan kept: float on the cpu: ", learned.stdout)
        self.assertIn(b"plan kept    float on the cpu: ", run("info", file).stdout)
        kept = plan_of("--template", file)
        self.assertEqual((kept["kept"], kept["kept_note"], kept["warnings"]), (True, None, []))
        self.assertIn(b"kept in the template file", kept["summary"])
        asked = plan_of("--template", file, "--samples", "0.3")
        self.assertFalse(asked["kept"])
        self.assertEqual(asked["kept_note"], "it was made with max_samples = automatic, not 0.3")
        # The template is saved with the plan that was used, to a file or to standard output, and both are used again.
        plan_of("--template", file, "--samples", "0.3", "--save-template", other)
        self.assertTrue(plan_of("--template", other, "--samples", "0.3")["kept"])
        self.assertTrue(plan_of("--template", other)["kept"], "the other plan was in the file already")
        done = run("run", "-", "--k", "20", "--save-template", "-", "--quiet", stdin=film(5))
        self.assertEqual(done.stdout[:8], b"SFFTTMPL")
        # A damaged plan is ignored, and the template still works.
        with open(file, "r+b") as damaged:
            damaged.seek(-30, os.SEEK_END)
            damaged.write(b"\xff\xfe")
        again = plan_of("--template", file)
        self.assertFalse(again["kept"])
        self.assertIn("checksum does not match", again["kept_note"])
        self.assertTrue(any("template file are not used" in text for text in again["warnings"]), again)
        self.assertEqual(again["bucket_grid"], kept["bucket_grid"])
        self.assertIn(b"not read: ", run("info", file).stdout)
        # Without a plan the file has the format that older programs read.
        self.assertEqual(run("learn", "-", "-o", file, "--k", "30", "--no-plan", stdin=film(1)).returncode, 0)
        with open(file, "rb") as plain:
            self.assertEqual(plain.read(12), b"SFFTTMPL\x01\0\0\0")
        self.assertEqual(plan_of("--template", file)["kept_note"], None)
        refused = run("run", "-", "--template", file, "--save-template", file, stdin=film(3))
        self.assertEqual(refused.returncode, 2, "it would write over the template that is read")

    def test_unknown_option_is_named(self):
        for command in ("run", "learn", "vibration", "guard", "triage", "merge", "info"):
            with self.subTest(command=command):
                result = run(command, "--nosuch")
                self.assertEqual(result.returncode, 2)
                self.assertIn(b"--nosuch", result.stderr)

    def test_wrong_usage(self):
        for arguments in ((), ("run",), ("frob",), ("run", "-", "--k", "0"), ("run", "-", "--k", "many"), ("run", "-", "--energy", "2"),
                          ("run", "-", "--k", "5", "--energy", "0.5"), ("run", "-", "--backend", "tpu"), ("run", "-", "--threads", "-1"),
                          ("run", "-", "--json", self.path("no/where.json")), ("learn", "-")):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                expected = {2, 3} if "--json" in arguments else {2}
                self.assertIn(done.returncode, expected, done.stderr)
                self.assertTrue(done.stderr)
        self.assertIn(b"'frob' is neither a sub-command nor an option of sfft-video", run("frob").stderr)
        self.assertEqual(run("run", "-", "--k", "100000", stdin=film(2)).returncode, 2)
        for flag in ("--help", "--version"):
            done = run(flag)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout)

    def test_backend_cuda(self):
        usable = re.search(rb"^CUDA +toolkit (?!.*not usable)", run("--version").stdout, re.MULTILINE)
        file = self.path("film.sfft")
        for arguments in (("run", "-", "--k", "20"), ("learn", "-", "-o", file, "--k", "20")):
            with self.subTest(arguments=arguments):
                done = run(*arguments, "--backend", "cuda", stdin=film(4))
                if usable:
                    self.assertEqual(done.returncode, 0, done.stderr)
                else:
                    self.assertEqual(done.returncode, 4, done.stderr)
                    self.assertRegex(done.stderr, rb"^sfft-video: .*(driver|GPU|backend)")
                    self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertEqual(run(*arguments, "--backend", "cuda", "--device", "99", stdin=film(4)).returncode, 4)
                self.assertEqual(run(*arguments, "--backend", "cpu", stdin=film(4)).returncode, 0)
                self.assertEqual(run(*arguments, "--device", "-1", stdin=film(4)).returncode, 2)
        for devices, code in (("0,99", 4), ("0,-1", 2), ("0,x", 2)):
            self.assertEqual(run("run", "-", "--k", "10", "--devices", devices, stdin=film(4)).returncode, code, devices)
        for other in (("--device", "1"), ("--backend", "cpu")):
            self.assertEqual(run("run", "-", "--k", "10", "--devices", "0,0", *other, stdin=film(4)).returncode, 2, other)

    def test_damaged_inputs_are_exit_3_and_reported(self):
        whole = film(6)
        empty, text, folder = self.path("empty.mp4"), self.path("notes.mp4"), self.path("folder")
        open(empty, "wb").close()
        with open(text, "w", encoding="utf-8") as file:
            file.write("not a recording\n" * 50)
        os.mkdir(folder)
        cases = {
            "truncated": (("-",), whole[:-100], 5),
            "nothing": (("-",), b"", 0),
            "foreign": (("-",), b"hello", 0),
            "zero bytes": ((empty,), b"", 0),
            "text": ((text,), b"", 0),
            "directory": ((folder,), b"", 0),
            "missing": ((self.path("none.mp4"),), b"", 0),
            "camera": (("97",), b"", 0),
            "dead address": (("http://127.0.0.1:9/x.mp4",), b"", 0),
        }
        for name, (arguments, stdin, frames) in cases.items():
            with self.subTest(name):
                report = self.path(name + ".json")
                # The camera libraries behind OpenCV leak; the other cases watch our memory.
                environment = {"ASAN_OPTIONS": "detect_leaks=0"} if name == "camera" else {}
                done = run("run", *arguments, "--k", "10", "--json", report, stdin=stdin, **environment)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertTrue(done.stderr.startswith(b"sfft-video: "), done.stderr)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                with open(report, encoding="utf-8") as file:
                    content = json.load(file)
                self.assertEqual(content["status"], "input_damaged")
                self.assertEqual(content["input"]["frames_read"], frames)

    def test_interrupt_keeps_what_is_done(self):
        report = self.path("report.json")
        command = [PROGRAM, "run", "-", "--k", "20", "--json", report]
        for delay in (1.5, 6, 24):  # repeats until all ten frames have passed, for busy machines and sanitizers
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write(film(10))  # then the camera falls silent
                process.stdin.flush()
                time.sleep(delay)
                process.send_signal(signal.SIGINT)
                process.wait(timeout=60)
                self.assertEqual(process.returncode, 130)
            with open(report, encoding="utf-8") as file:
                content = json.load(file)
            self.assertEqual(content["status"], "interrupted")
            if content["input"]["frames_read"] == 10:
                break
        self.assertEqual(content["input"]["frames_read"], 10)

    def test_interrupt_ends_learning(self):
        width, height = 5000, 5000
        file, output = self.path("film.y4m"), self.path("film.sfft")
        with open(file, "wb") as film_file:
            film_file.write(f"YUV4MPEG2 W{width} H{height} F25:1 Cmono\nFRAME\n".encode())
            film_file.write(random.Random(1).randbytes(width * height))
        command = [PROGRAM, "learn", file, "-o", output, "--threshold", "6"]
        for delay in (0.3, 1, 4):  # until the program has started far enough to handle signals; learning takes longer
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                time.sleep(delay)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=60)
            self.assertFalse(os.path.exists(output))
            if process.returncode != -signal.SIGINT:
                break
        self.assertEqual(process.returncode, 130)

    def test_does_not_wait_for_an_input_that_says_nothing(self):
        file = self.path("film.sfft")
        self.assertEqual(run("learn", "-", "-o", file, "--k", "30", stdin=film(1, width=80)).returncode, 0)
        for arguments, expected in ((("--k", "20", "--frames", "3"), 0), (("--template", file), 2)):
            with self.subTest(arguments=arguments):
                command = [PROGRAM, "run", "-", "--quiet", *arguments]
                with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                    process.stdin.write(film(3))
                    process.stdin.flush()  # the pipe stays open
                    self.assertEqual(process.wait(timeout=60), expected)

    def test_frames_and_verify_limits(self):
        report = json.loads(run("run", "-", "--k", "20", "--frames", "7", "--verify", "0", "--json", "-", stdin=film(12)).stdout)
        self.assertEqual((report["input"]["frames_read"], report["verified"]["frames"]), (7, 0))
        self.assertIsNone(report["verified"]["relative_error"]["median"])

    def test_batches_change_nothing_but_their_size(self):
        """A file is a recording, whose batches are filled; a pipe is live."""
        recording = self.path("film.y4m")
        with open(recording, "wb") as file:
            file.write(film(41))
        lines, sizes = [], []
        for batch in ("1", "7", "40", "1024"):
            csv = self.path(f"{batch}.csv")
            done = run("run", recording, "--backend", "cpu", "--k", "40", "--verify", "4", "--batch", batch, "--csv", csv, "--json", "-")
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(done.stdout)
            self.assertEqual((report["input"]["frames_read"], report["frames"]["transformed"]), (41, 40))
            sizes.append(report["pipeline"]["frames_per_batch"])
            with open(csv, encoding="utf-8") as file:
                rows = [line.strip().split(",") for line in file]
            lines.append([row[:2] + row[3:] for row in rows])  # everything except the time
        self.assertEqual(sizes, [1, 40 / 6, 40, 40])
        for other in lines[1:]:
            self.assertEqual(other, lines[0])
        self.assertEqual(run("run", recording, "--k", "40", "--batch", "0").returncode, 2)
        self.assertEqual(run("run", recording, "--k", "40", "--batch", "many").returncode, 2)

    def test_a_live_source_is_not_waited_for(self):
        for end in (signal.SIGINT, None):  # Ctrl-C, or the end of the pipe
            report = self.path("report.json")
            command = [PROGRAM, "run", "-", "--k", "20", "--batch", "32", "--csv", self.path("live.csv"), "--json", report]
            content = film(9)
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write(content[:-100] if end is None else content)
                process.stdin.flush()
                if end is not None:
                    time.sleep(3)
                    process.send_signal(end)
                else:
                    process.stdin.close()
                process.wait(timeout=60)
                self.assertEqual(process.returncode, 3 if end is None else 130)
            with open(report, encoding="utf-8") as file:
                done = json.load(file)
            if end is None:
                self.assertEqual(done["input"]["frames_read"], 8, "the last one is cut short")
            else:
                self.assertIn(done["input"]["frames_read"], range(0, 10))

    def test_bundled_recording(self):
        if b"OpenCV     yes" not in run("--version").stdout:
            self.skipTest("this build has no OpenCV")
        report = json.loads(run("run", RECORDING, "--json", "-").stdout)
        self.assertEqual((report["input"]["frames_read"], report["input"]["frames_expected"]), (75, 75))
        self.assertEqual(report["plan"]["path"], "comb")
        self.assertLessEqual(report["plan"]["samples_fraction"], 0.084)
        self.assertLessEqual(report["verified"]["relative_error"]["median"], 0.055)
        self.assertGreaterEqual(report["verified"]["standard_error_coverage"], 0.95)

    def test_truncated_recording(self):
        if b"OpenCV     yes" not in run("--version").stdout:
            self.skipTest("this build has no OpenCV")
        with open(RECORDING, "rb") as file:
            content = file.read()
        broken = self.path("broken.mp4")
        with open(broken, "wb") as file:
            file.write(content[: len(content) * 2 // 3])
        self.assertEqual(run("run", broken).returncode, 3)

    def test_spectra_file(self):
        if b"HDF5       yes" not in run("--version").stdout:
            self.skipTest("this build has no HDF5")
        spectra = self.path("spectra.h5")
        self.assertEqual(run("run", "-", "--k", "20", "--spectra", spectra, stdin=film(6)).returncode, 0)
        with open(spectra, "rb") as file:
            self.assertEqual(file.read(8), b"\x89HDF\r\n\x1a\n")
        try:
            import h5py
        except ImportError:
            return
        with h5py.File(spectra) as file:
            self.assertEqual(file["spectra"].shape, (6, 20))
            self.assertEqual(file["spectra"].dtype.kind, "c")
            self.assertEqual(file["support"].shape, (20,))
            self.assertEqual(list(file.attrs["shape"]), [64, 96])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
