#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames without end through a pipe: after the first thousand the memory of a run grows by less than a megabyte.

  stream.py build/bin/sfft-video --runs 2000000       (frames)
"""
import json
import os
import random
import subprocess
import tempfile

from common import Summary, arguments

WIDTH, HEIGHT = 16, 8


def resident_kilobytes(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def main():
    parser = arguments(__doc__, 2000000)
    parser.add_argument("--allowed", type=int, default=1024, help="growth in kilobytes (default: %(default)s)")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    # A thousand frames again and again: a background, something that moves, a little noise.
    frames = b"".join(
        b"FRAME\n" + bytes(90 + 5 * x + 3 * y + (60 if (x - t // 4) % WIDTH < 3 else 0) + chance.randrange(3)
                           for y in range(HEIGHT) for x in range(WIDTH)) for t in range(1000))
    summary = Summary("stream", options)
    with tempfile.TemporaryDirectory() as folder:
        names = {kind: os.path.join(folder, kind) for kind in ("json", "html")}
        command = [options.program, "run", "-", "--k", "4", "--quiet", "--csv", "/dev/null"]
        for kind, name in names.items():
            command += ["--" + kind, name]
        with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
            process.stdin.write(b"YUV4MPEG2 W%d H%d Cmono\n" % (WIDTH, HEIGHT))
            first = most = 0
            for written in range(1000, options.runs + 1, 1000):
                process.stdin.write(frames)
                process.stdin.flush()
                if written == 2000:  # the pipe and the decoder hold less than a thousand: these are done
                    first = resident_kilobytes(process)
                if written > 2000 and written % 10000 == 0:
                    most = max(most, resident_kilobytes(process))
            process.stdin.close()
            code = process.wait()
        with open(names["json"], encoding="utf-8") as file:
            report = json.load(file)
        summary.count("runs", report["input"]["frames_read"])
        summary.numbers |= {"kilobytes_after_1000": first, "kilobytes_at_most": most, "growth": most - first}
        summary.numbers["html_bytes"] = os.path.getsize(names["html"])
        if code != 0 or report["input"]["frames_read"] != options.runs // 1000 * 1000:
            summary.bad(f"exit code {code}, {report['input']['frames_read']} frames read")
        if most - first > options.allowed:
            summary.bad(f"grew by {most - first} kB")
    summary.finish()


if __name__ == "__main__":
    main()
