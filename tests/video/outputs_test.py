#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What becomes of the outputs of sfft-video, whatever their paths lead to and whatever fails. Standard library only.

usage: outputs_test.py SFFT_VIDEO RECORDING [CLASS]
"""
import json
import os
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from program_test import PROGRAM, film, run

KINDS = ("json", "csv", "html", "spectra")
HDF5 = b"\x89HDF\r\n\x1a\n"
FILM = film(6)


class OutputsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.has_hdf5 = b"HDF5       yes" in run("--version").stdout
        cls.kinds = KINDS if cls.has_hdf5 else KINDS[:-1]

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def outputs(self, *kinds):
        """Options that write each kind to a file of its name."""
        return [word for kind in kinds for word in ("--" + kind, self.path(kind))]

    def run_film(self, *arguments, **options):
        """A short run, its standard streams as given."""
        with tempfile.TemporaryFile() as source:
            source.write(FILM)
            source.seek(0)
            options = {"stdin": source, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 100} | options
            return subprocess.run([PROGRAM, "run", "-", "--k", "20", *arguments], check=False, **options)

    def check_whole(self, kind):
        content = self.read(kind)
        if kind == "json":
            self.assertEqual(json.loads(content)["input"]["frames_read"], 6)
        elif kind == "csv":
            self.assertEqual(content.count(b"\n"), 6)
        elif kind == "html":
            self.assertTrue(content.rstrip().endswith(b"</html>"))
        else:
            self.assertEqual(content[:8], HDF5)


class Paths(OutputsTest):
    """What a path leads to."""

    def test_inputs_are_never_written_over(self):
        self.write("film.y4m", FILM)
        self.assertEqual(run("learn", self.path("film.y4m"), "-o", self.path("film.sfft"), "--k", "20").returncode, 0)
        template = self.read("film.sfft")
        os.symlink("film.y4m", self.path("soft"))
        os.link(self.path("film.y4m"), self.path("hard"))
        os.symlink("film.sfft", self.path("soft.sfft"))
        films = [self.path(name) for name in ("film.y4m", "soft", "hard", "../" + os.path.basename(self.folder) + "/film.y4m")]
        for kind in self.kinds:
            for output in films if kind == "json" else films[1:2]:
                done = run("run", self.path("film.y4m"), "--k", "20", "--" + kind, output)
                self.assertEqual(done.returncode, 2, (kind, output))
                self.assertRegex(done.stderr, rb"^sfft-video: .*write over the input")
                with open(self.path("film.y4m"), "rb") as source:
                    done = self.run_film("--" + kind, output, stdin=source)
                self.assertEqual(done.returncode, 2, (kind, output))
            for output in ("soft.sfft",):
                done = run("run", self.path("film.y4m"), "--template", self.path("film.sfft"), "--" + kind, self.path(output))
                self.assertEqual(done.returncode, 2)
        for output in films:
            self.assertEqual(run("learn", self.path("film.y4m"), "-o", output, "--k", "20").returncode, 2)
        self.assertEqual(self.read("film.y4m"), FILM)
        self.assertEqual(self.read("film.sfft"), template)
        self.assertEqual(len(os.listdir(self.folder)), 5, "no litter")

    def test_images_of_a_sequence_are_inputs(self):
        for i in range(3):
            self.write(f"{i}.pgm", b"P5 32 32 255\n" + bytes(range(256)) * 4)
        for source in (self.folder, self.path("%d.pgm")):
            self.assertEqual(run("run", source, "--k", "5", "--html", self.path("1.pgm")).returncode, 2)
        self.assertEqual(len(self.read("1.pgm")), 13 + 1024)

    def test_outputs_must_differ(self):
        self.write("file", b"old")
        os.symlink("file", self.path("link"))
        for names in (("file", "file"), ("file", "link"), ("new", "./new"), ("-", "-"), ("-", "/dev/stdout")):
            json_path, csv_path = (name if name[0] in "-/" else self.path(name) for name in names)
            done = self.run_film("--json", json_path, "--csv", csv_path)
            self.assertEqual((done.returncode, done.stdout), (2, b""), names)
            self.assertIn(b"same file", done.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["file", "link"])
        self.assertEqual(self.read("file"), b"old")
        self.assertEqual(self.run_film("--json", "/dev/null", "--csv", "/dev/null").returncode, 0)

    def test_unwritable_outputs_are_wrong_usage_before_anything_is_read(self):
        os.mkdir(self.path("directory"))
        os.chmod(self.write("read-only", b"keep"), 0o444)
        os.symlink("circle", self.path("circle"))
        for name in ("directory", "missing/file", "read-only", "circle", "x" * 300):
            for kind in self.kinds if name == "missing/file" else ("csv",):
                done = run("run", self.path("not read.y4m"), "--" + kind, self.path(name))
                self.assertEqual(done.returncode, 2, (kind, name))
                self.assertRegex(done.stderr, rb"^sfft-video: cannot write '")
                self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertEqual(run("learn", self.path("not read.y4m"), "-o", self.path(name)).returncode, 2, name)
        self.assertEqual(self.read("read-only"), b"keep")
        self.assertEqual(len(os.listdir(self.folder)), 3)

    def test_links_modes_and_streams_stay_what_they_are(self):
        os.chmod(self.write("private", b"old"), 0o600)
        os.symlink("private", self.path("link"))
        self.assertEqual(self.run_film("--json", self.path("link")).returncode, 0)
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertEqual(stat.S_IMODE(os.stat(self.path("private")).st_mode), 0o600)
        self.assertEqual(json.loads(self.read("private"))["status"], "complete")

        os.mkfifo(self.path("fifo"))
        got = []
        reader = threading.Thread(target=lambda: got.append(self.read("fifo")))
        reader.start()
        self.assertEqual(self.run_film("--csv", self.path("fifo")).returncode, 0)
        reader.join()
        self.assertEqual(got[0].count(b"\n"), 6)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("fifo")).st_mode))
        if self.has_hdf5:
            self.assertEqual(self.run_film("--spectra", self.path("fifo")).returncode, 2)
            self.assertEqual(self.run_film("--spectra", "-").returncode, 2)

    def test_dash_is_standard_output(self):
        for kind, start in (("json", b"{"), ("csv", b"frame,"), ("html", b"<!doctype")):
            done = self.run_film("--" + kind, "-", cwd=self.folder)
            self.assertEqual(done.returncode, 0)
            self.assertTrue(done.stdout.startswith(start), kind)
            self.assertIn(b"frequencies", done.stderr, "the summary makes way")
        done = run("learn", "-", "-o", "-", "--k", "20", stdin=FILM)
        self.assertEqual((done.returncode, done.stdout[:8]), (0, b"SFFTTMPL"))
        with open(self.path("log"), "ab") as log:
            log.write(b"before\n")
            log.flush()
            self.assertEqual(self.run_film("--csv", "-", "--quiet", stdout=log).returncode, 0)
        self.assertTrue(self.read("log").startswith(b"before\nframe,"), "a redirected file is written where it stands")
        self.assertEqual(os.listdir(self.folder), ["log"])


class Failures(OutputsTest):
    """One output that cannot be written, and standard streams."""

    def test_each_output_is_saved_whatever_becomes_of_the_others(self):
        for failing in ("json", "csv", "html"):
            others = [kind for kind in self.kinds if kind != failing]
            done = self.run_film("--" + failing, "/dev/full", *self.outputs(*others))
            self.assertEqual(done.returncode, 2)
            self.assertIn(b"/dev/full", done.stderr)
            for kind in others:
                self.check_whole(kind)
                os.remove(self.path(kind))
            self.assertEqual(os.listdir(self.folder), [])

    def test_full_disks_lose_one_output_and_nothing_else(self):
        if not self.has_hdf5:
            self.skipTest("this build has no HDF5")
        self.assertEqual(self.run_film(*self.outputs(*KINDS)).returncode, 0)
        sizes = {kind: os.path.getsize(self.path(kind)) for kind in KINDS}
        whole = sizes["spectra"]
        limits = [0, 1, 500, 2000, 2048, 5000, 20000] + [whole * i // 12 for i in range(1, 12)] + [whole - 1, whole]
        for limit in limits:
            for kind in KINDS:
                self.write(kind, b"old")
            done = self.run_film(*self.outputs(*KINDS), "--quiet",
                                 preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
            lost = [kind for kind in KINDS if self.read(kind) == b"old"]
            for kind in set(KINDS) - set(lost):
                self.check_whole(kind)
            self.assertEqual(done.returncode, 2 if lost else 0, (limit, done.stderr))
            if len(lost) < len(KINDS):  # otherwise it may have been refused before the work
                self.assertEqual(len(done.stderr.splitlines()), len(lost), done.stderr)
            for kind in KINDS:  # the reports' sizes vary with the times in them
                if limit > 1.2 * sizes[kind] + 200 or limit >= whole:
                    self.assertNotIn(kind, lost, limit)
            if limit < whole:
                self.assertIn("spectra", lost)
            self.assertEqual(sorted(os.listdir(self.folder)), sorted(KINDS), "no litter")

    def test_outputs_that_fill_a_disk_leave_room_for_reports(self):
        if not self.has_hdf5:
            self.skipTest("this build has no HDF5")
        # A separate small file system, which spectra fill while frames still arrive. The reports alone would fit.
        mount = f"mount -t tmpfs -o size=200k none {self.folder}"
        if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, check=False).returncode:
            self.skipTest("file systems cannot be mounted here")
        outputs = "--json r.json --csv r.csv --spectra r.h5 --k 700 --quiet"
        script = f"{mount} && cd {self.folder} && '{os.path.abspath(PROGRAM)}' run - {outputs}; echo $?; ls -A; cat r.json"
        done = subprocess.run(["unshare", "-rm", "sh", "-c", script], input=film(400, 48, 32), capture_output=True, timeout=100, check=False)
        code, *listed = done.stdout.decode().split("{", 1)[0].split()
        self.assertEqual((code, listed), ("2", ["r.csv", "r.json"]), done.stderr)
        self.assertEqual(json.loads(done.stdout[done.stdout.index(b"{"):])["status"], "complete")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_a_crash_of_the_process_that_writes_spectra_loses_nothing_else(self):
        if not self.has_hdf5:
            self.skipTest("this build has no HDF5")
        command = [PROGRAM, "run", "-", "--k", "20", "--quiet", *self.outputs(*KINDS)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            children = f"/proc/{process.pid}/task/{process.pid}/children"
            writers = []
            process.stdin.write(FILM[:100])
            process.stdin.flush()
            # The reading thread starts when every output is open.
            while (not writers or len(os.listdir(f"/proc/{process.pid}/task")) < 2) and process.poll() is None:
                with open(children, encoding="ascii") as file:
                    writers = file.read().split()
                time.sleep(0.01)
            os.kill(int(writers[0]), signal.SIGKILL)
            message = process.communicate(FILM[100:], timeout=100)[1]
        self.assertEqual(process.returncode, 2)
        self.assertRegex(message, rb"^sfft-video: cannot write '.*spectra': the process that writes it crashed")
        self.assertEqual(len(message.splitlines()), 1)
        for kind in ("json", "csv", "html"):
            self.check_whole(kind)
        self.assertEqual(sorted(os.listdir(self.folder)), ["csv", "html", "json"])

    def test_streams_that_are_full_or_closed(self):
        with open("/dev/full", "wb") as full:
            for arguments in (("--json", "-"), ("--csv", "-"), ("--html", "-"), ()):
                done = self.run_film(*arguments, stdout=full)
                self.assertEqual(done.returncode, 2, arguments)
                self.assertIn(b"/dev/stdout" if arguments else b"standard output", done.stderr)
            self.assertEqual(subprocess.run([PROGRAM, "--help"], stdout=full, check=False).returncode, 2)
            self.assertEqual(self.run_film(*self.outputs("json"), stderr=full).returncode, 0)
            self.check_whole("json")
            done = subprocess.run([PROGRAM, "run", self.path("none")], stderr=full, check=False)
            self.assertEqual(done.returncode, 3)
        self.write("film.y4m", FILM)
        command = f"exec '{PROGRAM}' run film.y4m --k 20 --json json "
        for closing, expected in (("2>&-", 0), (">&-", 2), (">&- 2>&-", 2), ("<&- >&- 2>&-", 2), ("--quiet <&- >&- 2>&-", 0)):
            os.remove(self.path("json"))
            done = subprocess.run(["sh", "-c", command + closing], cwd=self.folder, timeout=100, check=False,
                                  stdin=subprocess.DEVNULL, capture_output=True)
            self.assertEqual(done.returncode, expected, closing)
            self.check_whole("json")
        self.assertEqual(self.read("film.y4m"), FILM)
        done = subprocess.run(["sh", "-c", f"exec '{PROGRAM}' run - <&-"], timeout=20, capture_output=True, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"standard input", done.stderr)


class Endings(OutputsTest):
    """Long runs, runs that are ended, and what they leave."""

    def test_memory_does_not_grow_with_the_stream(self):
        header, frame = b"YUV4MPEG2 W16 H8 Cmono\n", b"FRAME\n" + bytes(range(128))
        command = [PROGRAM, "run", "-", "--k", "4", *self.outputs("json", "csv", "html")]
        resident = []
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            process.stdin.write(header)
            for _ in range(4):  # more than the program reads ahead each time
                for _ in range(25):
                    process.stdin.write(frame * 1000)
                process.stdin.flush()
                with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
                    resident.append(next(int(line.split()[1]) for line in status if line.startswith("VmRSS:")))
            process.stdin.close()
            self.assertEqual(process.wait(timeout=100), 0)
        self.assertLess(resident[-1] - resident[0], 1024, resident)
        report = json.loads(self.read("json"))
        self.assertEqual(report["frames"]["transformed"], 99999)
        self.assertEqual(report["verified"]["frames"], 9999)
        self.assertEqual(self.read("csv").count(b"\n"), 100000)
        self.assertLess(os.path.getsize(self.path("html")), 1 << 20)

    def test_learning_frames_are_limited_by_what_memory_allows(self):
        side, limit = 1000, 1 << 30
        frame = b"FRAME\n" + bytes(side * side)

        def learn(arguments, frames):
            command = [PROGRAM, *arguments, "--k", "4"]
            bounded = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=bounded) as process:
                try:
                    process.stdin.write(b"YUV4MPEG2 W%d H%d Cmono\n" % (side, side))
                    for _ in range(frames):
                        process.stdin.write(frame)
                    process.stdin.close()
                except BrokenPipeError:
                    pass
                return process.wait(timeout=100), process.stderr.read()

        output = self.path("template")
        if learn(("learn", "-", "-o", output, "--frames", "2"), 3)[0] != 0:
            self.skipTest("this build needs more address space than that")
        os.remove(output)
        code, message = learn(("learn", "-", "-o", output, "--frames", "1000000"), 1000)
        self.assertEqual(code, 2, message)
        self.assertRegex(message, rb"half of what is free: learn from at most [0-9]+\n$")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_reader_that_leaves(self):
        os.mkfifo(self.path("fifo"))
        reader = threading.Thread(target=lambda: open(self.path("fifo"), "rb").close())
        reader.start()
        done = self.run_film("--html", self.path("fifo"), *self.outputs("json"))
        reader.join()
        self.assertIn(done.returncode, (0, 2))  # the pipe may have taken everything
        self.check_whole("json")

    def test_what_killed_runs_left_is_removed(self):
        command = [PROGRAM, "run", "-", "--k", "20", *self.outputs(*self.kinds)]
        for _ in range(5):
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write(FILM)
                process.stdin.flush()
                while len(os.listdir(self.folder)) < len(self.kinds):
                    time.sleep(0.01)
                process.kill()
        self.assertEqual(len(os.listdir(self.folder)), len(self.kinds), "each run removes what the one before it left")
        self.assertEqual(self.run_film(*self.outputs("json")).returncode, 0)
        self.assertEqual(os.listdir(self.folder), ["json"])

    def test_a_closed_terminal_ends_a_run_with_its_reports(self):
        for number in (signal.SIGHUP, signal.SIGTERM):
            command = [PROGRAM, "run", "-", "--k", "20", *self.outputs(*self.kinds)]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdin.write(FILM)
                process.stdin.flush()
                time.sleep(1.5)
                process.send_signal(number)
                process.wait(timeout=60)
                self.assertEqual(process.returncode, 130)
            self.assertEqual(json.loads(self.read("json"))["status"], "interrupted")
            self.assertEqual(sorted(os.listdir(self.folder)), sorted(self.kinds))

    def test_names_are_shown_as_text(self):
        name = self.path("a\x1b[2J\n.y4m").encode() + b"\xff"
        done = run("run", name)
        self.assertEqual(done.returncode, 3)
        self.assertIn(rb"a\x1B[2J\x0A.y4m\xFF", done.stderr)
        with open(name + b".y4m", "wb") as file:
            file.write(FILM)
        done = run("run", name + b".y4m", "--k", "20", *self.outputs("json", "html"))
        self.assertEqual(done.returncode, 0)
        self.assertNotIn(b"\x1b", done.stdout + done.stderr)
        json.loads(self.read("json").decode())
        self.assertIn(r"a\x1B[2J\x0A.y4m\xFF", self.read("html").decode())


if __name__ == "__main__":
    unittest.main(argv=["outputs_test.py", *sys.argv[3:]])
