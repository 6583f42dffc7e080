#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""streams_test.py SFFT_VIDEO RECORDING: run, guard and triage on RTSP and HTTP cameras (camera_server.py) that break off, stand still, come
late or lose packets, and hooks of guard that are slow. Standard library only."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from camera_server import HttpCamera, Recording, RtspCamera

PROGRAM, RECORDING = sys.argv[1:3]
PACE = 4  # times the playing speed of the 640x420 recording
AWAY = [("refuse",)]


class Streams(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recording = Recording(RECORDING)
        cls.other = Recording(os.path.join(os.path.dirname(RECORDING), "car-detection-excerpt.mp4"))  # 768x432
        cls.keys = [i for i, unit in enumerate(cls.recording.units) if unit[2]]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def camera(self, kind, *scripts, begin=True, pace=PACE):
        camera = kind(self.recording, list(scripts), pace)
        self.addCleanup(camera.close)
        return camera.begin() if begin else camera

    def ask(self, command, *arguments, code=0):
        done = subprocess.run([PROGRAM, command, *arguments, "--quiet", "--json", self.path("r.json")], capture_output=True, text=True, timeout=90)
        self.assertEqual(done.returncode, code, done.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            return json.load(file)

    def test_a_camera_that_breaks_off_is_opened_again(self):
        for kind in (RtspCamera, HttpCamera):
            with self.subTest(kind.__name__):
                # The camera returns between two key frames, so frames before the second cannot be decoded.
                second = self.keys[1] - 20
                camera = self.camera(kind, [("play", 0, 80)], AWAY, [("play", second, second + 80), ("bye",)], AWAY)
                report = self.ask("run", camera.url, "--reconnect", "2", "--k", "50")
                self.assertEqual(report["status"], "complete")
                read = report["input"]
                self.assertEqual((read["width"], read["height"], read["damaged_frames"]), (640, 420, 0))
                self.assertLessEqual(abs(read["frames_read"] - 140), 4)  # the decoder may withhold some when a connection ends
                gap, end = read["gaps"]
                self.assertEqual(gap["attempts"], 2)
                self.assertAlmostEqual(gap["start_s"], gap["frame"] / 50, delta=0.1)
                self.assertGreater(gap["seconds"], 0.7)
                self.assertGreaterEqual(end["seconds"], 2)

    def test_passwords_are_shown_nowhere(self):
        """In no report, page, event, message or variable of the hook, whether the camera is there or not."""
        secret = "s%40cr%2Fet"
        there = [("play", 0, 30), ("bye",)]
        for kind, script, commands in ((HttpCamera, there, ("run", "guard", "vibration")), (RtspCamera, there, ("guard",)), (HttpCamera, AWAY, ("run",))):
            camera = self.camera(kind, script, AWAY)
            scheme, rest = camera.url.split("://")
            url, shown = f"{scheme}://viewer:{secret}@{rest}", f"{scheme}://viewer:***@{rest}"
            options = {"run": ["--k", "50", "--reconnect", "0"], "vibration": ["--reconnect", "0"],
                       "guard": ["--silence", "0.2", "--reconnect", "1", "--on-event", f"env > {self.path('hook')}"]}
            for command in commands:
                with self.subTest(f"{kind.__name__} {command}"):
                    done = subprocess.run([PROGRAM, command, url, "--json", self.path("r.json"), "--html", self.path("page"), *options[command]],
                                          capture_output=True, text=True, timeout=90)
                    told = done.stdout + done.stderr
                    for name in ("r.json", "page", "hook"):
                        if os.path.exists(self.path(name)):
                            with open(self.path(name), encoding="utf-8") as file:
                                told += file.read()
                            os.remove(self.path(name))
                    self.assertNotIn("cr%2Fet", told)
                    self.assertNotIn("s@cr", told)
                    self.assertIn(shown, told)

    def test_guard_waits_for_a_camera_that_is_not_there_yet(self):
        camera = self.camera(RtspCamera, [("play", 0, 200), ("bye",)], AWAY, begin=False)
        timer = threading.Timer(1.5, camera.begin)
        timer.start()
        self.addCleanup(timer.join)
        report = self.ask("guard", camera.url, "--silence", "0.5", "--reconnect", "8", "--frames", "150")
        events = report["events"]
        self.assertEqual([event["kind"] for event in events], ["offline"])
        self.assertEqual((events[0]["start_s"], events[0]["start_frame"]), (0, 0))
        self.assertIn("cannot be opened", events[0]["detail"])
        source = report["sources"][0]
        gap = source["gaps"][0]
        self.assertGreater(gap["seconds"], 1)
        self.assertGreater(gap["attempts"], 1)
        self.assertAlmostEqual(events[0]["end_s"], gap["seconds"], delta=0.2)
        self.assertEqual((source["status"], source["frames"]), ("complete", 150))

    def test_guard_gives_up_on_a_camera_that_never_comes(self):
        camera = self.camera(RtspCamera, AWAY, begin=False)
        report = self.ask("guard", camera.url, "--silence", "0.3", "--reconnect", "1", code=3)
        self.assertEqual([event["kind"] for event in report["events"]], ["offline"])
        self.assertIn("attempts", report["sources"][0]["message"])
        self.assertEqual(self.ask("guard", camera.url, "--reconnect", "0", code=3)["events"], [])

    def test_guard_goes_on_after_a_loss(self):
        camera = self.camera(HttpCamera, [("play", 0, 150)], AWAY, [("play", self.keys[1] - 30, self.keys[1] + 150), ("bye",)], AWAY)
        report = self.ask("guard", camera.url, "--silence", "0.5", "--reconnect", "2")
        self.assertEqual([event["kind"] for event in report["events"]], ["offline", "offline"])
        self.assertIsNotNone(report["events"][0]["end_s"])
        self.assertIsNone(report["events"][1]["end_s"])
        self.assertEqual(len(report["sources"][0]["gaps"]), 2)

    def check_change(self, changes, at_most):
        self.assertEqual(len(changes), 1, changes)
        change = changes[0]
        self.assertLessEqual(abs(change["frame"] - at_most), 4)
        sizes = [(change[key]["width"], change[key]["height"], change[key]["bits"], change[key]["pixels"]) for key in ("from", "to")]
        self.assertEqual(sizes, [(640, 420, 8, "yuv420p"), (768, 432, 8, "yuv420p")])

    def test_pictures_of_another_size_begin_again(self):
        within = [("play", 0, 150), ("use", self.other), ("play", 0, 60), ("bye",)]
        apart = [("use", self.other), ("play", 0, 60), ("bye",)]
        for kind in (RtspCamera, HttpCamera):
            for scripts in ([within], [[("play", 0, 150)], AWAY, apart]):
                for command in ("run", "guard", "triage"):
                    with self.subTest(f"{kind.__name__} {command} {len(scripts)}"):
                        camera = self.camera(kind, *scripts, AWAY)
                        report = self.ask(command, camera.url, "--reconnect", "1.5", *(["--silence", "0.3"] if command == "guard" else []))
                        input_ = report["input"] if command == "run" else report["sources" if command == "guard" else "files"][0]
                        self.check_change(input_["changes"], 150)
                        self.assertEqual((input_["width"], input_["height"]), (640, 420))
                        self.assertLessEqual(abs(input_["frames_read" if command == "run" else "frames"] - 210), 8)
                        self.assertEqual((report if command == "run" else input_)["status"], "complete")
                        warnings = (report if command == "run" else input_)["warnings"]
                        self.assertTrue(any("change from 640x420" in line for line in warnings), warnings)
                        if command == "run":  # both segments learn
                            self.assertEqual(report["frames"]["transformed"], input_["frames_read"] - 2)
                        if command == "guard":
                            self.assertLessEqual({event["kind"] for event in report["events"]}, {"offline", "light"})

    def test_pictures_of_another_size_are_made_up_before_their_first_key_frame(self):
        keys = [i for i, unit in enumerate(self.other.units) if unit[2]]
        first, key = keys[0] + 10, keys[1]
        camera = self.camera(HttpCamera, [("play", 0, 100), ("use", self.other), ("play", first, len(self.other.units)), ("bye",)], AWAY)
        report = self.ask("guard", camera.url, "--reconnect", "0.5")
        source = report["sources"][0]
        self.assertEqual([event["kind"] for event in report["events"]], ["offline"])
        self.assertEqual(len(source["changes"]), 1)
        self.assertEqual(source["frames_made_up"], key - first)

    def test_parameters_that_come_before_the_first_key_frame_count(self):
        camera = self.camera(HttpCamera, [("play", 10, 40), ("use", self.other), ("play", 10, len(self.other.units)), ("bye",)], AWAY)
        read = self.ask("run", camera.url, "--reconnect", "0.5", "--k", "50")["input"]
        self.assertEqual((read["width"], read["height"], read["damaged_frames"], read["changes"]), (768, 432, 0, []))
        self.assertEqual(read["frames_read"], len(self.other.units) - 60)

    def test_a_stall_within_a_connection_is_timed_by_the_clock(self):
        camera = self.camera(RtspCamera, [("play", 0, 100), ("stall", 3), ("play", 100, 200), ("bye",)], AWAY, pace=1)
        report = self.ask("guard", camera.url, "--silence", "1", "--reconnect", "1", "--frames", "190")
        event = report["events"][0]
        self.assertEqual(event["kind"], "offline")
        self.assertGreater(event["end_s"] - event["start_s"], 2.5)
        gap = report["sources"][0]["gaps"][0]
        self.assertEqual((gap["attempts"], gap["reason"]), (0, "no frames came"))
        self.assertGreater(report["sources"][0]["seconds"], 190 / 50 + 2.5)

    def test_lost_packets_bring_no_events(self):
        camera = self.camera(RtspCamera, [("play", 0, 100), ("lose", 0.05), ("play", 100, 500), ("bye",)], AWAY)
        report = self.ask("guard", camera.url, "--reconnect", "0.5")
        self.assertEqual([event["kind"] for event in report["events"]], ["offline"])
        self.assertGreater(report["sources"][0]["frames"], 300)

    def test_pictures_that_are_dropped_whole_are_counted(self):
        for kind in (RtspCamera, HttpCamera):
            with self.subTest(kind.__name__):
                camera = self.camera(kind, [("play", 0, 60), ("drop", 0.1), ("play", 60, 500), ("bye",)], AWAY)
                report = self.ask("guard", camera.url, "--reconnect", "0.5")
                source = report["sources"][0]
                self.assertEqual([event["kind"] for event in report["events"]], ["offline"])
                missing = 500 - source["frames"]
                self.assertGreater(source["lost_frames"], 20)
                self.assertLessEqual(abs(missing - source["lost_frames"]), 8)  # some are withheld at the end, or precede a key frame
                self.assertAlmostEqual(source["seconds"], 10, delta=0.3)

    def test_triage_reads_a_stream(self):
        camera = self.camera(RtspCamera, [("play", 0, 150), ("bye",)], AWAY)
        report = self.ask("triage", camera.url, "--reconnect", "0.5")
        self.assertEqual(report["events"], [])

    def test_a_stream_that_is_never_there_can_be_left(self):
        camera = self.camera(RtspCamera, AWAY, begin=False)
        with subprocess.Popen([PROGRAM, "guard", camera.url, "--reconnect", "60", "--quiet"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as run:
            time.sleep(0.7)
            run.send_signal(signal.SIGINT)
            self.assertEqual(run.wait(20), 130)

    def test_a_server_that_never_answers_can_be_left(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            address = f"rtsp://127.0.0.1:{server.getsockname()[1]}/silent"
            for command in (["run"], ["guard"], ["triage"], ["vibration"], ["learn", "-o", self.path("t")]):
                with self.subTest(command[0]), subprocess.Popen([PROGRAM, command[0], address, *command[1:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
                    connection = server.accept()[0]
                    run.send_signal(signal.SIGINT)
                    self.assertEqual(run.wait(60), 130)
                    connection.close()

    def test_a_slow_hook_holds_up_no_other(self):
        camera = self.camera(HttpCamera, [("play", 0, 60)], AWAY, [("play", 0, 60)], AWAY, [("play", 0, 60), ("bye",)], AWAY)
        out = self.path("hooks")
        # The first hook never ends by itself; the others write their names.
        hook = f'if [ "$SFFT_EVENT_ID" = 1 ]; then sleep 100; fi; echo "$SFFT_EVENT $SFFT_EVENT_ID" >> "{out}"'
        with subprocess.Popen([PROGRAM, "guard", camera.url, "--silence", "0.3", "--reconnect", "1.5", "--quiet", "--on-event", hook],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            for _ in range(300):
                if os.path.exists(out) and os.path.getsize(out) >= len("start 2\nend 2\nstart 3\n"):
                    break
                time.sleep(0.05)
            with open(out, encoding="utf-8") as file:
                self.assertEqual(file.read(), "start 2\nend 2\nstart 3\n")
            run.send_signal(signal.SIGINT)
            time.sleep(1.2)
            run.send_signal(signal.SIGINT)  # within a second it would count as the same request; now the program ends at once
            run.wait(20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
