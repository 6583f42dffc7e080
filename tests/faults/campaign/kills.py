#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments of runs that write every output: none is half-written, the next run removes what is left.

  kills.py build/bin/sfft-video --runs 200
"""
import os
import random
import signal
import subprocess
import tempfile
import time

from common import WHOLE, Summary, arguments, film, litter, whole


def main():
    parser = arguments(__doc__, 200)
    parser.add_argument("--frames", type=int, default=40, help="of the film (default: %(default)s)")
    options = parser.parse_args()
    chance = random.Random(options.seed)
    summary = Summary("kills", options)
    with tempfile.TemporaryDirectory() as base:
        source, folder = os.path.join(base, "film.y4m"), os.path.join(base, "out")
        os.mkdir(folder)
        with open(source, "wb") as file:
            file.write(film(options.frames, 96, 64))
        version = subprocess.run([options.program, "--version"], capture_output=True, check=True).stdout
        kinds = [kind for kind in WHOLE if kind != "template" and (kind != "spectra" or b"HDF5       yes" in version)]
        run = [options.program, "run", source, "--k", "20", "--quiet"]
        for kind in kinds:
            run += ["--" + kind, os.path.join(folder, kind)]
        learn = [options.program, "learn", source, "--k", "20", "--frames", "4", "-o", os.path.join(folder, "template")]
        length = {}
        for command in (run, learn):
            begin = time.monotonic()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            length[command[1]] = time.monotonic() - begin
        for number in range(options.runs):
            command = learn if number % 5 == 4 else run
            if chance.randrange(3) == 0:  # now and then there is no file before
                for name in os.listdir(folder):
                    if name in WHOLE:
                        os.remove(os.path.join(folder, name))
            before = set(litter(folder))
            with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                time.sleep(chance.uniform(0, 1.1 * length[command[1]]))
                process.send_signal(signal.SIGKILL)
                code = process.wait()
            summary.count("runs")
            summary.count("killed" if code == -signal.SIGKILL else "done_before")
            for name in os.listdir(folder):
                if name in WHOLE and not whole(os.path.join(folder, name), name):
                    summary.bad(f"run {number}: {name} is half-written")
            left = set(litter(folder))
            summary.count("left_something", int(bool(left - before)))
            if code == 0 and left:
                summary.bad(f"run {number}: ended well and left {sorted(left)}")
        for command in (run, learn):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        if sorted(os.listdir(folder)) != sorted([*kinds, "template"]):
            summary.bad(f"after the last run: {sorted(os.listdir(folder))}")
    summary.finish()


if __name__ == "__main__":
    main()
