#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Truncated and damaged recordings in every container at hand: each run ends with 0, or with 3 and a reason, in time.

Half of the runs cut a recording at a random place, half damage it: bytes changed one by one, stretches cleared, filled at
random, taken out or put in twice. Example:

  damage.py build/bin/sfft-video --recordings build/bin/make_recordings --runs 2000
"""
import concurrent.futures
import json
import os
import random
import subprocess
import tempfile

from common import Summary, arguments, film, run


def cut(content, chance):
    return content[: chance.randrange(len(content))]


def damaged(content, chance):
    content = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 5))):
        begin = chance.randrange(len(content))
        length = min(chance.choice((1, 4, 64, 1000)), len(content) - begin)
        way = chance.choice(("flip", "scatter", "clear", "random", "take", "repeat"))
        if way == "flip":
            content[begin] ^= 1 << chance.randrange(8)
        elif way == "scatter":
            for _ in range(length):
                content[chance.randrange(len(content))] = chance.randrange(256)
        elif way == "clear":
            content[begin : begin + length] = bytes(length)
        elif way == "random":
            content[begin : begin + length] = chance.randbytes(length)
        elif way == "take" and length < len(content):
            del content[begin : begin + length]
        elif way == "repeat":
            content[begin:begin] = content[begin : begin + length]
    return bytes(content)


def try_one(options, folder, number, path, content):
    """What is wrong with the run of one file, or nothing; and its exit code."""
    source = os.path.join(folder, f"{number}-{os.path.basename(path)}")
    report = source + ".json"
    with open(source, "wb") as file:
        file.write(content)
    command = [options.program, "run", source, "--k", "8", "--quiet", "--json", report]
    code, message, seconds = run(command, options.limit)
    wrong = None
    if code is None or seconds > options.limit:
        wrong = f"still running after {options.limit} s"
    elif code not in (0, 3):
        wrong = f"exit code {code}"
    elif code == 3 and not message.startswith(b"sfft-video: "):
        wrong = "no reason given"
    else:
        with open(report, encoding="utf-8") as file:
            said = json.load(file)
        if said["status"] != ("complete" if code == 0 else "input_damaged") or (code == 3) != bool(said["message"]):
            wrong = f"exit code {code}, but the report says {said['status']}: {said['message']}"
    for name in (source, report):
        if os.path.exists(name) and not (wrong and options.keep and name == source):
            os.remove(name)
    if wrong and options.keep:
        os.replace(source, os.path.join(options.keep, os.path.basename(source)))
    return wrong and f"{os.path.basename(source)}: {wrong}: {message.decode(errors='replace').strip()[-300:]}", code


def main():
    parser = arguments(__doc__, 2000)
    parser.add_argument("--recordings", help="the program make_recordings; without it, YUV4MPEG2 only")
    parser.add_argument("--limit", type=float, default=10, help="seconds that a run may take (default: %(default)s)")
    parser.add_argument("--keep", help="a folder for the files that made a run fail")
    options = parser.parse_args()
    summary = Summary("damage", options)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "film.y4m"), "wb") as file:
            file.write(film(24))
        if options.recordings:
            subprocess.run([options.recordings, folder], check=True, stdout=subprocess.DEVNULL)
        originals = {name: open(os.path.join(folder, name), "rb").read() for name in sorted(os.listdir(folder))}
        summary.numbers["containers"] = sorted(name.rpartition(".")[2] for name in originals)
        for name in originals:
            code, message, _ = run([options.program, "run", os.path.join(folder, name), "--k", "8"], 60)
            if code != 0:
                summary.bad(f"{name} as it was written: exit code {code}: {message}")

        def one(number):
            name = sorted(originals)[number // 2 % len(originals)]
            chance = random.Random(f"{options.seed} {number}")
            return try_one(options, folder, number, name, (cut, damaged)[number % 2](originals[name], chance))

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            for number, (wrong, code) in enumerate(pool.map(one, range(options.runs))):
                summary.count("runs")
                summary.count(("truncated", "damaged")[number % 2])
                summary.count(f"exit_{code}")
                if wrong:
                    summary.bad(wrong)
    summary.finish()


if __name__ == "__main__":
    main()
