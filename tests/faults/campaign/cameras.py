#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""RTSP and HTTP cameras that break off, refuse, stand still, lose packets and whole pictures and change their size, in one guard: no event
but offline, every change is reported, and memory, threads and descriptors do not grow after the first tenth of the connections, and not
less than six. Streams of either size, open or lost, take some megabytes more or less, so the median of the last fifth of the samples of
memory is compared with the most that the first half took.

  cameras.py build/bin/sfft-video --recording data/tuning-fork-64hz-250fps.mp4 --runs 200     (connections per camera)

The recording is H.264 in MP4, and nothing happens in it to the camera. ffmpeg makes a smaller one of it.
"""
import collections
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from common import Summary, arguments
from stream import resident_kilobytes

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../video"))
from camera_server import HttpCamera, Recording, RtspCamera  # noqa: E402


def scripts(drawn, recording, smaller, count):
    for _ in range(count):
        if drawn.random() < 0.2:
            yield [("refuse",)]
            continue
        first = drawn.randrange(len(recording.units))
        middle, last = first + drawn.randrange(100, 700), first + drawn.randrange(700, 1500)
        disturbance = drawn.choice([[], [], [("lose", 0.01)], [("drop", 0.05)], [("stall", 2.5)], [("use", smaller)]])
        yield [*drawn.choice([[], [], [("use", smaller)]]), ("play", first, middle), *disturbance, ("play", middle, last), *([("bye",)] if drawn.random() < 0.5 else [])]


def smaller_recording(path, folder):
    """The same with three quarters of the size and other key frames."""
    name = os.path.join(folder, "smaller.mp4")
    subprocess.run(["ffmpeg", "-v", "error", "-i", path, "-an", "-vf", "scale=trunc(iw*3/8)*2:-2", "-c:v", "libx264", "-preset", "veryfast", "-g", "100",
                    name], check=True)
    return Recording(name)


def held(process):
    """Threads and descriptors."""
    return len(os.listdir(f"/proc/{process.pid}/task")), len(os.listdir(f"/proc/{process.pid}/fd"))


def main():
    parser = arguments(__doc__, 200)
    parser.add_argument("--recording", required=True)
    parser.add_argument("--pace", type=float, default=16, help="seconds of the recording per second (default: %(default)s)")
    parser.add_argument("--allowed", type=int, default=2048, help="growth in kilobytes (default: %(default)s)")
    options = parser.parse_args()
    drawn = random.Random(options.seed)
    recording = Recording(options.recording)
    summary = Summary("cameras", options)
    with tempfile.TemporaryDirectory() as folder:
        smaller = smaller_recording(options.recording, folder)
        cameras = [kind(recording, list(scripts(drawn, recording, smaller, options.runs)), options.pace, options.seed).begin()
                   for kind in (RtspCamera, HttpCamera)]
        report_name = os.path.join(folder, "report.json")
        with subprocess.Popen([options.program, "guard", *(camera.url for camera in cameras), "--silence", "1", "--reconnect", "60",
                               "--quiet", "--json", report_name, "--on-event", "sleep 0.2"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            samples = []
            while process.poll() is None and min(camera.connections for camera in cameras) < options.runs:
                time.sleep(0.2)
                if min(camera.connections for camera in cameras) >= max(6, options.runs // 10):
                    samples.append((resident_kilobytes(process), *held(process)))
            process.send_signal(signal.SIGINT)
            code = process.wait()
        for camera in cameras:
            threading.Thread(target=camera.close, daemon=True).start()
        with open(report_name, encoding="utf-8") as file:
            report = json.load(file)
    part = max(1, len(samples) // 5)
    first, half, last, most = [tuple(map(judge, zip(*some))) for judge, some in
                               ((statistics.median, samples[:part]), (max, samples[:len(samples) // 2 + 1]),
                                (statistics.median, samples[-part:]), (max, samples))]
    events = collections.Counter(event["kind"] for event in report["events"])
    sources = report["sources"]
    summary.count("runs", sum(camera.connections for camera in cameras))
    summary.numbers |= {"frames": sum(source["frames"] for source in sources), "gaps": sum(len(source["gaps"]) for source in sources),
                        "changes": sum(len(source["changes"]) for source in sources), "lost_frames": sum(source["lost_frames"] for source in sources),
                        "kilobytes_at_first": first[0], "kilobytes_in_first_half": half[0], "kilobytes_at_last": last[0],
                        "kilobytes_at_most": most[0]}
    if code != 130 or set(events) - {"offline"}:
        summary.bad(f"exit code {code}, events {dict(events)}")
    if summary.numbers["changes"] == 0 or summary.numbers["lost_frames"] == 0:
        summary.bad("no change or no loss was reported")
    # Commands of --on-event and connections come and go.
    if last[0] - half[0] > options.allowed or most[1] - first[1] > 8 or most[2] - first[2] > 40:
        summary.bad(f"memory in kilobytes, threads and descriptors went from {first}, at most {half}, to {last}, at most {most}")
    summary.finish()


if __name__ == "__main__":
    main()
