#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example serve_http, as its clients meet it.

Asks it 100,000 requests over several connections, malformed ones among them, and compares all
answers and counts; exchanges its model and ends it while it is asked; sends what no client should;
runs each command `curl` of docs/serving.md.

usage: serve_http.py SERVER HTTP_LOAD [--requests=N] [--slow]
       --slow: for a server with sanitizers, whose memory is not compared and whose times are longer
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "serving.md"
INFER = "/v2/models/digits/infer"
METRIC = re.compile(r'(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+({[a-z]+="[^"]+"})? [0-9.e+-]+)')


class failure(Exception):
    pass


def require(holds, *what):
    if not holds:
        raise failure(" ".join(map(str, what)))


class server:
    """A server at a free port, until the end of a `with`."""

    def __init__(self, program, folder, *flags):
        self.log = (folder / "server.err").open("w+")
        # One heap: with one per thread, memory depends on which threads had large requests.
        self.process = subprocess.Popen([program, "--port=0", *flags], cwd=folder, text=True,
                                        stdout=subprocess.PIPE, stderr=self.log,
                                        env={**os.environ, "MALLOC_ARENA_MAX": "1"})
        line = self.process.stdout.readline()
        require("http://127.0.0.1:" in line, "expected an address, found", line, self.said())
        self.port = int(line.rsplit(":", 1)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def end(self, code=0):
        """Ends it as a service manager does; returns how long it took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        found = self.process.wait(30)
        require(found == code, "expected exit code", code, "found", found, self.said())
        return time.monotonic() - begin

    def ask(self, method, path, body=None, headers={}):
        """Status, headers and body of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def raw(self, data, seconds=10):
        """What comes back for bytes, until the server ends the connection or is silent."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as s:
            s.sendall(data)
            found = b""
            try:
                while piece := s.recv(65536):
                    found += piece
                    if b"Connection: close" not in found and b"}" in found:
                        break
            except ConnectionResetError:
                pass
            return found

    def metrics(self):
        status, headers, body = self.ask("GET", "/metrics")
        require(status == 200 and headers["Content-Type"].startswith("text/plain; version=0.0.4"),
                "expected metrics, found", status, headers)
        found = {}
        for line in body.decode().splitlines():
            require(METRIC.fullmatch(line), "expected a line of metrics, found", line)
            if line[0] != "#":
                name, value = line.rsplit(" ", 1)
                found[name] = float(value)
        return found

    def kilobytes(self):
        text = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", text)[1])


def load(program, at, folder, requests, *files, code=0, connections=8):
    """What http_load counts."""
    done = subprocess.run([program, str(at.port), str(requests), str(connections), *files],
                          cwd=folder, text=True, capture_output=True, timeout=500)
    require(done.returncode == code, "http_load:", done.stdout, done.stderr, at.said())
    return json.loads(done.stdout)


def body_of(rows=1):
    data = [i % 16 for i in range(64 * rows)]
    return json.dumps({"inputs": [{"name": "image", "datatype": "FP32", "shape": [rows, 64],
                                   "data": data}]})


def check_load(programs, folder, requests, slow):
    """Nothing is lost, nothing is computed twice, nothing stays in memory."""
    with server(programs[0], folder, "--model=a.lamina", "--workers=2", "--idle=1",
                "--connections=12") as at:
        done = [load(programs[1], at, folder, max(requests // 10, 1000), "a.lamina")]
        sizes = [at.kilobytes()]
        # Which requests meet decides how much is in use at once, so the memory of a server may grow
        # for a while. What stays of each request grows in every round.
        while len(done) < 2 or not slow and sizes[-1] >= sizes[-2] + 1000:
            require(len(done) < 6, "expected no more memory after a while, found (kB)", sizes,
                    "after", [d["answers"] for d in done], "requests more each")
            found = load(programs[1], at, folder, requests, "a.lamina")
            done.append(found)
            sizes.append(at.kilobytes())
            require(found["answers"] == requests and found["lost"] == 0, found)
            require(found["right"] == found["codes"]["200"], found)
            require(found["codes"]["400"] > requests // 50 and found["codes"]["413"] > 0, found)
        counted = at.metrics()
        for code in ("200", "400", "413"):
            all_of_it = sum(d["codes"][code] for d in done)
            name = f'lamina_requests_total{{code="{code}"}}'
            require(counted[name] == all_of_it, "expected", all_of_it, "found", name, counted[name])
        rows = sum(d["rows"] for d in done)
        require(counted["lamina_batch_rows_sum"] == rows, "expected each row once:", rows, counted)
        require(counted["lamina_batch_rows_count"] < sum(d["right"] for d in done),
                "expected mini-batches of several requests, found", counted)
        require(counted["lamina_waiting_requests"] == 0, counted)
        require(at.end() < 8, "expected a quick end")
        print(f"{found['answers']} requests: {found['codes']}, {found['seconds']:.1f} s, "
              f"{sizes[-1] - sizes[-2]} kB more")


def check_exchange(programs, folder, requests):
    """Each answer is of one model; a damaged file is refused; the server ends while it is asked."""
    shutil.copy(folder / "a.lamina", folder / "served.lamina")
    with server(programs[0], folder, "--model=served.lamina", "--workers=2", "--idle=1") as at:
        ended = threading.Event()
        counted = {}

        def ask():
            try:
                counted.update(load(programs[1], at, folder, 10**9, "a.lamina", "b.lamina"))
            except failure as e:
                counted["failure"] = e
            ended.set()

        asking = threading.Thread(target=ask)
        asking.start()
        for version in range(2, 22):
            new = folder / "new"
            shutil.copy(folder / ("b.lamina" if version % 2 == 0 else "a.lamina"), new)
            os.replace(new, folder / "served.lamina")
            if version % 3 == 0:
                at.process.send_signal(signal.SIGHUP)
                for _ in range(1000):
                    if at.metrics()["lamina_model_version"] == version:
                        break
                    time.sleep(0.005)
                require(at.metrics()["lamina_model_version"] == version, at.said())
            else:
                status, _, body = at.ask("POST", "/v2/repository/models/digits/load", "{}")
                require((status, json.loads(body)) == (200, {"model_version": str(version)}), body)
            whole = (folder / "served.lamina").read_bytes()
            (folder / "served.lamina").write_bytes(
                whole[:1000 * version] + b"x" + whole[1000 * version + 1:])
            status, _, body = at.ask("POST", "/v2/repository/models/digits/load", "{}")
            require(status == 400 and b"damaged" in body, "expected an error, found", status, body)
            require(at.metrics()["lamina_model_version"] == version, "expected the old model")
        require(not ended.is_set(), "expected the load to go on", counted)
        at.end()
        asking.join(60)
        require(ended.is_set() and counted.get("right", 0) > requests, counted)
        require(counted["refused"] > 0 and counted["lost"] == 0, counted)
        print(f"{counted['answers']} requests while models were exchanged and the server ended")


def check_framing(programs, folder):
    """Where a request ends is never a matter of opinion: what is not clear ends the connection, and
    no byte of it is run as a request; what is clear is answered, however it is cut into packets."""
    hidden = (b"POST /v2/repository/models/digits/load HTTP/1.1\r\nHost: a\r\n"
              b"Content-Length: 2\r\n\r\n{}")
    host = b" HTTP/1.1\r\nHost: a\r\n"
    get, post = b"GET /v2/health/live" + host, b"POST " + INFER.encode() + host
    body = body_of().encode()
    length, chunks = b"Content-Length: %d\r\n", b"Transfer-Encoding: chunked\r\n"
    right = post + length % len(body) + b"\r\n" + body

    def chunked(data, size=100, extension=b""):
        parts = [data[i:i + size] for i in range(0, len(data), size)]
        return b"".join(b"%x%s\r\n%s\r\n" % (len(p), extension, p) for p in parts) + b"0\r\n"

    # A head that is refused with a status, whatever follows it.
    unclear = [(400, get + field + b"\r\n") for field in (
        length % 5 + length % 6, length % 5 * 2, b"Content-Length: 5, 5\r\n",
        length % 5 + chunks, chunks + length % 5, b"Content-Length: -1\r\n",
        b"Content-Length: +5\r\n", b"Content-Length: 0x5\r\n", b"Content-Length: 5 5\r\n",
        b"Content-Length:\r\n", b"Content-Length: 5\0\r\n", b"Content-Length: 1e1\r\n",
        b"Content-Length: 99999999999999999999\r\n", b"Content-Length : 5\r\n", chunks * 2,
        b" folded: 5\r\n", b"X: a\r\n  folded\r\n", b"X: a\r\n\tfolded\r\n", b"no colon\r\n",
        b": no name\r\n", b"a b: c\r\n", b"X: \0\r\n", b"X: a\rb\r\n", b"X: a\nY: b\r\n",
        b"Host: b\r\n", b"Content-Type: a\r\nContent-Type: b\r\n")]
    unclear += [(501, get + b"Transfer-Encoding: %s\r\n\r\n" % name) for name in (
        b"identity", b"gzip, chunked", b"chunked, identity", b"chunked, chunked", b"xchunked")]
    unclear += [
        (400, get.replace(b"\r\n", b"\n") + b"\n"), (400, get + b"\n"),
        (400, b"\n" + get + b"\r\n"),
        (400, b"GET /v2 HTTP/1.1\r\n\r\n"), (400, b"GET  /v2" + host + b"\r\n"),
        (400, b"GET /v2\0" + host + b"\r\n"), (400, b"GET /v 2" + host + b"\r\n"),
        (400, b"GET v2" + host + b"\r\n"), (400, b" GET /v2" + host + b"\r\n"),
        (400, b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"), (400, b"GET /v2\r\n\r\n"),
        (400, b"POST /v2 HTTP/1.0\r\n" + chunks + b"\r\n"),
        (405, b"TRACE /v2" + host + b"\r\n"), (405, b"OPTIONS /v2" + host + b"\r\n"),
        (405, b"CONNECT a:80" + host + b"\r\n"), (405, b"PUT /v2" + host + length % 5 + b"\r\n"),
        (505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), (411, post + b"\r\n"),
        (413, get + length % 10**12 + b"\r\n"), (413, post + length % 10**12 + b"\r\n"),
        (417, post + b"Expect: more\r\n" + length % 5 + b"\r\n"),
        (413, post + b"Expect: 100-continue\r\n" + length % 2000000 + b"\r\n"),
        (414, b"GET /" + b"a" * 10**6), (431, get + b"X: " + b"a" * 10**6),
        (431, get + b"X: a\r\n" * 10**5), (431, get + b"X: %s\r\n" % (b"a" * 8000) * 9)]
    unclear += [(400, post + chunks + b"\r\n" + data) for data in (
        b"-1\r\n", b"+2\r\n{}\r\n", b"0x2\r\n{}\r\n", b"\r\n{}\r\n", b" 2\r\n{}\r\n",
        b"2\n{}\r\n", b"2 \r\n{}\r\n", b"2\r\n{}\n", b"2\r\n{}x\r\n", b"1\r\n{}\r\n",
        b"2;a\0\r\n{}\r\n", b"2;a\nb\r\n{}\r\n", b"2;" + b"a" * 2000, b"0\r\nno colon\r\n",
        b"10000000000000000\r\n", b"fffffffffffffffff\r\n")]
    unclear += [(413, post + chunks + b"\r\n" + size + b"\r\n") for size in (
        b"ffffffffffffffff", b"7fffffffffffffff", b"3b9aca00", b"2\r\n{}\r\nfffffffffffffffe")]
    unclear.append((431, post + chunks + b"\r\n0\r\n" + b"X: a\r\n" * 10**4))
    # Requests that are clear, with the statuses of their answers.
    clear = [
        ([200] * 5, (get + b"\r\n") * 5), ([200] * 3, right * 3),
        ([200, 200], b"\r\n" + get + b"\r\n\r\n" + get + b"\r\n"),
        ([200, 200], get + length % len(hidden) + b"\r\n" + hidden + get + b"\r\n"),
        ([200, 200], get + chunks + b"\r\n" + chunked(hidden) + b"\r\n" + get + b"\r\n"),
        ([404, 200],
         b"POST /v2" + host + length % len(hidden) + b"\r\n" + hidden + get + b"\r\n"),
        ([200, 200], post + chunks + b"\r\n" + chunked(body, 1, b";a=b") + b"\r\n" + right),
        ([200, 200], post + chunks.upper() + b"\r\n" + chunked(body) + b"X: a\r\n\r\n" + right),
        ([413, 200], post + length % 2000000 + b"\r\n" + b" " * 2000000 + right),
        ([413, 200], post + chunks + b"\r\n" + chunked(b" " * 2000000, 10**5) + b"\r\n" + right),
        ([400, 200], post + length % 2 + b"Content-Type: application/json\r\n\r\n{}" + right),
        ([200], get + b"Connection: x, Close\r\n\r\n" + hidden),
        ([200], get.replace(b"1.1", b"1.0") + b"\r\n" + hidden),
        ([200, 200], (get.replace(b"1.1", b"1.0") + b"Connection: Keep-Alive\r\n\r\n") * 2),
        ([200, 200], get.replace(b"/v2", b"http://a/v2") + b"\r\n" + get + b"\r\n"),
        ([200, 404], b"HEAD /v2" + host + b"\r\n" + b"GET /other" + host + b"\r\n"),
        ([200], get + b"Range: bytes=" + b",".join([b"0-"] * 1500) + b"\r\n\r\n"),
        ([200], get + b"Range: bytes=5-1\r\n\r\n"),
        ([200], get + b"Upgrade: h2c\r\nHTTP2-Settings: a\r\nConnection: upgrade\r\n\r\n")]

    with server(programs[0], folder, "--model=a.lamina", "--seconds=2", "--idle=1") as at:
        def talk(data, *, half_closed, piece=1 << 20, pause=0.0):
            """The statuses of all answers until the server ends the connection, and all bytes."""
            with socket.create_connection(("127.0.0.1", at.port), timeout=15) as s:
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                found = b""
                try:
                    for i in range(0, len(data), piece):
                        s.sendall(data[i:i + piece])
                        time.sleep(pause)
                    if half_closed:
                        s.shutdown(socket.SHUT_WR)
                except OSError:
                    pass  # an answer that came before the end is there all the same
                try:
                    while more := s.recv(1 << 16):
                        found += more
                except ConnectionResetError:
                    pass
            return [int(n) for n in re.findall(rb"(?:^|\}|\r\n\r\n)HTTP/1\.1 (\d+) ", found)], found

        for status, data in unclear:
            found, text = talk(data + hidden, half_closed=False)
            require(found == [status] and b"Connection: close" in text,
                    "expected", status, "and the end for", data[-100:], "found", text[:2000])
        for statuses, data in clear:
            for piece, pause in ((1 << 20, 0), (97 if len(data) < 10000 else 10**5, 0.002)):
                found, text = talk(data, half_closed=True, piece=piece, pause=pause)
                require(found == statuses and len(text) < 5000, "expected", statuses, "for",
                        data[:300], "found", text[:2000])
        found, text = talk(b"HEAD /v2/health/live" + host + b"\r\n", half_closed=True)
        require(text.endswith(b"\r\n\r\n"), "expected no body for HEAD, found", text)
        for cut in (1, 10, len(get)):  # a client that ends within its head
            found, text = talk(get[:cut], half_closed=True)
            require(found == [400], cut, text)
        found, text = talk(right[:-1], half_closed=True)
        require(found == [400] and b"the whole body" in text, text)
        # 100 Continue comes once, before the body, and only to those that wait for it.
        with socket.create_connection(("127.0.0.1", at.port), timeout=10) as s:
            s.sendall(post + b"expect: 100-Continue\r\n" + length % len(body) + b"\r\n")
            found = s.recv(1000)
            require(found == b"HTTP/1.1 100 Continue\r\n\r\n", found)
            s.sendall(body)
            require(s.recv(1000).startswith(b"HTTP/1.1 200 "), "expected an answer")
        version = at.metrics()["lamina_model_version"]
        require(version == 1, "expected that no hidden request was run, found version", version)

        # Data that is nested in another way than its shape says.
        row, empty = list(range(64)), []
        for shape, data, status in (
                ([2, 64], [row, row], 200), ([2, 64], row + row, 200), ([1, 64], [row], 200),
                ([2, 64], [row + row], 400), ([2, 64], [row, row[:-1]], 400),
                ([2, 64], [row[:-1], row + [1]], 400), ([2, 64], [[row, row]], 400),
                ([2, 64], [row, *row], 400), ([2, 64], [*row, row], 400),
                ([1, 64], [[x] for x in row], 400), ([2, 64], [row, row, empty], 400),
                ([1, 64], [[[x] for x in row]], 400), ([1, 64], empty, 400)):
            code, _, text = at.ask("POST", INFER, json.dumps({"inputs": [
                {"name": "image", "datatype": "FP32", "shape": shape, "data": data}]}))
            require(code == status, "expected", status, "for", shape, data, "found", code, text)
        require(at.end() < 5, "expected a quick end")
    print(f"{len(unclear)} requests that are unclear, {2 * len(clear)} that are clear")


def check_slow(programs, folder):
    """Clients that send their heads byte by byte, or nothing, hold nobody up for long."""
    with server(programs[0], folder, "--model=a.lamina", "--connections=4", "--seconds=0.5",
                "--idle=1", "--drain=0.5") as at:
        ends = threading.Event()

        def drip(s):
            while not ends.wait(0.05):
                try:
                    s.sendall(b"b")
                except OSError:
                    return

        def slow(count, begin=b"GET /v2 HTTP/1.1\r\nHost: a\r\nX: "):
            made = []
            for _ in range(count):
                made.append(socket.create_connection(("127.0.0.1", at.port), timeout=20))
                if begin:
                    made[-1].sendall(begin)
                    threading.Thread(target=drip, args=(made[-1],), daemon=True).start()
            return made

        first = slow(8)
        begin = time.monotonic()
        require(at.ask("GET", "/v2/health/live")[0] == 200, "expected an answer")
        require(time.monotonic() - begin < 10, "expected that slow heads end, waited",
                time.monotonic() - begin)
        require(first[0].recv(100).startswith(b"HTTP/1.1 408 "), "expected 408")
        kept = slow(4) + slow(200, b"")  # and connections that wait for a thread
        time.sleep(0.2)
        took = at.end()
        require(took < 5, "expected the end within the time of --drain, it took", took)
        ends.set()
        for s in first + kept:
            s.close()


def check_limits(programs, folder):
    """Bodies and times beyond the limits, and what is no request."""
    with server(programs[0], folder, "--model=a.lamina", "--seconds=0.5", "--idle=1") as at:
        def refused(data, code, text=b"error"):
            found = at.raw(data)
            codes = code if isinstance(code, tuple) else (code,)
            require(any(found.startswith(b"HTTP/1.1 %d " % c) for c in codes) and text in found,
                    "expected", code, text, "found", found[:300])
        head = b"POST " + INFER.encode() + b" HTTP/1.1\r\nHost: x\r\n"
        end = b" HTTP/1.1\r\nHost: x\r\n"
        refused(b"nonsense\r\n\r\n", 400)
        refused(b"GET / HTTP/9\r\n\r\n", 400)
        refused(b"GET /" + b"a" * 8000 + end + b"\r\n", 404)
        refused(b"GET /" + b"a" * 9000 + end + b"\r\n", 414)
        refused(b"POST /v2/models/" + b"a" * 8000 + b"/infer" + end + b"Content-Length: 0\r\n\r\n",
                404)
        refused(b"POST /v2/models/other/infer" + end + b"Content-Length: 0\r\n\r\n", 404,
                b"expected the model digits, found other")
        refused(head + b"\r\n", 411)
        refused(head + b"Content-Length: -1\r\n\r\n", 400)
        refused(head + b"Content-Length: 9999999999999999999999\r\n\r\n", 400)
        refused(head + b"Content-Length: 999999999999\r\n\r\n", 413)
        refused(head + b"Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n", 413)
        refused(head + b"Content-Length: 100\r\n\r\n{", 408)  # the rest does not come
        refused(head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400, b"'inputs'")
        refused(head + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400)
        # 415: a cpp-httplib without zlib
        refused(head + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd", (400, 415))
        deep = b'{"inputs":' + b"[" * 400000 + b"]" * 400000 + b"}"
        refused(head + b"Content-Length: %d\r\n\r\n" % len(deep) + deep, 400, b"in each other")
        form = b"--b\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--b--\r\n"
        refused(head + b"Content-Type: multipart/form-data; boundary=b\r\n"
                b"Content-Length: %d\r\n\r\n" % len(form) + form, 415)
        # A body that drips, with each byte in time but not the whole.
        with socket.create_connection(("127.0.0.1", at.port), timeout=10) as s:
            s.sendall(head + b"Content-Length: 100\r\n\r\n")
            try:
                for _ in range(20):
                    s.sendall(b" ")
                    time.sleep(0.05)
            except (BrokenPipeError, ConnectionResetError):
                pass
            found = s.recv(1000)
            require(found.startswith(b"HTTP/1.1 408 "), found)
        with socket.create_connection(("127.0.0.1", at.port), timeout=10) as s:
            require(s.recv(10) == b"", "expected the end of an idle connection")
        status, _, body = at.ask("POST", INFER, body_of(64), {"Content-Type": "application/json"})
        require(status == 200 and json.loads(body)["outputs"][0]["shape"] == [64, 10], status)
        status, _, body = at.ask("POST", INFER, body_of(65))
        require(status == 400 and b"1 to 64 samples, found 65" in body, status, body)
        status, _, body = at.ask("GET", "/v2/models/other")
        require(status == 404 and b"expected the model digits, found other" in body, body)
        second = subprocess.run([programs[0], f"--port={at.port}", "--model=a.lamina"], cwd=folder,
                                text=True, capture_output=True, timeout=60)
        require(second.returncode == 1 and "cannot serve at" in second.stderr, second)
        at.end()
    for flags, text in ((["--model=no.lamina"], "no.lamina"), (["--rows=0"], "--rows")):
        bad = subprocess.run([programs[0], *flags], cwd=folder, text=True, capture_output=True,
                             timeout=60)
        require(bad.returncode != 0 and text in bad.stderr, flags, bad)


def check_busy(programs, folder):
    """More requests than may wait, and one that is not answered in time."""
    with server(programs[0], folder, "--model=a.lamina", "--waiting=2", "--linger=400000",
                "--seconds=5") as at:
        found = []

        def ask():
            status, headers, _ = at.ask("POST", INFER, body_of())
            found.append((status, headers["Retry-After"]))

        threads = [threading.Thread(target=ask) for _ in range(6)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        require(sorted(found) == [(200, None)] * 2 + [(503, "1")] * 4, found)
        at.end()
    with server(programs[0], folder, "--model=a.lamina", "--linger=400000", "--seconds=0.1") as at:
        status, _, body = at.ask("POST", INFER, body_of())
        require(status == 504 and b"in time" in body, status, body)
        at.end()


def check_grace(programs, folder):
    """For some time after SIGTERM the server answers, and says that it is not ready."""
    with server(programs[0], folder, "--model=a.lamina", "--grace=0.5") as at:
        require(at.ask("GET", "/v2/health/ready")[0] == 200, "expected a server that is ready")
        at.process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
        status, headers, _ = at.ask("GET", "/v2/health/ready")
        require((status, headers["Connection"]) == (503, "close"), status, headers)
        status, headers, _ = at.ask("POST", INFER, body_of())
        require((status, headers["Connection"]) == (200, "close"), status, headers)
        require(at.process.wait(20) == 0, at.said())


def check_page(programs, folder):
    """Each command `curl` of the page, at another port."""
    commands = re.findall(r"^curl (?:.*\\\n)*.*$", PAGE.read_text(), re.M)
    require(len(commands) >= 5, "expected commands in", PAGE, "found", commands)
    if shutil.which("curl") is None:
        print("left out the commands of the page: found no curl")
        return
    with server(programs[0], folder, "--model=a.lamina") as at:
        (folder / "digit.bin").write_bytes(bytes(256))
        for command in commands:
            done = subprocess.run(["bash", "-c", command.replace(":8080", f":{at.port}").replace(
                "curl ", "curl --silent --show-error --fail-with-body ")], cwd=folder, text=True,
                capture_output=True, timeout=60, errors="replace")
            require(done.returncode == 0 and done.stdout, command, done)
        at.end()
        print(f"{len(commands)} commands of the page")


def main():
    arguments = [a for a in sys.argv[1:] if not a.startswith("--")]
    slow = "--slow" in sys.argv
    requests = 100_000
    for a in sys.argv[1:]:
        if a.startswith("--requests="):
            requests = int(a.split("=")[1])
    if len(arguments) != 2:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            for file, seed in (("a.lamina", 1), ("b.lamina", 2)):
                subprocess.run([arguments[0], f"--train={file}", "--passes=2", f"--seed={seed}"],
                               cwd=folder, check=True, timeout=300)
            check_framing(arguments, folder)
            check_slow(arguments, folder)
            check_limits(arguments, folder)
            check_busy(arguments, folder)
            check_grace(arguments, folder)
            check_page(arguments, folder)
            check_exchange(arguments, folder, 200)
            check_load(arguments, folder, requests, slow)
        except failure as e:
            print(f"serve_http.py: {e}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
