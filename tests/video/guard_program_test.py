# SPDX-License-Identifier: Apache-2.0
"""guard_program_test.py SFFT_VIDEO [RECORDING]: sfft-video guard as scripts use it, on a drawn YUV4MPEG2 stream and on a recording in which nothing
happens to the camera."""
import json
import os
import random
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = sys.argv[1]
RECORDING = sys.argv[2] if len(sys.argv) > 2 else None
WIDTH, HEIGHT = 128, 96


def scene(shift=0):
    drawn = random.Random(5)
    grey = [[90 + (x - shift) // 4 for x in range(WIDTH)] for y in range(HEIGHT)]
    for _ in range(150):
        left, top, w, h, level = (drawn.randrange(-20, WIDTH), drawn.randrange(HEIGHT), drawn.randrange(2, 14), drawn.randrange(2, 14), drawn.randrange(20, 230))
        for y in range(top, min(HEIGHT, top + h)):
            for x in range(max(0, left + shift), min(WIDTH, left + shift + w)):
                grey[y][x] = level
    return [min(255, max(0, v)) for row in grey for v in row]


def y4m(path, frames):
    noise = random.Random(1)
    with open(path, "wb") as file:
        file.write(b"YUV4MPEG2 W%d H%d F25:1 Cmono\n" % (WIDTH, HEIGHT))
        for frame in frames:
            file.write(b"FRAME\n" + bytes(min(255, max(0, v + noise.choice((-1, 0, 1)))) for v in frame))


def guard(*arguments, **options):
    return subprocess.run([PROGRAM, "guard", *arguments], capture_output=True, text=True, timeout=60, **options)


class Guard(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.still = os.path.join(cls.folder.name, "still.y4m")
        cls.moved = os.path.join(cls.folder.name, "moved'; exit 1 #<b>.y4m")
        y4m(cls.still, [scene()] * 40)
        y4m(cls.moved, [scene()] * 30 + [scene(6)] * 12)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def test_masks_and_zones(self):
        covered = self.path("covered.y4m")
        cover = [40 if i % WIDTH < WIDTH // 2 else v for i, v in enumerate(scene())]
        y4m(covered, [scene()] * 30 + [cover] * 40)
        zones = ("--zone", "left=0,0 0.4,0 0.4,1 0,1", "--zone", "right=0.6,0 1,0 1,1 0.6,1")
        events = [json.loads(line) for line in guard(covered, *zones).stdout.splitlines()]
        self.assertEqual([(e["kind"], e["zones"]) for e in events if e["event"] == "start"], [("covered", ["left"])])
        out = self.path("zones.txt")
        guard(covered, *zones, "--on-event", f'echo "$SFFT_EVENT $SFFT_ZONES" >> "{out}"')
        with open(out) as file:
            self.assertIn("start left", file.read().splitlines())
        self.assertEqual(guard(covered, "--mask", "0,0 0.55,0 0.55,1 0,1").stdout, "")
        mask = self.path("mask.pgm")
        with open(mask, "wb") as file:
            file.write(b"P5 8 2 255 " + bytes([0, 0, 0, 0, 0, 255, 255, 255] * 2))
        self.assertEqual(guard(covered, "--mask", mask).stdout, "")
        self.assertEqual(guard(covered, *zones[2:], "--only-zones").stdout, "")
        settings = self.path("masks.ini")
        with open(settings, "w") as file:
            file.write('[guard]\nmask = ["0,0 0.55,0 0.55,1 0,1"]\n')
        run = subprocess.run([PROGRAM, "--config", settings, "guard", covered], capture_output=True, text=True, timeout=60)
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)
        for wrong in (("--mask", "0,0 1,0"), ("--zone", "0,0 1,0 1,1"), ("--mask", "nothing.png")):
            run = guard(covered, *wrong)
            self.assertEqual(run.returncode, 2, run.stderr)
            self.assertIn("x,y x,y x,y", run.stderr)

    def test_untouched(self):
        run = guard(self.still, "--fail-on", "any")
        self.assertEqual((run.returncode, run.stdout), (0, ""), run.stderr)

    def test_moved(self):
        run = guard(self.moved, "--json", self.path("r.json"), "--html", self.path("r.html"), "--fail-on", "moved", "--quiet")
        self.assertEqual(run.returncode, 5, run.stderr)
        events = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual([e["kind"] for e in events], ["moved"])
        with open(self.path("r.json")) as file:
            report = json.load(file)
        event = report["events"][0]
        self.assertEqual((event["kind"], event["start_frame"]), ("moved", 30))
        self.assertAlmostEqual(event["start_s"], 1.2, places=3)
        self.assertAlmostEqual(event["shift_px"], 6, delta=0.4)
        self.assertGreater(event["confidence"], 0.5)
        self.assertEqual(report["sources"][0]["frames"], 42)
        with open(self.path("r.html")) as file:
            self.assertNotIn("<b>", file.read())

    @unittest.skipUnless(RECORDING, "needs FFmpeg's libraries")
    def test_recording_has_no_alarm(self):
        run = guard(RECORDING, "--fail-on", "alarms", "--json", self.path("quiet.json"), "--quiet")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        with open(self.path("quiet.json")) as file:
            self.assertGreater(json.load(file)["sources"][0]["frames"], 50)

    def test_fail_on_other_kinds(self):
        self.assertEqual(guard(self.moved, "--fail-on", "covered,frozen").returncode, 0)

    def test_hook_gets_the_event_and_no_names_in_its_command(self):
        out = self.path("hook.txt")
        run = guard(self.moved, "--on-event", f'cat > "{out}"; printf %s "$SFFT_KIND:$SFFT_SOURCE" >> "{out}"')
        self.assertEqual(run.returncode, 0, run.stderr)
        with open(out) as file:
            line, rest = file.read().split("\n", 1)
        self.assertEqual(json.loads(line)["source"], self.moved)
        self.assertEqual(rest, "moved:" + self.moved)

    def test_several_sources(self):
        run = guard(self.still, self.moved, "--json", "-")
        report = json.loads(run.stdout)
        self.assertEqual(len(report["sources"]), 2)
        self.assertEqual([e["source"] for e in report["events"]], [self.moved])

    def test_damaged_input_is_reported(self):
        with open(self.moved, "rb") as file:
            data = file.read()
        cut = self.path("cut.y4m")
        with open(cut, "wb") as file:
            file.write(data[: len(data) - 5000])
        run = guard(cut, "--json", self.path("cut.json"))
        self.assertEqual(run.returncode, 3, run.stderr)
        with open(self.path("cut.json")) as file:
            report = json.load(file)
        self.assertEqual(report["sources"][0]["status"], "input_damaged")
        self.assertEqual(len(report["events"]), 1)

    def test_wrong_usage(self):
        self.assertEqual(guard(self.still, "--fail-on", "moving").returncode, 2)
        self.assertEqual(guard(self.still, "--roi", "1,2,3").returncode, 2)
        self.assertEqual(guard(self.still, "--roi", "0,0,500,500").returncode, 2)
        self.assertEqual(guard(self.still, "--json", "/nonexistent/r.json").returncode, 2)
        self.assertEqual(guard("/nonexistent.y4m").returncode, 3)

    def test_roi(self):
        self.assertEqual(guard(self.moved, "--roi", "10,10,100,80", "--fail-on", "moved").returncode, 5)

    def test_two_signals_within_a_second_are_one_request(self):
        """timeout(1) signals its child and then the group, milliseconds apart."""
        for again_ms in (0, 2, 20, 200):
            with self.subTest(again_ms), subprocess.Popen([PROGRAM, "guard", "-", "--json", self.path("two.json")], stdin=subprocess.PIPE,
                                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
                with open(self.moved, "rb") as file:
                    run.stdin.write(file.read())
                run.stdin.flush()
                run.stdout.readline()  # the event
                run.terminate()
                time.sleep(again_ms / 1000)
                run.terminate()
                # The input stays open: if it ended now, the recording might be complete before the signal is handled.
                self.assertEqual(run.wait(timeout=30), 130)
                with open(self.path("two.json")) as file:
                    self.assertEqual(json.load(file)["sources"][0]["status"], "interrupted")
                os.remove(self.path("two.json"))

    def test_interrupt_keeps_the_report(self):
        with subprocess.Popen([PROGRAM, "guard", "-", "--json", self.path("i.json")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            with open(self.moved, "rb") as file:
                run.stdin.write(file.read())
            run.stdin.flush()
            run.stdout.readline()  # the event
            run.terminate()
            run.stdin.close()
            self.assertEqual(run.wait(30), 130)
        with open(self.path("i.json")) as file:
            self.assertEqual(json.load(file)["events"][0]["kind"], "moved")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
