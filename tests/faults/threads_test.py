#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""threads_test.py SFFT_VIDEO PRELOAD RECORDING: where no more threads can be started, sfft-video does without them, or ends with exit code 1
and says what the thread was for. Standard library only."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, PRELOAD, RECORDING = sys.argv[1:4]
HAS_FFMPEG = b"FFmpeg     yes" in subprocess.run([PROGRAM, "--version"], capture_output=True, check=True).stdout


def film(frames, width=64, height=48):
    """YUV4MPEG2: a texture that moves."""
    frame = [bytes(60 + (7 * ((x + t) % 11) * (y % 5 + 3)) % 120 for y in range(height) for x in range(width)) for t in range(frames)]
    return f"YUV4MPEG2 W{width} H{height} F25:1 Cmono\n".encode() + b"".join(b"FRAME\n" + one for one in frame)


class Threads(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        with open(self.path("film.y4m"), "wb") as file:
            file.write(film(30))

    def path(self, name):
        return os.path.join(self.folder, name)

    def run_with(self, threads, *arguments):
        return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=100, check=False,
                              env=os.environ | {"LD_PRELOAD": PRELOAD, "SFFT_MAX_THREADS": str(threads)})

    def check(self, source, *command):
        codes = []
        for threads in (0, 1, 2, 4, 100):
            with self.subTest(source=os.path.basename(source), command=command, threads=threads):
                report = self.path(f"{command[0]}{threads}.json")
                done = self.run_with(threads, command[0], source, *command[1:], "--json", report, "--quiet")
                codes.append(done.returncode)
                self.assertIn(done.returncode, (0, 1), done.stderr)
                if done.returncode == 1:
                    self.assertRegex(done.stderr, "thread creation failed for (the decoder|an input|the clock of an input|reading a recording): ")
                with open(report, encoding="utf-8") as file:
                    told = json.dumps(json.load(file))
                self.assertEqual("out_of_resources" in told, done.returncode == 1)
                self.assertEqual("thread creation failed for" in told, done.returncode == 1)
        self.assertEqual((codes[0], codes[-1]), (1, 0))
        self.assertEqual(codes, sorted(codes, reverse=True), "more threads are no worse")

    def test_all_commands(self):
        film = self.path("film.y4m")
        for command in (["run", "--k", "20", "--threads", "4"], ["guard"], ["vibration", "--fps", "100"], ["triage", "--jobs", "2"]):
            self.check(film, *command)

    def test_several_inputs(self):
        film = self.path("film.y4m")
        another = self.path("another.y4m")
        shutil.copy(film, another)
        for command in (["run", another, "--k", "20"], ["guard", another], ["triage", another]):
            self.check(film, *command)

    @unittest.skipIf(not HAS_FFMPEG, "this build has no FFmpeg")
    def test_decoders_of_recordings(self):
        """FFmpeg's threads are dispensable, too."""
        self.check(RECORDING, "run", "--k", "20", "--threads", "4")

    def test_command_of_an_event(self):
        done = self.run_with(0, "guard", self.path("film.y4m"), "--on-event", "true", "--quiet")
        self.assertEqual(done.returncode, 1)
        self.assertIn("thread creation failed for the command of --on-event", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
