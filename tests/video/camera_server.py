# SPDX-License-Identifier: Apache-2.0
"""Cameras on the loopback device, for tests: an H.264 recording as RTSP (RTP within the connection, RFC 7826 and 6184) and as FLV over
HTTP. Standard library only.

A camera plays a list of scripts, one per connection; the last one is played for all further connections too. A script is a list of
steps: ("play", first, last) sends those frames of the recording, ("stall", seconds) sends nothing, ("lose", share) loses that share of the
packets from there on (RTSP), ("drop", share) that share of the pictures that are no key frames, and the connection is closed at its end.
("use", recording) goes on with another recording, from a connection's beginning or within it. ("refuse",) as the only step refuses it,
("bye",) ends in good order.
"""
import base64
import http.server
import random
import socket
import socketserver
import struct
import threading
import time


class Recording:
    """The first video track of an MP4 file: H.264 access units with times in seconds."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        moov = self.box(0, len(self.data), b"moov")
        for start, end in self.boxes(*moov, b"trak"):
            mdia = self.box(start, end, b"mdia")
            hdlr = self.box(*mdia, b"hdlr")
            if self.data[hdlr[0] + 8:hdlr[0] + 12] == b"vide":
                break
        mdhd = self.box(*mdia, b"mdhd")[0]
        scale = struct.unpack_from(">I", self.data, mdhd + (20 if self.data[mdhd] == 1 else 12))[0]
        stbl = self.box(*self.box(*mdia, b"minf"), b"stbl")
        entry = self.box(*stbl, b"stsd")[0] + 16  # after the entry's size and name
        self.width, self.height = struct.unpack_from(">HH", self.data, entry + 24)
        config, config_end = self.box(entry + 78, self.box(*stbl, b"stsd")[1], b"avcC")
        self.config = self.data[config:config_end]
        self.parameters = []
        at = 5
        for mask in (0x1F, 0xFF):
            count = self.config[at] & mask
            at += 1
            for _ in range(count):
                size = struct.unpack_from(">H", self.config, at)[0]
                self.parameters.append(self.config[at + 2:at + 2 + size])
                at += 2 + size
        sizes = self.table(stbl, b"stsz", 8, ">I")
        chunks = self.table(stbl, b"stco", 4, ">I")
        runs = list(self.table(stbl, b"stsc", 4, ">III"))
        steps = [step for count, step in self.table(stbl, b"stts", 4, ">II") for _ in range(count)]
        keys = {number for (number,) in self.table(stbl, b"stss", 4, ">I")} if self.box(*stbl, b"stss") else None
        later = [later for count, later in self.table(stbl, b"ctts", 4, ">Ii") for _ in range(count)] if self.box(*stbl, b"ctts") else [0] * len(steps)
        self.units = []  # (decoding time, presentation time, key, AVCC bytes)
        sample = ticks = 0
        for number, (offset,) in enumerate(chunks, 1):
            per_chunk = [count for first, count, _ in runs if first <= number][-1]
            for _ in range(per_chunk):
                if sample == len(sizes):
                    break
                size = sizes[sample][0]
                self.units.append((ticks / scale, (ticks + later[sample]) / scale, keys is None or sample + 1 in keys, self.data[offset:offset + size]))
                offset += size
                ticks += steps[sample]
                sample += 1
        self.duration = ticks / scale

    def boxes(self, start, end, name):
        while start + 8 <= end:
            size, kind = struct.unpack_from(">I4s", self.data, start)
            body = start + 8
            if size == 1:
                size = struct.unpack_from(">Q", self.data, body)[0]
                body += 8
            if kind == name:
                yield body, start + (size or end - start)
            start += size or end - start

    def box(self, start, end, name):
        return next(self.boxes(start, end, name), None)

    def table(self, stbl, name, header, layout):
        """Rows of a full box, behind its version, flags and `header` bytes of which the last four count them."""
        start = self.box(*stbl, name)[0]
        count = struct.unpack_from(">I", self.data, start + header)[0]
        size = struct.calcsize(layout)
        return [struct.unpack_from(layout, self.data, start + header + 4 + i * size) for i in range(count)]

    @staticmethod
    def nals(unit):
        at = 0
        while at + 4 <= len(unit):
            size = struct.unpack_from(">I", unit, at)[0]
            yield unit[at + 4:at + 4 + size]
            at += 4 + size

    def frame(self, number):
        """Frame `number` of a recording that goes on in a loop."""
        loop, at = divmod(number, len(self.units))
        decode, show, key, unit = self.units[at]
        return decode + loop * self.duration, show + loop * self.duration, key, unit


class Camera:
    """`pace`: seconds of the recording per second. `clock`: seconds that are added to time stamps per connection."""

    def __init__(self, recording, scripts, pace=1.0, seed=1):
        self.recording, self.scripts, self.pace = recording, scripts, pace
        self.random = random.Random(seed)
        self.connections = self.sent = 0
        self.begun = False
        self.lock = threading.Lock()
        self.ending = threading.Event()
        camera = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                try:
                    camera.serve(self)
                except (OSError, ValueError):
                    pass

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.server_bind()
        self.port = self.server.server_address[1]

    def begin(self):
        """Until then connections are refused."""
        self.begun = True
        self.server.server_activate()
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def close(self):
        self.ending.set()
        if self.begun:
            self.server.shutdown()
        self.server.server_close()

    def next_script(self):
        with self.lock:
            script = self.scripts[min(self.connections, len(self.scripts) - 1)]
            self.connections += 1
        return script

    def recording_of(self, script):
        """What a connection begins with."""
        return script[0][1] if script and script[0][0] == "use" else self.recording

    def play(self, script, send, change=lambda recording: None):
        """Calls send(decoding time, presentation time, key, unit, lost share) at the camera's pace."""
        share = drop = last = 0.0
        origin = None
        recording, shift = self.recording_of(script), 0.0
        for step in script:
            if step[0] == "lose":
                share = step[1]
            elif step[0] == "drop":
                drop = step[1]
            elif step[0] == "use" and step[1] is not recording:
                recording, shift = step[1], None
                change(recording)
            elif step[0] == "stall":
                if self.ending.wait(step[1]):
                    return
                origin = None
            elif step[0] == "play":
                for number in range(step[1], step[2]):
                    decode, show, key, unit = recording.frame(number)
                    if shift is None:  # the camera's clock continues
                        shift = last + 0.04 - decode
                    decode, show, last = decode + shift, show + shift, decode + shift
                    if origin is None:
                        origin = time.monotonic() - decode / self.pace
                    if self.ending.wait(max(0.0, origin + decode / self.pace - time.monotonic())):
                        return
                    if key or drop == 0 or self.random.random() >= drop:
                        send(decode, show, key, unit, share)
                    with self.lock:
                        self.sent += 1


class RtspCamera(Camera):
    @property
    def url(self):
        return f"rtsp://127.0.0.1:{self.port}/camera"

    def describe(self, recording):
        sets = ",".join(base64.b64encode(p).decode() for p in recording.parameters)
        return ("v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=camera\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\na=control:*\r\nm=video 0 RTP/AVP 96\r\n"
                f"a=rtpmap:96 H264/90000\r\na=fmtp:96 packetization-mode=1;sprop-parameter-sets={sets}\r\na=control:track1\r\n")

    def serve(self, handler):
        script = self.next_script()
        if script == [("refuse",)]:
            return
        while True:
            request = handler.rfile.readline().decode().split()
            if len(request) < 2:
                return
            headers = {}
            while (line := handler.rfile.readline().decode().strip()):
                name, _, value = line.partition(":")
                headers[name.lower()] = value.strip()
            body, more = "", ""
            if request[0] == "OPTIONS":
                more = "Public: OPTIONS, DESCRIBE, SETUP, PLAY, TEARDOWN, GET_PARAMETER\r\n"
            elif request[0] == "DESCRIBE":
                body = self.describe(self.recording_of(script))
                more = f"Content-Base: {self.url}/\r\nContent-Type: application/sdp\r\n"
            elif request[0] == "SETUP":
                more = "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\nSession: 1\r\n"
            elif request[0] == "PLAY":
                more = "Session: 1\r\nRange: npt=now-\r\n"
            handler.wfile.write((f"RTSP/1.0 200 OK\r\nCSeq: {headers.get('cseq', 0)}\r\n{more}Content-Length: {len(body)}\r\n\r\n{body}").encode())
            if request[0] == "PLAY":
                break
        self.sequence = self.random.randrange(65536)
        stamp_origin = self.random.randrange(1 << 32)

        def packet(payload, show, last, share):
            stamp = (stamp_origin + round(show * 90000)) % (1 << 32)
            head = struct.pack(">BBHII", 0x80, 96 | (0x80 if last else 0), self.sequence, stamp, 0x5FF7)
            self.sequence = (self.sequence + 1) % 65536
            if share > 0 and self.random.random() < share:
                return
            handler.wfile.write(b"$\0" + struct.pack(">H", len(head) + len(payload)) + head + payload)

        parameters = [self.recording_of(script).parameters]

        def change(recording):
            parameters[0] = recording.parameters

        def send(decode, show, key, unit, share):
            nals = ([*parameters[0]] if key else []) + list(Recording.nals(unit))
            most = 1400
            for place, nal in enumerate(nals):
                end = place == len(nals) - 1
                if len(nal) <= most:
                    packet(nal, show, end, share)
                    continue
                for at in range(1, len(nal), most):
                    rest = at + most >= len(nal)
                    flags = (0x80 if at == 1 else 0) | (0x40 if rest else 0) | nal[0] & 0x1F
                    packet(bytes((nal[0] & 0x60 | 28, flags)) + nal[at:at + most], show, end and rest, share)

        self.play(script, send, change)
        if script and script[-1] == ("bye",):
            handler.wfile.write(b"$\1" + struct.pack(">HBBHI", 8, 0x81, 203, 1, 0x5FF7))


class HttpCamera(Camera):
    """Live FLV: chunked, without a length."""

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/camera.flv"

    def serve(self, handler):
        script = self.next_script()
        while handler.rfile.readline().strip():
            pass
        if script == [("refuse",)]:
            handler.wfile.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
            return
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\nTransfer-Encoding: chunked\r\n\r\n")

        def chunk(data):
            handler.wfile.write(b"%x\r\n" % len(data) + data + b"\r\n")

        def tag(seconds, key, kind, later, payload):
            ticks = round(1000 * seconds)
            body = bytes(((0x10 if key else 0x20) | 7, kind)) + struct.pack(">i", round(1000 * later))[1:] + payload
            head = b"\x09" + struct.pack(">I", len(body))[1:] + struct.pack(">I", ticks)[1:] + bytes((ticks >> 24 & 255,)) + b"\0\0\0"
            chunk(head + body + struct.pack(">I", len(head) + len(body)))

        chunk(b"FLV\1\1\0\0\0\x09\0\0\0\0")
        last = [0.0]

        def send(decode, show, key, unit, share):
            last[0] = decode
            tag(decode, key, 1, show - decode, unit)

        tag(0, True, 0, 0, self.recording_of(script).config)
        self.play(script, send, lambda recording: tag(last[0], True, 0, 0, recording.config))
        if script and script[-1] == ("bye",):
            handler.wfile.write(b"0\r\n\r\n")


def closed_port():
    """A port on which nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
