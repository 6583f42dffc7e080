#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recorders_test.py SFFT_VIDEO: dates of recordings, and segments as recorders write them. The recordings are those of containers_test.py.
Standard library and the program ffmpeg."""
import json
import os
import re
import resource
import subprocess
import sys
import unittest
from datetime import datetime, timedelta, timezone
from urllib.parse import unquote

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


class Links(base.Recordings):
    def test_the_page_of_triage_leads_to_clips(self):
        os.makedirs(self.path("pages"))
        path = self.record("it's 50%.mp4", "h264", sound=False)
        clips = self.path("clips & <more>")
        subprocess.run([PROGRAM, "triage", path, "--roi", base.SCENE, "--quiet", "--clips", clips, "--html", self.path("pages/p.html")], check=True, capture_output=True, timeout=60)
        with open(self.path("pages/p.html"), encoding="utf-8") as page:
            [link] = re.findall(r"<a href='([^']*)'>clip</a>", page.read())
        self.assertTrue(os.path.samefile(os.path.join(self.path("pages"), unquote(link)), os.path.join(clips, os.listdir(clips)[0])))

    def test_a_clip_that_cannot_be_written_is_not_named(self):
        path, clips = self.record("a.mkv", "ffv1", sound=False), self.path("clips")
        done = subprocess.run([PROGRAM, "triage", path, "--roi", base.SCENE, "--quiet", "--json", "-", "--clips", clips], capture_output=True, text=True, timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000)))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("cannot be written", done.stderr)
        [event] = json.loads(done.stdout)["events"]
        self.assertNotIn("clip", event)
        self.assertEqual(os.listdir(clips), [])

    def guard(self, path, *arguments, code=0):
        done = subprocess.run([PROGRAM, "guard", path, "--quiet", "--json", self.path("r.json"), "--html", self.path("r.html"), *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        if code == 0:
            with open(self.path("r.json"), encoding="utf-8") as file:
                return json.load(file)["events"]
        return done.stderr

    def test_snapshots_of_guard(self):
        size = base.WIDTH * base.HEIGHT
        white = size * b"\xff"
        pictures = b"".join(self.pictures[i * size:(i + 1) * size] if i < 75 else white for i in range(150))
        path = self.record("a b.mp4", "h264", pictures=pictures, sound=False)
        folder = self.path("seen/it's")
        events = self.guard(path, "--snapshots", folder)
        self.assertTrue(events)
        with open(self.path("r.html"), encoding="utf-8") as page:
            links = [os.path.join(self.folder, unquote(link)) for link in re.findall(r"<a href='([^']*)'>picture</a>", page.read())]
        self.assertEqual(len(links), len(events))
        for event, link in zip(events, links):
            self.assertEqual(event["snapshot"], os.path.join(folder, f"a b-{event['id']:04}-{event['kind']}.png"))
            self.assertTrue(os.path.samefile(event["snapshot"], link))
            shown = base.ffmpeg("-i", event["snapshot"], "-f", "rawvideo", "-pix_fmt", "gray", "-")
            self.assertEqual(len(shown), size)
            self.assertGreater(min(shown), 240)  # shows the event, not what preceded it
        self.assertIsNone(self.guard(path)[0]["snapshot"])

    def test_snapshots_that_cannot_be_written(self):
        path = self.record("a.mp4", "h264", sound=False)
        with open(self.path("file"), "w", encoding="utf-8"):
            pass
        self.assertIn("cannot be made", self.guard(path, "--snapshots", self.path("file"), code=2))
        black = base.WIDTH * base.HEIGHT * b"\x10"
        dark = self.record("b.mp4", "h264", pictures=self.pictures[:50 * len(black)] + 100 * black, sound=False)
        for kind in ("dark", "covered", "defocused", "frozen", "blinded", "light"):
            for number in range(1, 5):
                os.makedirs(self.path(f"taken/b-{number:04}-{kind}.png"))
        self.assertIn("b-0001-", self.guard(dark, "--snapshots", self.path("taken"), code=2))
        with open(self.path("r.json"), encoding="utf-8") as file:
            self.assertIsNone(json.load(file)["events"][0]["snapshot"])


class Segments(base.Recordings):
    """The recording of containers_test.py, whose event is from 4.0 to 5.2 s, in pieces."""
    CUT = 4.8

    def cut(self, folder, names, times, *options, kind="mp4", codec="h264b", pictures=None):
        whole = self.record(f"whole.{kind}", codec, pictures=pictures)
        os.makedirs(self.path(folder), exist_ok=True)
        ffmpeg_list = ",".join(str(time) for time in times)
        base.ffmpeg("-i", whole, "-map", "0", "-c", "copy", "-f", "segment", "-segment_times", ffmpeg_list, *options, self.path(f"{folder}/piece%d.{kind}"))
        paths = []
        for i, name in enumerate(names):
            paths.append(self.path(f"{folder}/{name}.{kind}"))
            os.makedirs(os.path.dirname(paths[-1]), exist_ok=True)
            os.rename(self.path(f"{folder}/piece{i}.{kind}"), paths[-1])
        self.assertFalse([name for name in os.listdir(self.path(folder)) if re.match(r"piece\d", name) and name not in (os.path.basename(path) for path in paths)])
        return paths

    def check_joined(self, folder, paths, cuts, *options):
        report = self.triage(self.path(folder), *options)
        self.assertEqual([file["file"] for file in report["files"]], paths)
        self.assertEqual([file["follows"] for file in report["files"]], [None, *paths[:-1]])
        for file, begin in zip(report["files"], cuts):
            self.assertAlmostEqual(file["sequence_s"], begin, delta=0.05)
        self.assertEqual(sum(file["frames"] for file in report["files"]), base.COUNT)
        [event] = report["events"]
        began = cuts[paths.index(event["file"])]
        self.check_event({**event, "change_start_s": event["change_start_s"] + began, "change_end_s": event["change_end_s"] + began})
        if "end_file" in event:
            self.assertAlmostEqual(event["end_file_s"] + cuts[paths.index(event["end_file"])], event["end_s"] + began, delta=0.001)
        on_whole = {"start_s": event["start_s"] + began, "end_s": event["end_s"] + began}
        seen = [number for clip in event["clips"] for number in base.shown("-i", clip)]
        self.check_shown(seen, on_whole)
        self.assertEqual(event["clip"], event["clips"][0])
        listed = base.shown("-f", "concat", "-safe", "0", "-i", self.path("list.ffconcat"))
        self.check_shown(listed, on_whole, exact=False)
        return report

    def test_names(self):
        paths = self.cut("names", ["cam_20261128_235955", "cam_20261129_000000"], [self.CUT], "-reset_timestamps", "1")
        report = self.check_joined("names", paths, [0, self.CUT])
        [event] = report["events"]
        self.assertEqual((event["file"], event["end_file"], len(event["clips"])), (*paths, 2))
        self.assertEqual(time_of(event["wall_clock"]), datetime(2026, 11, 28, 23, 59, 55) + timedelta(seconds=event["start_s"]))

    def test_names_in_folders_by_date(self):
        paths = self.cut("dvr", ["2026-11-28/ch1/23.59.55-00.00.00", "2026-11-29/ch1/00.00.00-00.00.03"], [self.CUT], "-reset_timestamps", "1")
        self.check_joined("dvr", paths, [0, self.CUT])

    def test_creation_times(self):
        paths = self.cut("dated", ["a", "b"], [self.CUT], "-reset_timestamps", "1", kind="mkv")
        for path, date in zip(paths, ("2026-11-28T00:33:10.2Z", "2026-11-28T00:33:15Z")):
            base.ffmpeg("-i", path, "-map", "0", "-c", "copy", "-metadata", f"creation_time={date}", path + ".mkv")
            os.rename(path + ".mkv", path)
        os.rename(paths[0], self.path("dated/x1.mkv"))
        os.rename(paths[1], self.path("dated/x0.mkv"))  # ordered by date, not by name
        self.check_joined("dated", [self.path("dated/x1.mkv"), self.path("dated/x0.mkv")], [0, self.CUT])

    def test_stamps_of_short_pieces(self):
        """Each is too short to tell what usually is there."""
        times = [1.2, 2.4, 3.6, 4.8, 6.0, 7.2]
        paths = self.cut("hls", [f"out{i + 8}" for i in range(7)], times, kind="ts", codec="h264")
        report = self.check_joined("hls", paths, [0, *times])
        self.assertGreater(len(report["events"][0]["clips"]), 2)

    def test_what_does_not_continue(self):
        paths = self.cut("apart", ["cam_20261128_003310", "cam_20261128_003315"], [self.CUT], "-reset_timestamps", "1")
        def joined(*arguments):
            return [file["follows"] for file in self.triage(self.path("apart"), *arguments)["files"]].count(None) == 1
        self.assertTrue(joined())
        self.assertFalse(joined("--separate"))
        self.assertFalse(joined("--frames", "90"))
        for name in ("cam_20261128_003325", "cam_20261128_003205", "cam_20261128_003310-x", "door_20261128_003315", "cam_2026-11-28_00-33-12"):
            with self.subTest(name):  # a gap, a clock set back, the same time, another camera, an overlap
                to = self.path(f"apart/{name}.mp4")
                os.rename(paths[1], to)
                self.assertFalse(joined())
                os.rename(to, paths[1])
        base.ffmpeg("-i", paths[1], "-vf", "scale=80:56", paths[1] + ".mp4")
        os.rename(paths[1] + ".mp4", paths[1])
        done = subprocess.run([PROGRAM, "triage", self.path("apart"), "--quiet", "--json", "-"], capture_output=True, text=True, timeout=60)
        self.assertEqual([file["follows"] for file in json.loads(done.stdout)["files"]], [None, None])

    def test_two_cameras_in_one_folder(self):
        for camera in ("a", "b"):
            self.cut("both", [f"{camera}_20261128_003310", f"{camera}_20261128_003315"], [self.CUT], "-reset_timestamps", "1")
        report = self.triage(self.path("both"), "--jobs", "2")
        self.assertEqual([os.path.basename(file["file"])[0] for file in report["files"]], list("aabb"))
        self.assertEqual([event["file"] for event in report["events"]], [self.path("both/a_20261128_003310.mp4"), self.path("both/b_20261128_003310.mp4")])

    def test_the_state_file(self):
        paths = self.cut("kept", ["cam_20261128_003310", "cam_20261128_003315"], [self.CUT], "-reset_timestamps", "1")
        state = ("--state", self.path("state"))
        first, second = (self.triage(self.path("kept"), *state) for _ in range(2))
        self.assertEqual([file["resumed"] for report in (first, second) for file in report["files"]], [False, False, True, True])
        self.assertEqual(first["events"], second["events"])
        os.rename(paths[1], self.path("gone.mp4"))
        alone = self.triage(self.path("kept"), *state)
        self.assertFalse(alone["files"][0]["resumed"])
        self.assertNotIn("end_file", alone["events"][0])

    def test_a_damaged_piece(self):
        times = [2.4, 6.0]
        paths = self.cut("harmed", ["cam_20261128_003310", "cam_20261128_003312", "cam_20261128_003316"], times, "-reset_timestamps", "1", kind="mkv")
        with open(paths[1], "r+b") as file:
            file.truncate(os.path.getsize(paths[1]) * 2 // 3)
        report = self.triage(self.path("harmed"), code=3)
        self.assertEqual([file["status"] for file in report["files"]], ["complete", "input_damaged", "complete"])
        self.assertTrue(report["events"])
        self.assertGreater(report["files"][2]["frames"], 40)

    def turned_between(self):
        """A camera that is turned between two recordings: the scene stands 12 pixels further left in the second one."""
        size, rows = base.WIDTH * base.HEIGHT, base.WIDTH * base.BLOCK
        for i in range(base.COUNT):
            picture = base.picture(i, event=range(0))
            by = 12 if i >= round(self.CUT * base.RATE) else 0
            scene = [picture[at:at + base.WIDTH] for at in range(rows, size, base.WIDTH)]
            yield picture[:rows] + b"".join(row[by:] + row[:by] for row in scene)

    def guard(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, "guard", *arguments, "--roi", base.SCENE, "--json", self.path("g.json")], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stderr)
        with open(self.path("g.json"), encoding="utf-8") as file:
            return json.load(file), done

    def test_guard_knows_the_scene_of_the_recording_before(self):
        paths = self.cut("turned", ["cam_20261128_003310", "cam_20261128_003315"], [self.CUT], "-reset_timestamps", "1", pictures=b"".join(self.turned_between()))
        report, done = self.guard(*reversed(paths))
        [source], [event] = report["sources"], report["events"]
        self.assertEqual((source["source"], source["status"], source["frames"]), (paths[0], "complete", base.COUNT))
        self.assertEqual([(file["file"], file["frames"]) for file in source["files"]], [(paths[0], 120), (paths[1], 80)])
        self.assertAlmostEqual(source["files"][1]["start_s"], self.CUT, delta=0.25)  # names have whole seconds
        self.assertEqual((event["kind"], event["source"], event["file"]), ("moved", paths[0], paths[1]))
        self.assertAlmostEqual(event["file_s"], event["start_s"] - source["files"][1]["start_s"], delta=1e-3)
        self.assertLess(event["file_s"], 1)
        self.assertAlmostEqual(event["shift_px"], 12, delta=1.5)
        self.assertEqual(time_of(event["wall_clock"]), datetime(2026, 11, 28, 0, 33, 10) + timedelta(seconds=round(event["start_s"], 3)))
        self.assertIn("in 2 recordings", done.stderr)
        separate, _ = self.guard(*paths, "--separate")
        self.assertEqual([(source["frames"], "files" in source) for source in separate["sources"]], [(120, False), (80, False)])
        self.assertEqual(separate["events"], [])

    def test_guard_goes_on_after_a_damaged_recording(self):
        paths = self.cut("broken", ["cam_20261128_003310", "cam_20261128_003312", "cam_20261128_003316"], [2.4, 6.0], "-reset_timestamps", "1", kind="mkv")
        with open(paths[1], "r+b") as file:
            file.truncate(os.path.getsize(paths[1]) * 2 // 3)
        report, _ = self.guard(*paths, code=3)
        [source] = report["sources"]
        self.assertEqual(source["status"], "input_damaged")
        self.assertEqual([file["file"] for file in source["files"]], paths)
        self.assertEqual(source["frames"], sum(file["frames"] for file in source["files"]))
        self.assertEqual(source["files"][2]["frames"], 50)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
