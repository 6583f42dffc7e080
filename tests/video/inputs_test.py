#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Parts of inputs, several inputs, streams that break off, reconstructions, option files. Standard library only.

usage: inputs_test.py SFFT_VIDEO RECORDING
"""
import http.server
import json
import os
import shutil
import subprocess
import threading
import unittest

from program_test import PROGRAM, RECORDING, FolderTest, film, run

VERSION = run("--version").stdout
HAS_LIBAV = b"FFmpeg     yes" in VERSION


class InputsTest(FolderTest):
    def write(self, name, content):
        with open(self.path(name), "wb") as file:
            file.write(content)
        return self.path(name)

    def report(self, *arguments, code=0, **options):
        done = run("run", *arguments, "--json", "-", "--quiet", **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout)

    def test_parts(self):
        source = self.write("film.y4m", film(20))
        for arguments, frames in ((("--start", "0.2"), 15), (("--start", "5f", "--end", "0:00.4"), 5), (("--every", "3"), 7),
                                  (("--start", "2f", "--end", "12f", "--every", "4"), 3)):
            with self.subTest(arguments):
                report = self.report(source, "--k", "20", *arguments)
                self.assertEqual((report["input"]["frames_read"], report["status"]), (frames, "complete"))
        self.assertEqual(self.report(source, "--every", "5")["input"]["fps"], 5)
        report = self.report(source, "--k", "20", "--roi", "10,20,50,30", "--reconstruct", self.path("both.y4m"))
        self.assertEqual((report["input"]["width"], report["input"]["height"]), (50, 30))
        with open(self.path("both.y4m"), "rb") as file:
            self.assertEqual(file.readline(), b"YUV4MPEG2 W100 H30 F25000000:1000000 Ip A1:1 Cmono\n")
            both = file.read()
        self.assertEqual(len(both), 20 * (6 + 3000))
        whole = film(20)
        whole = whole[whole.index(b"FRAME\n"):]
        for frame in (0, 19):  # the left half is the region itself
            for row in (0, 29):
                begin = frame * (6 + 96 * 64) + 6 + (row + 20) * 96 + 10
                copy = frame * 3006 + 6 + row * 100
                self.assertEqual(both[copy:copy + 50], whole[begin:begin + 50])
        for arguments in (("--roi", "60,0,50,30"), ("--roi", "1,2,3"), ("--start", "1:70"), ("--start", "4", "--end", "3"),
                          ("--every", "0"), ("--reconstruct", self.path("both.mp4"))):
            self.assertEqual(run("run", source, *arguments).returncode, 2, arguments)
        self.assertEqual(run("run", source, "--start", "100").returncode, 3)

    def test_decoder(self):
        if not HAS_LIBAV:
            self.skipTest("this build has no FFmpeg")
        common = (RECORDING, "--k", "200", "--frames", "30", "--backend", "cpu")
        host = self.report(*common, "--decoder", "cpu")
        self.assertEqual((host["input"]["decoder"], host["input"]["decoder_note"]), ("cpu", None))
        self.assertEqual(self.report(*common)["input"]["decoder"], "cpu")
        nvdec = (*common, "--decoder", "nvdec")
        for report in (self.report(*nvdec), self.report(*nvdec, CUDA_VISIBLE_DEVICES="")):
            # The frames have the same bits whichever device decodes them.
            self.assertEqual(report["verified"]["relative_error"], host["verified"]["relative_error"])
            self.assertEqual(report["input"]["frames_read"], 30)
            self.assertEqual(report["status"], "complete")
            if report["input"]["decoder"] == "cpu":
                self.assertTrue(report["input"]["decoder_note"])
                self.assertIn("NVDEC is not used", report["warnings"][0])
        self.assertEqual(report["input"]["decoder"], "cpu")
        self.assertEqual(run("run", RECORDING, "--decoder", "gpu").returncode, 2)
        # A damaged recording is reported as on the CPU.
        with open(RECORDING, "rb") as file:
            cut = self.write("cut.mp4", file.read()[:-20000])
        self.assertEqual(self.report(cut, "--decoder", "nvdec", code=3)["status"],
                         self.report(cut, "--decoder", "cpu", code=3)["status"])
        self.assertEqual(run("run", self.write("text.mp4", b"no film"), "--decoder", "nvdec").returncode, 3)

    def test_parts_of_a_recording(self):
        if not HAS_LIBAV:
            self.skipTest("this build has no FFmpeg")
        rows = {}
        for name, arguments in (("whole", ()), ("late", ("--start", "4")), ("by frames", ("--start", "50f"))):
            film_path = self.path("film.y4m")
            report = self.report(RECORDING, "--k", "20", "--reconstruct", film_path, *arguments)
            with open(film_path, "rb") as file:
                file.readline()
                content = file.read()
            count = report["input"]["frames_read"]
            size = len(content) // count
            rows[name] = [content[i * size:i * size + 6 + 768] for i in range(count)]  # the first row of each frame
        self.assertEqual(len(rows["whole"]), 75)  # 12.5 per second
        self.assertEqual(rows["late"], rows["whole"][50:])
        self.assertEqual(rows["by frames"], rows["whole"][50:])

    def test_several_inputs(self):
        os.mkdir(self.path("folder"))
        self.write("folder/f10.y4m", film(4))
        self.write("folder/f9.y4m", film(6)[:-10])
        one = self.write("one.y4m", film(5))
        report = self.report(one, self.path("folder"), one, "--k", "20", "--csv", self.path("{}.csv"), code=3)
        self.assertEqual(report["status"], "input_damaged")
        self.assertEqual([part["input"]["frames_read"] for part in report["inputs"]], [5, 5, 4, 5])
        self.assertEqual([part["status"] for part in report["inputs"]], ["complete", "input_damaged", "complete", "complete"])
        self.assertEqual(sorted(name for name in os.listdir(self.folder.name) if name.endswith("csv")),
                         ["f10.csv", "f9.csv", "one-2.csv", "one.csv"])
        self.assertEqual(run("run", one, one, "--k", "20", "--html", self.path("page.html")).returncode, 2)
        self.assertEqual(run("run", one, self.path("folder"), "--k", "20", "--json", one).returncode, 2)
        done = run("run", one, one, "--k", "20", "--quiet", "--json", self.path("{}.json"))
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.path("one-2.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["input"]["frames_read"], 5)

    def test_options_from_a_file(self):
        options = self.write("options.ini", b"[run]\nk = 17\nframes = 3\nverify = 0\n")
        for arguments in ((), ("--frames", "2")):
            done = run("run", "-", "--config", options, "--json", "-", *arguments, stdin=film(5))
            report = json.loads(done.stdout)
            self.assertEqual((report["template"]["k"], report["input"]["frames_read"]), (17, 3 - len(arguments) // 2))
        self.assertEqual(run("run", "-", "--config", self.path("none.ini"), stdin=film(5)).returncode, 2)
        for wrong, name in ((b"[run]\nvrify = 0\n", b"vrify"), (b"[ran]\nk = 17\n", b"ran"), (b"k = 17\n", b"k")):
            done = run("run", "-", "--config", self.write("wrong.ini", wrong), stdin=film(5))
            self.assertEqual((done.returncode, done.stdout), (2, b""), wrong)
            self.assertIn(name, done.stderr)

    def test_a_stream_that_breaks_off_is_opened_again(self):
        if not HAS_LIBAV:
            self.skipTest("this build has no FFmpeg")
        answers = [10, None, None, 7]  # numbers of frames; None means that the input is not available

        class Camera(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                frames = answers.pop(0) if answers else None
                self.send_response(200 if frames else 503)
                self.end_headers()
                if frames:
                    self.wfile.write(film(frames))

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Camera)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        address = f"http://127.0.0.1:{server.server_address[1]}/film"
        report = self.report(address, "--k", "20", "--reconnect", "3", timeout=60)
        self.assertEqual((report["input"]["frames_read"], report["status"]), (17, "complete"))
        first, last = report["input"]["gaps"]
        self.assertEqual((first["frame"], first["attempts"], last["frame"]), (10, 3, 17))
        self.assertGreater(first["seconds"], 1.5)  # pauses of 0.25, 0.5 and 1 s
        self.assertGreaterEqual(last["seconds"], 3)
        self.assertAlmostEqual(first["start_s"], 9 / 25)
        self.assertTrue(any("did not come back" in text for text in report["warnings"]))

    def test_completion_knows_the_options(self):
        script = os.path.join(os.path.dirname(__file__), "../../apps/sfft-video/completion.bash")
        if shutil.which("bash") is None:
            self.skipTest("no bash")
        ask = (f'. "{script}"; COMP_WORDS=("{PROGRAM}" run --rec); COMP_CWORD=2; _sfft_video "{PROGRAM}"; '
               'printf "%s\\n" "${COMPREPLY[@]}"')
        words = subprocess.run(["bash", "-c", ask], capture_output=True, check=True, timeout=60).stdout.decode().split()
        self.assertEqual(words, ["--reconnect", "--reconstruct"])
        ask = ask.replace("run --rec", "le").replace("CWORD=2", "CWORD=1")
        words = subprocess.run(["bash", "-c", ask], capture_output=True, check=True, timeout=60).stdout.decode().split()
        self.assertEqual(words, ["learn"])


if __name__ == "__main__":
    unittest.main(argv=["inputs_test.py"])
