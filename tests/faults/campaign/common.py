# SPDX-License-Identifier: Apache-2.0
"""What the campaigns share: arguments, runs with a time limit, a summary of one line. Standard library only."""
import argparse
import json
import os
import subprocess
import sys
import time


def arguments(description, runs):
    """A parser with what every campaign takes."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="sfft-video")
    parser.add_argument("--runs", type=int, default=runs, help="how many (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of everything that is random (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="at the same time (default: one per core)")
    return parser


def run(command, seconds, **options):
    """(exit code, standard error, seconds); the code is None when it had to be ended."""
    begin = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=seconds, check=False,
                              stdin=subprocess.DEVNULL, **options)
        return done.returncode, done.stderr, time.monotonic() - begin
    except subprocess.TimeoutExpired as late:
        return None, late.stderr or b"", time.monotonic() - begin


def film(frames, width=32, height=24):
    """A YUV4MPEG2 stream of a texture that moves."""
    stream = [f"YUV4MPEG2 W{width} H{height} F25:1 Cmono\n".encode()]
    for t in range(frames):
        stream.append(b"FRAME\n" + bytes((7 * (x + t) + 13 * y + x * y // 5) % 200 for y in range(height) for x in range(width)))
    return b"".join(stream)


# What a file of each kind begins and ends with.
WHOLE = {
    "json": (b"{", b"}\n"),
    "csv": (b"frame,action", b"\n"),
    "html": (b"<!doctype html>", b"</html>\n"),
    "spectra": (b"\x89HDF\r\n\x1a\n", b""),
    "template": (b"SFFTTMPL", b""),
}


def whole(path, kind):
    """Whether the file is there and not half-written."""
    with open(path, "rb") as file:
        content = file.read()
    begin, end = WHOLE[kind]
    return content.startswith(begin) and content.endswith(end) and (kind != "json" or isinstance(json.loads(content), dict))


def litter(folder):
    """Outputs in preparation that are left."""
    return [name for name in os.listdir(folder) if name.endswith(".tmp")]


class Summary:
    """Counts, and prints them as a line of JSON at the end."""

    def __init__(self, campaign, options):
        self.begin = time.monotonic()
        self.numbers = {"campaign": campaign, "seed": options.seed, "runs": 0, "bad": 0}

    def count(self, name, by=1):
        self.numbers[name] = self.numbers.get(name, 0) + by

    def bad(self, what):
        self.count("bad")
        print("BAD:", what, file=sys.stderr, flush=True)

    def finish(self):
        """Ends the program: with 0 when nothing was bad, and something was done."""
        self.numbers["seconds"] = round(time.monotonic() - self.begin, 1)
        print(json.dumps(self.numbers), flush=True)
        sys.exit(0 if self.numbers["bad"] == 0 and self.numbers["runs"] > 0 else 1)
