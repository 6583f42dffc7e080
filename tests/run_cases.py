#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs tests case by case and remembers which have passed, so that a long run can be stopped and taken up again.

    tests/run_cases.py build --label cuda --state passed.txt

Asks ctest for the programs of a label (a regular expression), lists the cases of each and runs them one after the
other, each in a process of its own. The name of a case that passed, or was skipped, is appended to the state file; a later
run with the same file leaves it out. Ends with 1 if a case failed, with 130 if interrupted. --limit SECONDS stops in time.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import time


def programs(build, label):
    """(test name, command, environment) of every test of the label that is a GoogleTest program."""
    listing = subprocess.run(["ctest", "--test-dir", build, "-L", label, "--show-only=json-v1"], check=True,
                             capture_output=True, text=True).stdout
    for test in json.loads(listing)["tests"]:
        command = test.get("command", [])
        if not command or not pathlib.Path(command[0]).name.endswith("_test"):
            continue
        variables = next((p["value"] for p in test.get("properties", []) if p["name"] == "ENVIRONMENT"), [])
        yield test["name"], command[0], dict(os.environ, **dict(v.split("=", 1) for v in variables))


def cases(program, environment):
    listing = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True,
                             env=environment).stdout
    suite = ""
    for line in listing.splitlines():
        word = line.split("#")[0].rstrip()
        if word.endswith(".") and not line.startswith(" "):
            suite = word
        elif line.startswith("  ") and suite:
            yield suite + word.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="build folder")
    parser.add_argument("--label", default="cuda", help="ctest label (default: cuda)")
    parser.add_argument("--state", default="passed.txt", help="file of the cases that have passed (default: passed.txt)")
    parser.add_argument("--limit", type=float, default=0, help="start no case after so many seconds (default: no limit)")
    options = parser.parse_args()

    state = pathlib.Path(options.state)
    passed = set(state.read_text().split("\n")) if state.exists() else set()
    start, ran, failed, left = time.monotonic(), 0, [], 0
    with state.open("a") as file:
        for name, program, environment in programs(options.build, options.label):
            for case in cases(program, environment):
                full = f"{name}:{case}"
                if full in passed:
                    continue
                if options.limit and time.monotonic() - start > options.limit:
                    left += 1
                    continue
                began = time.monotonic()
                result = subprocess.run([program, "--gtest_brief=1", f"--gtest_filter={case}"], env=environment,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
                ran += 1
                word = "ok" if result.returncode == 0 else "FAILED"
                print(f"{word:6} {time.monotonic() - began:7.1f} s  {full}", flush=True)
                if result.returncode == 0:
                    print(full, file=file, flush=True)
                else:
                    failed.append(full)
                    print(result.stdout)
    print(f"{ran} ran, {len(passed - {''})} had passed before, {len(failed)} failed, {left} left")
    for name in failed:
        print(f"failed: {name}")
    return 1 if failed or left else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
