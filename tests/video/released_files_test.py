#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What released versions wrote (docs/promises.md): their JSON keys are still written, their shards are still merged, and their templates still
start a run. Each folder of DATA is a version. SFFT_WRITE_FILES=FOLDER writes the files of this version.

usage: released_files_test.py SFFT_VIDEO RECORDING DATA
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

DATA = sys.argv.pop(3)

import guard_program_test  # noqa: E402: they read the arguments
import triage_program_test
import vibration_program_test
from program_test import FolderTest, film, run

OPTIONS = ("--k", "30", "--verify", "4", "--backend", "cpu", "--quiet")
SHARDS = ("shard-1-of-2.jsonl", "shard-2-of-2.jsonl")


def keys_of(value, path=""):
    """Every key as a path, with [] for the elements of lists."""
    if isinstance(value, dict):
        return {name for key, item in value.items() for name in {f"{path}.{key}".lstrip(".")} | keys_of(item, f"{path}.{key}".lstrip("."))}
    return {name for item in value for name in keys_of(item, path + "[]")} if isinstance(value, list) else set()


def reports(folder):
    """A report of each schema, of films that are drawn here."""
    with open(os.path.join(folder, "film.y4m"), "wb") as file:
        file.write(film(20))
    with open(os.path.join(folder, "shaken.y4m"), "wb") as file:
        file.write(vibration_program_test.film(80))
    guard_program_test.y4m(os.path.join(folder, "moved.y4m"), [guard_program_test.scene()] * 30 + [guard_program_test.scene(6)] * 12)
    triage_program_test.y4m(os.path.join(folder, "crossing.y4m"), triage_program_test.crossing(200, 80))
    calls = {"sfft-video/1": ("run", "film.y4m", *OPTIONS, "--similarity"),
             "sfft-video/1 of several": ("run", "film.y4m", "film.y4m", *OPTIONS),
             "sfft-video-vibration/1": ("vibration", "shaken.y4m", "--tiles", "2x2", "--quiet"),
             "sfft-video-guard/1": ("guard", "moved.y4m", "--quiet"),
             "sfft-video-triage/1": ("triage", "crossing.y4m", "--quiet")}
    found = {}
    for schema, arguments in calls.items():
        name = os.path.join(folder, "report.json")
        done = subprocess.run([os.path.abspath(sys.argv[1]), *arguments, "--json", name], cwd=folder, capture_output=True, timeout=100, check=False)
        assert done.returncode == 0, (schema, done.stderr)
        with open(name, encoding="utf-8") as file:
            report = json.load(file)
        assert report["schema"] == schema.split()[0], (schema, report["schema"])
        found[schema] = keys_of(report)
    return found


def write_files(folder):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(folder, "json-keys.txt"), "w", encoding="utf-8") as file:
            for schema, keys in reports(work).items():
                file.write(f"[{schema}]\n" + "".join(key + "\n" for key in sorted(keys)))
        for number in (1, 2):
            with open(os.path.join(work, f"camera-{number}.y4m"), "wb") as file:
                file.write(film(6 + number))
        for shard in (1, 2):
            subprocess.run([os.path.abspath(sys.argv[1]), "run", "camera-1.y4m", "camera-2.y4m", *OPTIONS, "--results", "out", "--shard", f"{shard}/2"],
                           cwd=work, check=True)
        for name in SHARDS:
            shutil.copy(os.path.join(work, "out", name), folder)


class ReleasedFiles(FolderTest):
    def versions(self):
        names = sorted(name for name in os.listdir(DATA) if os.path.isdir(os.path.join(DATA, name)))
        self.assertIn("0.2", names)
        return [os.path.join(DATA, name) for name in names]

    def test_json_keys_only_grow(self):
        found = reports(self.folder.name)
        for version in self.versions():
            with self.subTest(version=version):
                schema = None
                with open(os.path.join(version, "json-keys.txt"), encoding="utf-8") as file:
                    for key in file.read().splitlines():
                        if key.startswith("["):
                            schema = key[1:-1]
                        else:
                            self.assertIn(key, found[schema], schema)

    def test_shards_are_merged(self):
        for version in self.versions():
            with self.subTest(version=version):
                done = run("merge", *[os.path.join(version, name) for name in SHARDS], "--json", "-", "--quiet")
                self.assertEqual(done.returncode, 0, done.stderr)
                merged = json.loads(done.stdout)
                self.assertEqual(merged["status"], "complete")
                self.assertEqual([part["input"]["path"] for part in merged["inputs"]], ["camera-1.y4m", "camera-2.y4m"])
                self.assertEqual([part["input"]["frames_read"] for part in merged["inputs"]], [7, 8])
                self.assertEqual([part["template"]["k"] for part in merged["inputs"]], [30, 30])

    def test_templates_start_runs(self):
        for version in self.versions():
            with self.subTest(version=version):
                for name in ("learned.sfft", "kept-plan.sfft", "reference.sfft", "support.sfft"):
                    frame = b"FRAME\n" + bytes(100 + x % 7 + y for y in range(24) for x in range(32))
                    done = run("run", "-", "--template", os.path.join(version, name), "--backend", "cpu", "--json", "-", "--quiet",
                               stdin=b"YUV4MPEG2 W32 H24 F25:1 Cmono\n" + 3 * frame)
                    self.assertEqual(done.returncode, 0, (name, done.stderr))
                    report = json.loads(done.stdout)
                    self.assertEqual((report["template"]["k"], report["frames"]["transformed"]), (8, 3), name)


if __name__ == "__main__":
    if os.environ.get("SFFT_WRITE_FILES"):
        write_files(os.environ["SFFT_WRITE_FILES"])
    unittest.main(argv=["released_files_test.py", *sys.argv[3:]])
