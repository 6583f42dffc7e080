#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A week of several cameras in one guard: every frame is read, and memory does not grow after the first day.

  week.py build/bin/sfft-video --recording data/car-detection-excerpt.mp4 --runs 604800     (frames per stream)

The recording goes forth and back, at one frame per second of camera time, under a sun that rises and sets once in
86,400 frames. ffmpeg decodes it once. Streams are named pipes.
"""
import collections
import json
import os
import subprocess
import tempfile
import threading
import time

import numpy

from common import Summary, arguments
from stream import resident_kilobytes

DAY = 86400


def frames_of(recording, width):
    """Grey frames of a recording, [frame][row][column]."""
    probe = subprocess.run(["ffmpeg", "-v", "error", "-i", recording, "-vf", f"scale={width}:-2", "-pix_fmt", "gray", "-f",
                            "yuv4mpegpipe", "-strict", "-1", "-"], check=True, stdout=subprocess.PIPE).stdout
    header, rest = probe.split(b"\n", 1)
    sizes = {word[:1]: word[1:] for word in header.split()[1:]}
    shape = int(sizes[b"H"]), int(sizes[b"W"])
    step = shape[0] * shape[1] + 6  # FRAME and a line's end
    frames = [numpy.frombuffer(rest, numpy.uint8, step - 6, at + 6).reshape(shape) for at in range(0, len(rest) - step + 1, step)]
    return numpy.stack(frames)


def feed(path, frames, count, phase, written, index):
    """Writes a stream; `phase` is the day's part at its beginning."""
    last = len(frames) - 1
    _, height, width = frames.shape
    with open(path, "wb") as pipe:
        try:
            pipe.write(b"YUV4MPEG2 W%d H%d F1:1 Cmono\n" % (width, height))
            for n in range(count):
                at = n % (2 * last)
                sun = 0.75 + 0.25 * numpy.sin(2 * numpy.pi * (n / DAY + phase))
                lit = (frames[at if at <= last else 2 * last - at] * numpy.float32(sun)).astype(numpy.uint8)
                pipe.write(b"FRAME\n" + lit.tobytes())
                written[index] = n + 1
        except BrokenPipeError:
            pass


def main():
    parser = arguments(__doc__, 7 * DAY)
    parser.add_argument("--recording", required=True)
    parser.add_argument("--streams", type=int, default=3)
    parser.add_argument("--width", type=int, default=192, help="of the frames (default: %(default)s)")
    parser.add_argument("--allowed", type=int, default=2048, help="growth in kilobytes after the first day (default: %(default)s)")
    options = parser.parse_args()
    frames = frames_of(options.recording, options.width)
    summary = Summary("week", options)
    with tempfile.TemporaryDirectory() as folder:
        pipes = [os.path.join(folder, f"camera{i}.y4m") for i in range(options.streams)]
        for pipe in pipes:
            os.mkfifo(pipe)
        report_name = os.path.join(folder, "report.json")
        written = [0] * options.streams
        with subprocess.Popen([options.program, "guard", *pipes, "--quiet", "--json", report_name], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as process:
            feeders = [threading.Thread(target=feed, args=(pipe, frames, options.runs, i / options.streams, written, i), daemon=True)
                       for i, pipe in enumerate(pipes)]
            for feeder in feeders:
                feeder.start()
            lines = []
            reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
            reader.start()
            first = most = 0
            while process.poll() is None:
                time.sleep(0.2)
                if min(written) >= DAY:
                    try:
                        now = resident_kilobytes(process)
                    except (OSError, StopIteration):
                        break
                    first = first or now
                    most = max(most, now)
            code = process.wait()
            reader.join()
        with open(report_name, encoding="utf-8") as file:
            report = json.load(file)
        kinds = collections.Counter(json.loads(line).get("kind", "other") for line in lines)
        summary.count("runs", sum(written))
        summary.numbers |= {"kilobytes_after_a_day": first, "kilobytes_at_most": most, "growth": most - first, "lines": dict(kinds)}
        read = [source["frames"] for source in report["sources"]]
        if code != 0 or read != [options.runs] * options.streams:
            summary.bad(f"exit code {code}, {read} frames read")
        if most - first > options.allowed:
            summary.bad(f"grew by {most - first} kB")
    summary.finish()


if __name__ == "__main__":
    main()
