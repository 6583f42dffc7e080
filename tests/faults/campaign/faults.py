# SPDX-License-Identifier: Apache-2.0
"""Runs programs under the preloaded library of tests/faults, in shards side by side."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

from common import film

COUNTS = re.compile(r"(\d+) runs: (\d+) went on, (\d+) ended with an error, (\d+) bad$", re.MULTILINE)


def add_arguments(parser):
    parser.add_argument("--preload", required=True, help="libfail_allocations.so")
    parser.add_argument("--first", type=int, default=0, help="where to begin (default: %(default)s)")
    parser.add_argument("--step", type=int, default=1, help="every how many-th; 1: each (default: %(default)s)")


def sweep(options, summary, name, command, last, environment, step=None):
    """Numbers from options.first on in steps, up to `last`: `command` gets the folder that it writes to, and a film."""
    step = step or options.step

    def shard(index):
        with tempfile.TemporaryDirectory() as base:
            folder, source = os.path.join(base, "out"), os.path.join(base, "film.y4m")
            os.mkdir(folder)
            with open(source, "wb") as file:
                file.write(film(5))
            first, stride = options.first + index * step, options.jobs * step
            runs = max(0, (last - first) // stride + 1)
            numbers = {"FROM": first, "STEP": stride, "RUNS": runs, "FOLDER": folder, **environment}
            done = subprocess.run(command(folder, source), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  errors="replace", check=False, stdin=subprocess.DEVNULL,
                                  env=os.environ | {"LD_PRELOAD": options.preload}
                                  | {"SFFT_FAIL_" + key: str(value) for key, value in numbers.items()}) if runs else None
            return done and done.stderr

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for output in pool.map(shard, range(options.jobs)):
            if output is None:
                continue
            counts = COUNTS.search(output)
            if counts is None:
                summary.bad(f"{name}: {output[-500:]}")
                continue
            runs, went_on, failed, bad = map(int, counts.groups())
            summary.count("runs", runs)
            summary.count(name, runs)
            summary.count("went_on", went_on)
            summary.count("ended_with_an_error", failed)
            if bad:
                summary.count("bad", bad)
                print(f"BAD: {name}: {output}", file=sys.stderr, flush=True)


def outputs(folder, *kinds):
    """Options that write each kind to a file of its name."""
    return [word for kind in kinds for word in ("--" + kind, os.path.join(folder, kind))]
