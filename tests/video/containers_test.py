#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""containers_test.py SFFT_VIDEO: clips, cut lists and --start of sfft-video on recordings that ffmpeg writes, over containers, codecs and
tracks. Every picture has its number in blocks of black and white, so that decoding tells which ones a clip shows. Standard library and
the program ffmpeg."""
import http.server
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

PROGRAM = sys.argv[1]
FFMPEG = shutil.which("ffmpeg")
WIDTH, HEIGHT, BLOCK, BITS = 160, 112, 16, 10
RATE, COUNT, EVENT = 25, 200, range(100, 130)  # something crosses the picture in these frames
SCENE = f"0,{BLOCK},{WIDTH},{HEIGHT - BLOCK}"
GOP = 30


def picture(number, event=EVENT, first=0):
    rows = []
    bits = b"".join((b"\xeb" if (number + first) >> bit & 1 else b"\x10") * BLOCK for bit in range(BITS))
    rows += [bits] * BLOCK
    scene = [bytearray(row) for row in SCENE_ROWS]
    if number in event:
        left = 6 + 4 * (number - event.start) * 30 // len(event)
        for y in range(40, 60):
            scene[y][left:left + 20] = b"\xe0" * 20
    noise = random.Random(number)
    for row in scene:
        for _ in range(12):
            row[noise.randrange(WIDTH)] += noise.choice((0, 1, 2))
    return b"".join(rows + [bytes(row) for row in scene])


def scene_rows():
    drawn = random.Random(5)
    rows = [bytearray(60 + x // 3 for x in range(WIDTH)) for _ in range(HEIGHT - BLOCK)]
    for _ in range(70):
        left, top, level = drawn.randrange(WIDTH - 20), drawn.randrange(HEIGHT - BLOCK - 12), drawn.randrange(40, 190)
        for y in range(top, top + drawn.randrange(3, 12)):
            rows[y][left:left + 14] = bytes([level]) * 14
    return rows


SCENE_ROWS = scene_rows()
RAW = ["-f", "rawvideo", "-pix_fmt", "gray", "-s", f"{WIDTH}x{HEIGHT}"]
X264 = ["-c:v", "libx264", "-preset", "veryfast", "-crf", "20", "-g", str(GOP), "-sc_threshold", "0"]
CODECS = {
    "h264": X264 + ["-bf", "0"], "h264b": X264 + ["-bf", "3", "-x264-params", "b-pyramid=normal:b-adapt=0"],
    "open": X264 + ["-bf", "2", "-x264-params", "open-gop=1:b-adapt=0"],
    "hevc": ["-c:v", "libx265", "-preset", "ultrafast", "-x265-params", f"log-level=none:bframes=3:keyint={GOP}", "-tag:v", "hvc1"],
    "mpeg2": ["-c:v", "mpeg2video", "-bf", "2", "-g", str(GOP), "-q:v", "3"], "mpeg4": ["-c:v", "mpeg4", "-g", str(GOP), "-q:v", "3"],
    "mpeg4b": ["-c:v", "mpeg4", "-bf", "2", "-g", str(GOP), "-q:v", "3"], "mjpeg": ["-c:v", "mjpeg", "-q:v", "3", "-pix_fmt", "yuvj420p"],
    "vp9": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-g", str(GOP), "-b:v", "2M"],
    "av1": ["-c:v", "libsvtav1", "-preset", "12", "-g", str(GOP), "-crf", "30"], "ffv1": ["-c:v", "ffv1"],
    "flv1": ["-c:v", "flv", "-g", str(GOP), "-q:v", "3"]}
SOUND = {"webm": "libopus", "flv": "aac", "avi": "mp2", "mpg": "mp2"}
CONTAINERS = {"mp4": "h264 h264b open hevc mpeg4 mpeg4b mjpeg vp9 av1", "mov": "h264b mjpeg mpeg4", "mkv": "h264 h264b open hevc mpeg4b mjpeg vp9 av1 ffv1 mpeg2",
              "webm": "vp9 av1", "ts": "h264 h264b open hevc mpeg2 mpeg4", "mpg": "mpeg2 h264b", "avi": "h264 h264b mpeg4 mpeg4b mjpeg ffv1", "flv": "h264 h264b flv1"}


def ffmpeg(*arguments, stdin=None):
    done = subprocess.run([FFMPEG, "-v", "error", "-y", *arguments], input=stdin, capture_output=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"ffmpeg {arguments}: {done.stderr.decode(errors='replace')}")
    return done.stdout


def numbers(pictures, width=WIDTH, height=HEIGHT):
    """What the pictures, grey and of this size, say of themselves."""
    size = width * height
    found = []
    for start in range(0, len(pictures) - size + 1, size):
        at = start + BLOCK // 2 * width + BLOCK // 2
        found.append(sum((pictures[at + BLOCK * bit] > 128) << bit for bit in range(BITS)))
    return found


def shown(*source, filters=()):
    return numbers(ffmpeg(*source, "-map", "0:v:0", *filters, "-fps_mode", "passthrough", "-f", "rawvideo", "-pix_fmt", "gray", "-"))


@unittest.skipIf(FFMPEG is None, "there is no ffmpeg")
@unittest.skipIf("FFmpeg     yes" not in subprocess.run([PROGRAM, "--version"], capture_output=True, text=True).stdout, "this build has no FFmpeg")
class Recordings(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pictures = b"".join(picture(i) for i in range(COUNT))
        cls.encoders = subprocess.run([FFMPEG, "-v", "error", "-encoders"], capture_output=True, text=True).stdout

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def record(self, name, codec="h264b", *more, pictures=None, rate=RATE, sound=True, options=()):
        if not re.search(rf"\b{CODECS[codec][1]}\b", self.encoders):
            self.skipTest(f"ffmpeg has no {CODECS[codec][1]}")
        kind = name.rsplit(".", 1)[-1]
        pictures = self.pictures if pictures is None else pictures
        seconds = len(pictures) // (WIDTH * HEIGHT) / float(rate) if sound else 0
        audio = ["-f", "lavfi", "-i", f"sine=duration={seconds}"] if sound else []
        coded = ["-c:a", SOUND.get(kind, "aac")] if sound else []
        tag = [] if kind in ("mp4", "mov") or codec != "hevc" else ["-tag:v", "0"]
        pixels = [] if "-pix_fmt" in CODECS[codec] else ["-pix_fmt", "yuv420p"]
        ffmpeg(*RAW, "-r", str(rate), "-i", "-", *audio, *options, *pixels, *CODECS[codec], *tag, *coded, *more, self.path(name), stdin=pictures)
        return self.path(name)

    def triage(self, path, *arguments, roi=SCENE, code=0):
        clips = self.path("clips-" + os.path.basename(path))
        done = subprocess.run([PROGRAM, "triage", path, "--roi", roi, "--quiet", "--json", self.path("r.json"), "--clips", clips, "--edl",
                               self.path("list.ffconcat"), *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        with open(self.path("r.json"), encoding="utf-8") as file:
            return json.load(file)

    def check_event(self, event, start=EVENT.start / RATE, end=EVENT.stop / RATE):
        self.assertAlmostEqual(event["change_start_s"], start, delta=0.24)
        self.assertAlmostEqual(event["change_end_s"], end, delta=0.4)

    def check_shown(self, found, event, begin=None, rate=RATE, exact=True):
        """All pictures of the event, from at most a group of pictures before it, and no hole."""
        first, last = round(event["start_s"] * rate), round(event["end_s"] * rate) - 1
        self.assertTrue(found)
        if begin is not None:
            self.assertEqual(found[0], begin)
        self.assertLessEqual(found[0], first)
        self.assertGreaterEqual(found[-1], min(last, COUNT - 1))
        if exact:
            self.assertEqual(found, list(range(found[0], found[-1] + 1)))
            self.assertLessEqual(found[-1], last + 6)
            self.assertGreater(found[0], first - 2 * GOP)

    def first_after(self, path, start, *more):
        film = self.path("film.y4m")
        done = subprocess.run([PROGRAM, "run", path, "--start", start, "--frames", "2", "--k", "20", "--quiet", "--reconstruct", film, *more], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(film, "rb") as file:
            width, height = re.search(rb"W(\d+) H(\d+)", file.readline()).groups()
            file.readline()
            return numbers(file.read(int(width) * int(height)), int(width), int(height))[0]

    def check_recording(self, path, *, sound=True):
        report = self.triage(path)
        [event] = report["events"]
        self.check_event(event)
        self.check_shown(shown("-i", event["clip"]), event)
        if sound:
            kinds = subprocess.run([FFMPEG, "-i", event["clip"]], capture_output=True, text=True).stderr
            self.assertIn("Audio:", kinds)
        listed = shown("-f", "concat", "-safe", "0", "-i", self.path("list.ffconcat"))
        # Decoders may show frames before the first key frame of a list, and withhold frames at its end.
        self.check_shown(listed, event, exact=False)
        for start, number in (("0.48", 12), ("2", 50), ("5.2", 130)):
            self.assertEqual(self.first_after(path, start), number, start)
        return event


class Containers(Recordings):
    def check_container(self, kind):
        for codec in CONTAINERS[kind].split():
            for sound in (True, False) if codec == "h264b" else (True,):
                with self.subTest(container=kind, codec=codec, sound=sound):
                    self.check_recording(self.record(f"{codec}-{sound}.{kind}", codec, sound=sound), sound=sound)

    def test_a_clock_that_restarts(self):
        """Two MPEG-TS, one after another, each with a clock of its own, are one timeline."""
        half = WIDTH * HEIGHT * COUNT // 2
        parts = [self.record(f"part{i}.ts", "h264b", *offset, pictures=self.pictures[i * half:(i + 1) * half])
                 for i, offset in enumerate(((), ("-output_ts_offset", "0.5")))]
        path = self.path("twice.ts")
        with open(path, "wb") as whole:
            for part in parts:
                with open(part, "rb") as file:
                    whole.write(file.read())
        [event] = self.triage(path)["events"]
        self.check_event(event)
        self.check_shown(shown("-i", event["clip"]), event)
        with open(self.path("list.ffconcat"), encoding="utf-8") as file:
            self.assertIn("clips-twice.ts", file.read())  # stamps would be ambiguous
        for start, number in (("1", 25), ("4.4", 110), ("6", 150)):
            self.assertEqual(self.first_after(path, start), number)

    def test_segments_of_a_transport_stream(self):
        """Pieces as HLS has them, one after another in a file, with one clock or a clock each, and their playlist."""
        for codec in ("h264", "h264b", "hevc"):
            whole = self.record(f"{codec}.ts", codec)
            for reset in ("0", "1"):
                with self.subTest(codec=codec, reset=reset):
                    ffmpeg("-i", whole, "-map", "0", "-c", "copy", "-f", "segment", "-segment_time", "1.2", "-segment_format", "mpegts", "-reset_timestamps", reset,
                           "-segment_list", self.path(f"{codec}.m3u8"), self.path(f"{codec}-%03d.ts"))
                    pieces = sorted(name for name in os.listdir(self.folder) if re.fullmatch(rf"{codec}-\d+.ts", name))
                    self.assertGreater(len(pieces), 4)
                    joined = self.path(f"{codec}-joined{reset}.ts")
                    with open(joined, "wb") as out:
                        for name in pieces:
                            with open(self.path(name), "rb") as file:
                                out.write(file.read())
                    if reset == "0":
                        self.check_recording(joined)
                        self.check_recording(self.path(f"{codec}.m3u8"))
                        continue
                    [event] = self.triage(joined)["events"]
                    self.check_event(event)
                    self.check_shown(shown("-i", event["clip"]), event)

    def test_stamps_that_begin_late(self):
        for name in ("late.ts", "late.mkv"):
            with self.subTest(name):
                self.check_recording(self.record(name, "h264b", "-output_ts_offset", "36000"))

    def test_a_recording_that_starts_inside_a_group_of_pictures(self):
        whole = self.record("whole.ts", "h264b")
        with open(whole, "rb") as file:
            data = file.read()
        cut = self.path("cut.ts")
        with open(cut, "wb") as file:  # the tables, then everything after the first pictures
            file.write(data[:188 * 3] + data[len(data) // 8 // 188 * 188:])
        first = self.first_after(cut, "0")
        self.assertEqual(first % GOP, 0)
        [event] = self.triage(cut)["events"]
        self.check_event(event, (EVENT.start - first) / RATE, (EVENT.stop - first) / RATE)
        found = shown("-i", event["clip"])
        self.check_shown([number - first for number in found], event)

    def test_falling_decoding_times_of_sound(self):
        path = self.record("fall.flv", "h264")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        at, tags = 13, 0
        while at < len(data):
            size = int.from_bytes(data[at + 1:at + 4], "big")
            if data[at] == 8:  # an audio tag
                tags += 1
                if 150 <= tags < 160:
                    stamp = int.from_bytes(data[at + 4:at + 7], "big") - 300
                    data[at + 4:at + 7] = stamp.to_bytes(3, "big")
            at += 15 + size
        self.assertGreater(tags, 200)
        with open(path, "wb") as file:
            file.write(data)
        [event] = self.triage(path)["events"]
        self.check_shown(shown("-i", event["clip"]), event)

    def test_rotation_and_mirrors(self):
        upright = self.record("upright.mp4", "h264", sound=False)
        identity = [1, 0, 0, 1]
        for name, (a, b, c, d) in {"90": (0, 1, -1, 0), "180": (-1, 0, 0, -1), "270": (0, -1, 1, 0), "hflip": (-1, 0, 0, 1),
                                   "vflip": (1, 0, 0, -1), "both": (0, 1, 1, 0)}.items():
            with self.subTest(name):
                with open(upright, "rb") as file:
                    data = bytearray(file.read())
                at = data.index(b"tkhd") + 4 + 40
                self.assertEqual(int.from_bytes(data[at:at + 4], "big"), 0x10000 * identity[0])
                for place, value in zip((0, 4, 12, 16), (a, b, c, d)):
                    data[at + place:at + place + 4] = (0x10000 * value & 0xffffffff).to_bytes(4, "big")
                path = self.path(name + ".mp4")
                with open(path, "wb") as file:
                    file.write(data)
                film = self.path("film.y4m")
                done = subprocess.run([PROGRAM, "run", path, "--frames", "1", "--k", "20", "--quiet", "--reconstruct", film], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                width, height = (HEIGHT, WIDTH) if a == 0 else (WIDTH, HEIGHT)
                with open(film, "rb") as file:
                    self.assertIn(b" W%d H%d " % (2 * width, height), file.readline())
                    file.readline()
                    rows = [file.read(2 * width)[:width] for _ in range(height)]
                plain = ffmpeg("-noautorotate", "-i", upright, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-")
                for y in range(HEIGHT):
                    for x in range(WIDTH):
                        to_x = a * x + c * y + (WIDTH - 1 if a < 0 else 0) + (HEIGHT - 1 if c < 0 else 0)
                        to_y = b * x + d * y + (WIDTH - 1 if b < 0 else 0) + (HEIGHT - 1 if d < 0 else 0)
                        if rows[to_y][to_x] != plain[y * WIDTH + x]:
                            self.fail(f"{name}: the picture's point {x},{y} is not at {to_x},{to_y}")
                # The clip has the same orientation as the recording.
                [event] = self.triage(path, roi=f"0,0,{width},{height}")["events"][:1]
                turned = [ffmpeg("-i", one, "-frames:v", "1", "-f", "rawvideo", "-pix_fmt", "gray", "-") for one in (path, event["clip"])]
                self.assertEqual(*turned)

    def test_two_video_tracks(self):
        small = ["-filter_complex", "[0:v]split[a][b];[a]scale=80:56[s]"]
        for name, more, track in (("default.mkv", ["-disposition:v:0", "0", "-disposition:v:1", "default"], ()),
                                  ("size.mkv", ["-disposition:v:0", "0", "-disposition:v:1", "0"], ()),
                                  ("asked.mkv", ["-disposition:v:0", "default", "-disposition:v:1", "0"], ("--track", "2"))):
            with self.subTest(name):
                path = self.record(name, "h264", "-map", "[s]", "-map", "[b]", *more, sound=False, options=small)
                report = self.triage(path, *track)
                self.assertEqual((report["files"][0]["width"], report["files"][0]["height"]), (WIDTH, HEIGHT - BLOCK))
                [event] = report["events"]
                self.check_shown(shown("-i", event["clip"]), event)
        self.assertEqual(subprocess.run([PROGRAM, "run", path, "--track", "3"], capture_output=True, timeout=60).returncode, 3)

    def test_claimed_rates(self):
        """15 frames per second in a file that claims 100; times are those of the stamps."""
        path = self.record("claims.mkv", "mjpeg", sound=False, rate=15)
        with open(path, "rb") as file:
            data = file.read()
        at = data.index(b"\x23\xe3\x83\x84") + 4  # DefaultDuration, in nanoseconds
        self.assertEqual(int.from_bytes(data[at:at + 4], "big"), 66666666)
        with open(path, "wb") as file:
            file.write(data[:at] + (10000000).to_bytes(4, "big") + data[at + 4:])
        report = self.triage(path)
        [event] = report["events"]
        self.check_event(event, EVENT.start / 15, EVENT.stop / 15)
        self.assertAlmostEqual(report["files"][0]["fps"], 15, delta=0.1)
        self.assertIn("claims 100", " ".join(report["files"][0]["warnings"]))
        timing = report["files"][0]["timing"]
        self.assertEqual((timing["source"], timing["rate_claimed"]), ("stamps", 100))
        self.assertAlmostEqual(timing["rate_measured"], 15, delta=0.1)
        self.check_shown(shown("-i", event["clip"]), event, rate=15)

    def test_reports_tell_where_times_come_from(self):
        stamps = {"source": "stamps", "rate_claimed": RATE, "rate_measured": RATE}
        claim = {"source": "claimed_rate", "rate_claimed": RATE, "rate_measured": None}
        where = {"run": lambda report: report["input"], "vibration": lambda report: report["input"],
                 "guard": lambda report: report["sources"][0], "triage": lambda report: report["files"][0]}
        for name, codec, expected in (("a.mp4", "h264b", stamps), ("a.avi", "mjpeg", claim), ("a.h264", "h264", claim), ("a.y4m", None, claim)):
            path = self.path(name)
            if codec is None:
                ffmpeg(*RAW, "-r", str(RATE), "-i", "-", "-pix_fmt", "yuv420p", path, stdin=self.pictures)
            else:
                self.record(name, codec, sound=False)
            for command, find in where.items():
                with self.subTest(f"{command} {name}"):
                    done = subprocess.run([PROGRAM, command, path, "--frames", "50", "--json", self.path("r.json")], capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    with open(self.path("r.json"), encoding="utf-8") as file:
                        timing = find(json.load(file))["timing"]
                    self.assertEqual({key: value if not isinstance(value, float) else round(value, 3) for key, value in timing.items()}, expected)
                    if command != "vibration":
                        self.assertEqual("claimed rate of 25 frames" in done.stdout + done.stderr, expected is claim)
        hole = self.record("hole.mkv", "mjpeg", "-vf", "setpts='if(gte(N,100),PTS+10/TB,PTS)'", "-fps_mode", "passthrough", sound=False)
        self.assertAlmostEqual(self.triage(hole)["files"][0]["timing"]["rate_measured"], RATE, delta=0.1)

    def check_given_template(self, first, path):
        """A template of the first size: what was transformed until the size changes is reported."""
        template, report = self.path("first.sfft"), self.path("report.json")
        subprocess.run([PROGRAM, "learn", first, "-o", template, "--k", "40"], check=True, capture_output=True, timeout=60)
        done = subprocess.run([PROGRAM, "run", path, "--template", template, "--json", report], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 3, done.stderr)
        with open(report, encoding="utf-8") as file:
            content = json.load(file)
        self.assertEqual((content["status"], content["input"]["frames_read"]), ("input_damaged", COUNT // 2))
        self.assertIn("the template is for", content["message"])

    def test_pictures_that_change(self):
        """Size, depth and sampling change in the middle: one recording, whose clips show both parts."""
        half = WIDTH * HEIGHT * COUNT // 2
        first = self.record("first.ts", "h264", pictures=self.pictures[:half], sound=False)
        for name, more in (("depth", ["-pix_fmt", "yuv420p10le"]), ("sampling", ["-pix_fmt", "yuv444p"]), ("size", ["-vf", f"scale={2 * WIDTH}:{2 * HEIGHT}:flags=neighbor"])):
            with self.subTest(name):
                second = self.record("second.ts", "h264", *more, "-output_ts_offset", str(COUNT / 2 / RATE), pictures=self.pictures[half:], sound=False)
                path = self.path(name + ".ts")
                with open(path, "wb") as whole:
                    for part in (first, second):
                        with open(part, "rb") as file:
                            whole.write(file.read())
                report = self.triage(path)
                [file] = report["files"]
                self.assertEqual((file["frames"], [change["frame"] for change in file["changes"]]), (COUNT, [COUNT // 2]))
                self.assertIn("The pictures change from", " ".join(file["warnings"]))
                self.assertEqual(self.first_after(path, "2"), 50)
                if name == "size":
                    self.check_given_template(first, path)
                # The event begins with the change. What is usual is learned again if the pictures differ, and kept if
                # only the sampling differs.
                for event in report["events"]:
                    self.assertGreaterEqual(event["change_end_s"], EVENT.start / RATE)
                    found = shown("-i", event["clip"], filters=["-vf", f"scale={WIDTH}:{HEIGHT}:flags=neighbor"])
                    self.check_shown(found, event)
                for command, code in (("run", 0), ("guard", 0), ("vibration", 0 if name == "sampling" else 3)):
                    done = subprocess.run([PROGRAM, command, path, "--json", self.path("c.json")], capture_output=True, text=True, timeout=60)
                    self.assertEqual(done.returncode, code, done.stderr)
                    with open(self.path("c.json"), encoding="utf-8") as text:
                        self.assertIn("change", text.read())
                    if code == 3:
                        self.assertIn("frames of one size and depth", done.stderr)

    def test_slow_motion_of_apple(self):
        """Originals hold the camera's times. A key that says how to play them, and edit lists that stretch, change nothing."""
        count, passes = 600, range(200, 380)  # longer than an insect would be visible
        pictures = b"".join(picture(number, passes) for number in range(count))
        path = self.record("slow.mov", "h264", "-movflags", "use_metadata_tags", "-metadata", "com.apple.quicktime.full-frame-rate-playback-intent=0",
                           pictures=pictures, sound=False, rate=240)
        with open(path, "rb") as file:
            data = bytearray(file.read())
        entry = data.index(b"elst") + 12
        length = int.from_bytes(data[entry:entry + 4], "big")
        self.assertEqual(data[entry + 8:entry + 12], bytes((0, 1, 0, 0)))
        data[entry:entry + 4] = (8 * length).to_bytes(4, "big")
        data[entry + 8:entry + 12] = bytes((0, 0, 0x20, 0))  # plays at an eighth of the rate
        with open(path, "wb") as file:
            file.write(data)
        done = subprocess.run([PROGRAM, "vibration", path, "--quiet", "--json", "-"], capture_output=True, text=True, timeout=60)
        report = json.loads(done.stdout)
        self.assertEqual((report["rate"]["hz"], report["input"]["frames_read"]), (240, count))
        [event] = self.triage(path)["events"]
        self.check_event(event, passes.start / 240, passes.stop / 240)

    def test_cmx_lists(self):
        """Source times count frames at the exact rate, from the file's time code."""
        rate = 30000 / 1001
        for code, first in ((None, 0), ("01:00:00:00", 108000), ("00:59:59;20", (59 * 60 + 59) * 30 + 20 - 2 * (59 - 5))):
            with self.subTest(code):
                options = () if code is None else ("-timecode", code)
                path = self.record("code.mov", "mjpeg", *options, sound=False, rate="30000/1001")
                done = subprocess.run([PROGRAM, "triage", path, "--roi", SCENE, "--quiet", "--edl", self.path("l.edl")], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 0, done.stderr)
                event = json.loads(done.stdout)
                frame = round(event["start_s"] * rate)
                with open(self.path("l.edl"), encoding="utf-8") as file:
                    text = file.read()
                source = re.search(r"C +(\S+) (\S+) (\S+) (\S+)", text).groups()
                drop = code is None or ";" in code
                self.assertIn("FCM: DROP FRAME" if drop else "FCM: NON-DROP FRAME", text)
                hours, minutes, seconds, frames = (int(part) for part in re.split("[:;]", source[0]))
                count = ((60 * hours + minutes) * 60 + seconds) * 30 + frames
                if drop:
                    count -= 2 * (60 * hours + minutes - (60 * hours + minutes) // 10)
                self.assertEqual(count, frame + first)

    def test_pictures_without_stamps_go_by_arrival(self):
        """Multipart JPEG at 20 pictures per second: it would be taken for 25."""
        pictures, pace = [], 1 / 20
        mjpeg = ffmpeg(*RAW, "-i", "-", *CODECS["mjpeg"], "-f", "mjpeg", "-", stdin=self.pictures[:WIDTH * HEIGHT * 60])
        at = 0
        while at < len(mjpeg):
            end = mjpeg.index(b"\xff\xd9", at) + 2
            pictures.append(mjpeg[at:end])
            at = end

        class Camera(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace;boundary=picture")
                self.end_headers()
                for one in pictures:
                    self.wfile.write(b"--picture\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(one) + one + b"\r\n")
                    time.sleep(pace)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Camera)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        begin = time.monotonic()
        done = subprocess.run([PROGRAM, "triage", f"http://127.0.0.1:{server.server_address[1]}/c", "--reconnect", "0", "--quiet", "--json", "-"], capture_output=True, text=True, timeout=60)
        took = time.monotonic() - begin
        [file] = json.loads(done.stdout)["files"]
        self.assertGreater(file["frames"], 50)
        # A sleep lasts at least as long as requested.
        self.assertGreater(file["seconds"], (file["frames"] - 3) * pace)
        self.assertLess(file["seconds"], took + 0.2)
        self.assertIn("arrival", " ".join(file["warnings"]))
        self.assertEqual((file["timing"]["source"], file["timing"]["rate_claimed"]), ("arrival", None))
        self.assertAlmostEqual(file["timing"]["rate_measured"], (file["frames"] - 1) / (file["seconds"] - 1 / RATE), delta=0.5)


for kind_ in CONTAINERS:
    setattr(Containers, f"test_{kind_}", lambda self, kind=kind_: self.check_container(kind))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
