#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs sfft-bench at tiny sizes: exit codes, what JSON and CSV hold, figures. Standard library only.

usage: program_test.py SFFT_BENCH PLOT_PY
"""
import csv
import importlib.util
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM, PLOT = sys.argv[1], sys.argv[2]
KEYS = {"figure", "contender", "device", "shape", "points", "nominal_points", "k", "snr_db", "frames", "signals", "missed", "relative_l2",
        "worst_l2", "mean_error", "noise_floor", "samples_read", "plan_ms", "cold_us", "warm_us", "total_ms", "detail", "skipped",
        "threads", "planner", "note", "learn_ms", "distinct_us", "recording", "frames_in", "batch", "prepare_ms", "first_use_ms", "frame_us",
        "peer", "peer_prepare_ms", "peer_first_use_ms", "peer_frame_us", "break_even_frames", "break_even_first_use_frames", "break_even_kept_frames",
        "ahead_until_frames", "crossed_frames"}
SPARSE = {"sfft dense", "sFFT-1.0", "sFFT-2.0", "sFFT-3.0", "AAFFT 0.9", "FFAST", "sfft known support", "sfft discovery"}


def run(*arguments, stdin=b""):
    return subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=500, check=False)


def film(frames, width=96, height=64):
    """A grey YUV4MPEG2 stream: waves that stay and a block that moves."""
    out = [f"YUV4MPEG2 W{width} H{height} F25:1 Cmono\n".encode()]
    for t in range(frames):
        rows = bytearray()
        for y in range(height):
            for x in range(width):
                block = 60 if 20 < y < 34 and 10 + t < x < 26 + t else 0
                rows.append(int(120 + 40 * math.sin(x / 7) * math.cos(y / 9) + block))
        out.append(b"FRAME\n" + bytes(rows))
    return b"".join(out)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def result(self, *arguments, **keywords):
        """Runs with --json and --csv, checks what all results share, returns the rows."""
        names = self.path("result.json"), self.path("result.csv")
        done = run(*arguments, "--signals", "2", "--json", names[0], "--csv", names[1], **keywords)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(names[0], encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual((result["schema"], result["subcommand"]), ("sfft-bench/1", arguments[0]))
        self.assertLessEqual({"command", "quick", "commit", "sfft", "processor", "gpu"}, set(result))
        self.assertEqual(result["status"], "complete")
        with open(names[1], newline="", encoding="utf-8") as file:
            table = list(csv.DictReader(file))
        self.assertEqual(len(table), len(result["rows"]))
        for row, line in zip(result["rows"], table):
            self.assertEqual((set(row), set(line)), (KEYS, KEYS))
            self.assertEqual((row["contender"], str(row["k"])), (line["contender"], line["k"]))
            if row["skipped"]:
                continue
            for key in ("relative_l2", "samples_read", "plan_ms", "cold_us", "warm_us"):  # every row says these
                self.assertIsNotNone(row[key], (row["contender"], key))
            self.assertGreater(row["warm_us"], 0)
        return result["rows"]

    def test_sparse_and_its_figures(self):
        rows = self.result("sparse", "--sizes", "4096,16384", "--k", "20", "--k-sweep", "10,40", "--points", "8192", "--threads", "1")
        for figure, groups in (("time_vs_n", 2), ("time_vs_k", 2)):
            mine = [row for row in rows if row["figure"] == figure]
            self.assertLessEqual(SPARSE, {row["contender"] for row in mine})
            self.assertEqual(len(mine) % groups, 0)
        for row in rows:
            self.assertEqual(row["skipped"], "", row)
            self.assertLessEqual(row["missed"], 0.05, row)
            self.assertLessEqual(row["relative_l2"], 1e-4, row)
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no Matplotlib: the figures are not drawn")
        drawn = subprocess.run([sys.executable, PLOT, self.path("result.json"), "-o", self.path("figures")], capture_output=True,
                               check=False)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertEqual(sorted(os.listdir(self.path("figures"))), ["time_vs_k_n8192.svg", "time_vs_n_k20.svg"])

    def test_figures_of_threads_noise_and_recordings(self):
        if importlib.util.find_spec("matplotlib") is None:
            self.skipTest("no Matplotlib: the figures are not drawn")
        names = self.path("film.y4m"), self.path("result.json"), self.path("figures")
        with open(names[0], "wb") as file:
            file.write(film(4))
        for arguments, drawn in ((("sparse", "--sweep", "noise", "--snr", "15", "--sizes", "4096,8192", "--k", "5", "--threads", "1,2"),
                                  {"time_vs_n_snr15_k5.svg", "time_vs_n_snr15_k5_threads2.svg"}),
                                 (("video", names[0], f"again={names[0]}", "--k", "40", "--threads", "1"),
                                  {"video_64x96_again.svg", "video_64x96_film_y4m.svg"})):
            self.result(*arguments)
            done = subprocess.run([sys.executable, PLOT, names[1], "-o", names[2]], capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertLessEqual(drawn, set(os.listdir(names[2])))

    def test_what_a_contender_cannot_do_is_said_in_its_row(self):
        rows = self.result("sparse", "--sweep", "n", "--sizes", "5000", "--k", "4", "--only", "sfft")
        reasons = {row["contender"]: row["skipped"] for row in rows}
        self.assertIn("power of two", reasons["sFFT-1.0"])
        self.assertEqual(reasons["sfft discovery"], "")

    def test_time_against_n_under_noise_has_errors_beside_times(self):
        flags = ("--sizes", "4096,16384", "--k", "10", "--threads", "1")
        rows = self.result("sparse", "--sweep", "noise", "--snr", "30,10", *flags)
        self.assertEqual({row["figure"] for row in rows}, {"time_vs_n_noise"})
        self.assertEqual({(row["snr_db"], row["nominal_points"]) for row in rows}, {(30, 4096), (30, 16384), (10, 4096), (10, 16384)})
        for row in rows:
            if row["contender"] in ("sfft dense", "FFTW"):
                floor = math.sqrt(math.pi / 4 * 10 / (10 ** (row["snr_db"] / 10) * row["points"]))
                self.assertLess(abs(math.log2(row["mean_error"] / floor)), 1)
            if row["contender"] == "sfft known support":
                self.assertGreater(row["learn_ms"], 0)
                self.assertGreaterEqual(row["plan_ms"], row["learn_ms"])
        # Without --snr the sweeps are those over exactly sparse signals.
        rows = self.result("sparse", *flags, "--k-sweep", "10", "--points", "4096", "--only", "sfft dense")
        self.assertEqual({row["figure"] for row in rows}, {"time_vs_n", "time_vs_k"})
        rows = self.result("sparse", *flags, "--k-sweep", "10", "--points", "4096", "--only", "sfft dense", "--snr", "20")
        self.assertEqual({row["figure"] for row in rows}, {"time_vs_n", "time_vs_k", "time_vs_n_noise"})

    def test_every_number_of_threads_is_a_contender(self):
        many = 4 * (os.cpu_count() or 1)
        for arguments in (("sparse", "--sweep", "n", "--sizes", "4096", "--k", "10"), ("dense", "--shape", "64x64")):
            rows = {row["contender"]: row for row in self.result(*arguments, "--threads", f"1,{many},1", "--fftw-planner", "ESTIMATE,measure")}
            for name in ("sfft dense",) + (("sfft known support",) if arguments[0] == "sparse" else ()):
                self.assertEqual((rows[name]["threads"], rows[name]["note"]), (1, ""))
                threaded = rows[f"{name}, {many} threads"]
                self.assertEqual(threaded["threads"], many)
                self.assertIn(f"{many} threads on ", threaded["note"])
            if "FFTW" not in rows:
                continue  # a build without it
            for name, planner, threads in (("FFTW", "FFTW_MEASURE", 1), ("FFTW estimate", "FFTW_ESTIMATE", 1),
                                           (f"FFTW, {many} threads", "FFTW_MEASURE", many), (f"FFTW estimate, {many} threads", "FFTW_ESTIMATE", many)):
                self.assertEqual((rows[name]["planner"], rows[name]["threads"]), (planner, threads))
                if not rows[name]["skipped"]:  # FFTW may have come without threads
                    self.assertGreater(rows[name]["plan_ms"], 0)
                    self.assertLess(rows[name]["relative_l2"], 1e-5)

    def test_every_effort_is_a_contender(self):
        rows = {row["contender"]: row for row in self.result("sparse", "--sweep", "n", "--sizes", "4096", "--k", "10", "--threads", "1",
                                                             "--only", "known", "--effort", "normal,QUICK")}
        self.assertEqual({name: row["planner"] for name, row in rows.items()}, {"sfft known support": "normal", "sfft known support quick": "quick"})

    def test_only_takes_a_whole_name_before_parts_of_names(self):
        def names(*only):
            return {row["contender"] for row in self.result("sparse", "--sweep", "n", "--sizes", "4096", "--k", "5", "--threads", "1,2", *only)}
        self.assertEqual(names("--only", "SFFT dense"), {"sfft dense"})
        self.assertEqual(names("--only", "sfft den"), {"sfft dense", "sfft dense, 2 threads"})
        self.assertEqual(names("--only", "sfft dense", "--only", "discovery"), {"sfft dense", "sfft discovery"})

    def test_noise(self):
        rows = self.result("noise", "--sizes", "8192", "--k", "10", "--snr", "0,30")
        dense = {row["snr_db"]: row for row in rows if row["contender"] == "sfft dense"}
        for snr, row in dense.items():
            self.assertAlmostEqual(row["noise_floor"], math.sqrt(math.pi / 4 * 10 / (10 ** (snr / 10) * 8192)), places=6)
            self.assertGreater(row["mean_error"], row["noise_floor"] / 2)
            self.assertLess(row["mean_error"], row["noise_floor"] * 2)

    def test_dense(self):
        for flags in ((), ("--real",)):
            rows = self.result("dense", "--shape", "1000", "--shape", "24x36", "--shape", "8x9x10", "--threads", "1", *flags)
            self.assertEqual({row["points"] for row in rows}, {1000, 864, 720})
            for row in rows:
                self.assertLessEqual(row["relative_l2"], 1e-6)

    def test_video(self):
        rows = self.result("video", "-", "--k", "40", "--threads", "1", stdin=film(6))
        self.assertEqual({row["frames"] for row in rows}, {1, 2, 5, 6})
        for row in rows:
            self.assertGreater(row["total_ms"], 0)

    def check_break_even(self, rows):
        """Every row's count of frames, worked out once more from the times in it."""
        for row in rows:
            own, gain = row["prepare_ms"] * 1e3 - row["peer_prepare_ms"] * 1e3, row["peer_frame_us"] - row["frame_us"]
            kept = row["break_even_kept_frames"]
            self.assertEqual(kept is None, row["prepare_ms"] > 0 and gain <= 0)
            if kept:
                self.assertGreaterEqual(kept * gain, row["prepare_ms"] * 1e3 * (1 - 1e-9))
                self.assertLess((kept - 1) * gain, row["prepare_ms"] * 1e3 * (1 + 1e-9))
            frames = row["break_even_frames"]
            if frames is None:
                self.assertTrue(own > 0 and gain <= 0, row)
                self.assertIn("no faster frames", row["note"])
            elif frames == 0:
                self.assertLessEqual(own, 0)
                self.assertEqual(row["ahead_until_frames"] is None, gain >= 0)
            else:
                self.assertGreaterEqual(frames * gain, own * (1 - 1e-9))
                self.assertLess((frames - 1) * gain, own * (1 + 1e-9))

    def test_break_even_of_three_recordings(self):
        names = []
        for i, size in enumerate(((96, 64), (64, 96), (80, 80))):
            names.append(self.path(f"film{i}.y4m"))
            with open(names[-1], "wb") as file:
                file.write(film(4 + i, *size))
        # Options and recordings in any order.
        rows = self.result("video", "--frames", "3,5,6", f"wide={names[0]}", "--threads", "1,2", f"high={names[1]}", "--fftw-planner", "estimate",
                           names[2], "--k", "30,40")
        self.assertEqual({(row["recording"], row["shape"]) for row in rows},
                         {("wide", "64x96 real"), ("high", "96x64 real"), ("film2.y4m", "80x80 real")})
        even = [row for row in rows if row["figure"] == "break_even"]
        self.assertEqual({(row["recording"], row["frames"]) for row in even}, {("wide", 3), ("high", 5), ("film2.y4m", 6)})
        ours = {f"{kind}, k = {k}{threads}" for kind in ("sfft", "sfft plan") for k in (30, 40) for threads in ("", ", 2 threads")}
        cpu = [row for row in even if row["device"] == "cpu"]
        self.assertEqual({row["contender"] for row in cpu}, ours)
        peers = {row["contender"] for row in rows if row["figure"] == "video" and row["k"] == 0 and row["device"] == "cpu" and not row["skipped"]}
        self.assertLessEqual({"sfft dense", "sfft dense, 2 threads"}, peers)
        self.assertEqual({(row["recording"], row["contender"], row["peer"]) for row in cpu},
                         {(name, own, peer) for name in ("wide", "high", "film2.y4m") for own in ours for peer in peers})
        self.check_break_even(even)
        final = {(row["recording"], row["contender"]): row for row in rows if row["figure"] == "video" and row["device"] == "cpu"}
        for row in cpu:
            self.assertGreater(row["learn_ms"], 0)
            self.assertGreaterEqual(row["plan_ms"], row["learn_ms"])
            self.assertGreaterEqual(row["first_use_ms"], 0)  # what the first frame took longer than the later ones
            self.assertGreater(row["distinct_us"], 0)
            peer = final[row["recording"], row["peer"]]
            self.assertIsNone(peer["learn_ms"])
            self.assertGreater(peer["plan_ms"], 0)
            self.assertEqual((row["peer_prepare_ms"], row["peer_frame_us"]), (peer["prepare_ms"], peer["frame_us"]))
            # Where the totals crossed in this run, the recording's total is the smaller one.
            if row["crossed_frames"] is not None:
                self.assertLessEqual(row["crossed_frames"], row["frames"])
                self.assertLessEqual(row["total_ms"], peer["total_ms"])
            else:
                self.assertGreater(row["total_ms"], peer["total_ms"])

    def test_recordings_that_are_missing_are_noticed_before_the_first_is_measured(self):
        names = self.path("film.y4m"), self.path("result.json")
        with open(names[0], "wb") as file:
            file.write(film(3))
        done = run("video", names[0], f"other={self.path('none.y4m')}", "--json", names[1])
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"none.y4m", done.stderr)
        with self.subTest("nothing was written"):
            self.assertFalse(os.path.exists(names[1]))

    def test_a_looped_recording_goes_on(self):
        name = self.path("film.y4m")
        with open(name, "wb") as file:
            file.write(film(3))
        rows = self.result("video", name, "--k", "40", "--frames", "8", "--loop", "--threads", "1")
        self.assertEqual({row["frames"] for row in rows}, {1, 2, 5, 8})

    def test_wrong_usage_is_exit_2(self):
        for arguments in ((), ("frob",), ("sparse", "--k", "0"), ("sparse", "--sizes", "many"), ("sparse", "--sweep", "x"),
                          ("sparse", "--only", "nobody"), ("noise", "--snr", "loud"), ("dense", "--shape", "4x"), ("dense", "--shape", "1x2x3x4"),
                          ("video",), ("video", "a=-", "b=-"), ("video", "a", "b", "--frames", "1,2,3"), ("video", "a", "--batch", "-1"),
                          ("sparse", "--threads", "0"), ("sparse", "--threads", "four"), ("dense", "--fftw-planner", "guess"), ("sparse", "--effort", "great"),
                          ("sparse", "--snr", "loud"), ("sparse", "--sweep", "noise", "--snr", "999"), ("video", "a", "--frames", "0"),
                          ("sparse", "--signals", "0"), ("sparse", "--device", "tpu"),
                          ("sparse", "--sweep", "n", "--sizes", "16", "--k", "50"), ("noise", "--sizes", "64", "--k", "100")):
            with self.subTest(arguments=arguments):
                done = run(*arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertTrue(done.stderr)
        self.assertIn(b"'frob' is neither a sub-command nor an option of sfft-bench", run("frob").stderr)

    def test_an_interrupt_keeps_what_was_measured(self):
        name = self.path("part.json")
        program = subprocess.Popen([PROGRAM, "sparse", "--sweep", "n", "--sizes", "4096", "--k", "10", "--only", "sfft dense",
                                    "--signals", "100000", "--json", name], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2)
        program.send_signal(signal.SIGINT)
        self.assertEqual(program.wait(60), 130)
        with open(name, encoding="utf-8") as file:
            result = json.load(file)
        self.assertEqual(result["status"], "interrupted")
        self.assertEqual([row["contender"] for row in result["rows"]], ["sfft dense"])
        self.assertGreater(result["rows"][0]["signals"], 0)

    def test_a_damaged_recording_keeps_the_frames_before_the_damage(self):
        name = self.path("part.json")
        done = run("video", "-", "--k", "40", "--threads", "1", "--json", name, stdin=film(7)[:-100])
        self.assertEqual(done.returncode, 3)
        with open(name, encoding="utf-8") as file:
            result = json.load(file)
        self.assertIn("the stream ends", result["status"])
        self.assertEqual({row["frames"] for row in result["rows"]}, {1, 2, 5, 6})

    def test_a_run_that_cannot_start_leaves_files_alone(self):
        name = self.path("old.json")
        with open(name, "w", encoding="utf-8") as file:
            file.write("old")
        self.assertEqual(run("sparse", "--sweep", "n", "--sizes", "16", "--k", "50", "--json", name).returncode, 2)
        self.assertNotEqual(run("dense", "--shape", "2000000000000", "--json", name).returncode, 0)
        with open(name, encoding="utf-8") as file:
            self.assertEqual(file.read(), "old")
        self.assertEqual(os.listdir(self.folder.name), ["old.json"])

    def test_unreadable_or_unwritable_files_are_exit_3(self):
        self.assertEqual(run("video", self.path("none.y4m")).returncode, 3)
        self.assertEqual(run("video", "-", stdin=b"hello").returncode, 3)
        self.assertEqual(run("sparse", "--quick", "--json", self.path("no/where.json")).returncode, 3)

    def test_help(self):
        for arguments in (("--help",), ("sparse", "--help"), ("video", "--help"), ("--version",)):
            done = run(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout)
        for subcommand in ((), ("sparse",), ("video",)):
            self.assertIn(b"Examples:", run(*subcommand, "--help").stdout)
        self.assertIn(b"Break-even", run("video", "--help").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
