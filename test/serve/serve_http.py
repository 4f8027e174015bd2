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
        first = load(programs[1], at, folder, max(requests // 10, 1000), "a.lamina")
        before = at.kilobytes()
        found = load(programs[1], at, folder, requests, "a.lamina")
        after = at.kilobytes()
        require(found["answers"] == requests and found["lost"] == 0, found)
        require(found["right"] == found["codes"]["200"], found)
        require(found["codes"]["400"] > requests // 50 and found["codes"]["413"] > 0, found)
        require(slow or after < before + 1000, "expected no more memory than", before,
                "kB after", first["answers"], "requests, found", after)
        counted = at.metrics()
        for code in ("200", "400", "413"):
            both = first["codes"][code] + found["codes"][code]
            name = f'lamina_requests_total{{code="{code}"}}'
            require(counted[name] == both, "expected", both, "found", name, counted[name])
        require(counted["lamina_batch_rows_sum"] == first["rows"] + found["rows"],
                "expected each row once:", first["rows"] + found["rows"], counted)
        require(counted["lamina_batch_rows_count"] < first["right"] + found["right"],
                "expected mini-batches of several requests, found", counted)
        require(counted["lamina_waiting_requests"] == 0, counted)
        require(at.end() < 8, "expected a quick end")
        print(f"{found['answers']} requests: {found['codes']}, {found['seconds']:.1f} s, "
              f"{after - before} kB more")


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


def check_limits(programs, folder):
    """Bodies and times beyond the limits, and what is no request."""
    with server(programs[0], folder, "--model=a.lamina", "--seconds=0.5", "--idle=1") as at:
        def refused(data, code, text=b"error"):
            found = at.raw(data)
            require(found.startswith(b"HTTP/1.1 %d " % code) and text in found, "expected", code,
                    text, "found", found[:300])
        head = b"POST " + INFER.encode() + b" HTTP/1.1\r\nHost: x\r\n"
        refused(b"nonsense\r\n\r\n", 400)
        refused(b"GET / HTTP/9\r\n\r\n", 400)
        refused(b"GET /" + b"a" * 8000 + b" HTTP/1.1\r\n\r\n", 404)
        refused(b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n\r\n", 414)
        refused(b"POST /v2/models/" + b"a" * 8000 + b"/infer HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
                404)
        refused(b"POST /v2/models/other/infer HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 404,
                b"expected the model digits, found other")
        refused(head + b"\r\n", 411)
        refused(head + b"Content-Length: -1\r\n\r\n", 400)
        refused(head + b"Content-Length: 9999999999999999999999\r\n\r\n", 400)
        refused(head + b"Content-Length: 999999999999\r\n\r\n", 413)
        refused(head + b"Expect: 100-continue\r\nContent-Length: 2000000\r\n\r\n", 413)
        refused(head + b"Content-Length: 100\r\n\r\n{", 408)  # the rest does not come
        refused(head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", 400, b"'inputs'")
        refused(head + b"Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400)
        refused(head + b"Content-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd", 400)
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
