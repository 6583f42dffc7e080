#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recordings shared between processes: shards, kills in the middle, resuming, merging. Standard library only.

usage: shards_program_test.py SFFT_VIDEO RECORDING
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from program_test import PROGRAM, film, run

OPTIONS = ("--k", "30", "--verify", "4", "--backend", "cpu")
TIMES = {"learn_ms", "plan_ms", "median_us", "p95_us", "mean_us", "speedup", "dense", "pipeline"}


def without_times(value):
    if isinstance(value, dict):
        return {key: without_times(item) for key, item in value.items() if key not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


class ShardsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        films = tempfile.TemporaryDirectory()
        cls.addClassCleanup(films.cleanup)
        cls.films = films.name
        for number in range(7):
            content = film(6 + number)
            if number == 3:
                content = content[:-1000]  # the recording ends early
            with open(os.path.join(cls.films, f"camera-{number}.y4m"), "wb") as file:
                file.write(content)
        done = run("run", cls.films, *OPTIONS, "--json", "-", "--quiet")
        assert done.returncode == 3, done.stderr
        cls.whole = json.loads(done.stdout)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.out = os.path.join(self.folder, "out")

    def shard(self, shard, *arguments, code=0, inputs=None, **environment):
        done = run("run", *(inputs or [self.films]), *OPTIONS, "--results", self.out, "--shard", shard, *arguments, **environment)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr.decode()

    def merge(self, *arguments, code=3, shards=None):
        done = run("merge", *(shards or [self.out]), "--json", "-", "--quiet", *arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout) if done.stdout else done.stderr.decode()

    def lines(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def test_shards_are_together_the_whole_run(self):
        for rank in (2, 0, 1):  # as Slurm, Open MPI and MPICH name it
            known = ({"SLURM_PROCID": str(rank), "SLURM_NTASKS": "3"},
                     {"OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": "3", "SLURM_PROCID": "0", "SLURM_NTASKS": "1"},
                     {"PMI_RANK": str(rank), "PMI_SIZE": "3"})[rank]
            self.shard("auto", code=3 if rank == 0 else 0, **known)
        self.assertEqual(sorted(os.listdir(self.out)), [f"shard-{i}-of-3.jsonl" for i in (1, 2, 3)])
        head, *records = self.lines("shard-1-of-3.jsonl")
        self.assertEqual((head["schema"], head["shard"], head["shards"], head["inputs"]), ("sfft-video-shard/1", 1, 3, 7))
        self.assertEqual([record["input"] for record in records], [0, 3, 6])
        merged = self.merge("--csv", os.path.join(self.folder, "table.csv"))
        self.assertEqual(without_times(merged), without_times(self.whole))
        with open(os.path.join(self.folder, "table.csv"), encoding="utf-8") as file:
            self.assertEqual([line.split(",")[6] for line in file], ["frames_read"] + [str(part["input"]["frames_read"]) for part in merged["inputs"]])

    def test_mpirun(self):
        if shutil.which("mpirun") is None:
            self.skipTest("no mpirun")
        command = ["mpirun", "-n", "3", "--oversubscribe"]
        if os.getuid() == 0:
            command.insert(1, "--allow-run-as-root")
        probe = subprocess.run([*command, "true"], capture_output=True, timeout=60, check=False)
        if probe.returncode != 0:
            self.skipTest("mpirun starts nothing here")
        # Without the option, Open MPI ends all ranks when one has a damaged recording and exit code 3.
        done = subprocess.run([*command, "--mca", "orte_abort_on_non_zero_status", "0", PROGRAM, "run", self.films, *OPTIONS, "--quiet",
                               "--results", self.out, "--shard", "auto"], capture_output=True, timeout=100, check=False)
        self.assertIn(b"ends inside frame", done.stderr)
        self.assertEqual(without_times(self.merge()), without_times(self.whole))

    def test_a_killed_shard_goes_on(self):
        killed = 0
        for _ in range(40):
            process = subprocess.Popen([PROGRAM, "run", self.films, *OPTIONS, "--quiet", "--results", self.out, "--shard", "1/1"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            name = os.path.join(self.out, "shard-1-of-1.jsonl")
            before = os.path.getsize(name) if os.path.exists(name) else 0
            while process.poll() is None and (not os.path.exists(name) or os.path.getsize(name) == before):
                time.sleep(0.001)
            time.sleep(0.002)  # in the middle of the next recording
            process.send_signal(signal.SIGKILL)
            process.wait()
            if process.returncode == -signal.SIGKILL:
                killed += 1
            elif killed > 1:
                break
            else:  # the work was done before this process had its turn
                os.remove(name)
                killed = 0
        self.assertGreater(killed, 1)
        self.shard("1/1", code=3)
        self.assertEqual(without_times(self.merge()), without_times(self.whole))

    def test_a_cut_line_is_read_again(self):
        self.shard("1/2")
        self.shard("2/2", code=3)
        name = os.path.join(self.out, "shard-1-of-2.jsonl")
        size = os.path.getsize(name)
        for cut in (1, 100, 1500):
            os.truncate(name, size - cut)
            self.assertIn("killed while it wrote its last line", self.merge())
            self.assertEqual(self.merge("--partial")["status"], "interrupted")
            said = self.shard("1/2")
            self.assertEqual(said.count("finished before"), 3, said)
            self.assertEqual(without_times(self.merge()), without_times(self.whole))
        with open(name, "r+b") as file:  # a line in the middle is damaged
            file.seek(size // 2)
            file.write(b"#")
        self.assertIn("is damaged: remove that line", self.merge())
        self.assertIn("is damaged: remove that line", self.shard("1/2", code=3))

    def test_what_changed_is_read_again(self):
        films = [shutil.copy(os.path.join(self.films, f"camera-{i}.y4m"), os.path.join(self.folder, f"{i}.y4m")) for i in (0, 1)]
        self.shard("1/1", inputs=films)
        with open(films[1], "wb") as file:
            file.write(film(9))
        self.assertEqual(self.shard("1/1", inputs=films).count("finished before"), 1)
        self.assertEqual(self.merge(code=0)["inputs"][1]["input"]["frames_read"], 9)

    def test_errors(self):
        for arguments in (("--shard", "1/2"), ("--shard", "0/2", "--results", self.out), ("--shard", "3/2", "--results", self.out),
                          ("--shard", "x", "--results", self.out), ("--shard", "auto", "--results", self.out),
                          ("--results", self.out, "--json", os.path.join(self.folder, "all.json")),
                          ("--results", self.out, "--csv", os.path.join(self.folder, "all.csv")),
                          ("--results", os.path.join(self.films, "camera-0.y4m"))):
            empty = {name: "" for name in os.environ if name.startswith(("OMPI_", "PMI_", "SLURM_"))}
            done = run("run", self.films, *OPTIONS, *arguments, **empty)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertTrue(done.stderr.strip(), arguments)
        one = os.path.join(self.films, "camera-0.y4m")
        self.assertIn("the same recording", self.shard("1/2", inputs=[one, self.films + "/./camera-0.y4m"], code=2))
        self.assertIn("read again", self.shard("1/2", inputs=[one, "-"], code=2))
        self.assertEqual(run("merge", self.out).returncode, 3)
        self.shard("1/2")
        self.assertIn("shard 2 of 2 is missing: run it with --shard 2/2", self.merge())
        self.assertIn("its every is 1, not 2", self.shard("1/2", "--every", "2", code=2))
        self.assertIn("another number of shards", self.shard("1/3", code=2))
        self.assertIn("inputs", self.shard("1/2", inputs=[one], code=2))
        template = os.path.join(self.folder, "a.sfft")
        self.assertEqual(run("learn", one, "-o", template, "--k", "30").returncode, 0)
        done = run("run", self.films, "--backend", "cpu", "--verify", "4", "--template", template, "--results", self.out, "--shard", "2/2")
        self.assertEqual(done.returncode, 3, done.stderr)  # separate files: only merge sees both
        self.assertIn("template is of", self.merge(code=2))
        self.assertIn("both shard 1", self.merge(code=2, shards=[os.path.join(self.out, "shard-1-of-2.jsonl")] * 2))

    def test_one_unlike_recording_does_not_end_a_shard(self):
        template = os.path.join(self.folder, "a.sfft")
        odd = os.path.join(self.folder, "odd.y4m")
        with open(odd, "wb") as file:
            file.write(film(4, width=80))
        good = os.path.join(self.films, "camera-0.y4m")
        self.assertEqual(run("learn", good, "-o", template, "--k", "30").returncode, 0)
        done = run("run", odd, good, os.path.join(self.folder, "none.y4m"), "--template", template, "--results", self.out)
        self.assertEqual(done.returncode, 3, done.stderr)
        report = self.merge()
        self.assertEqual([part["status"] for part in report["inputs"]], ["failed", "complete", "input_damaged"])
        self.assertEqual((report["status"], report["message"]), ("failed", report["inputs"][0]["message"]))


if __name__ == "__main__":
    unittest.main(argv=["shards_program_test.py"])
