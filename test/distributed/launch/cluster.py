#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program submits its training by kubectl to a server of this machine that answers as the API of
a cluster does, over TLS: with the token, a wrong one, a certificate that nobody trusts, a job that
exists. Exits with 77 without kubectl or openssl.

usage: cluster.py PROGRAM
"""
import http.server
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading

TOKEN = "token-that-nobody-may-see"


def kinds(group, *names):
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group,
            "resources": [{"name": f"{name.lower()}s".replace("ys", "ies"), "kind": name,
                           "singularName": name.lower(), "namespaced": True,
                           "verbs": ["create", "get", "list", "patch"]} for name in names]}


GROUPS = {"batch": "Job", "networking.k8s.io": "NetworkPolicy"}
VERSIONS = {group: {"groupVersion": f"{group}/v1", "version": "v1"} for group in GROUPS}
DISCOVERY = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1",
              "groups": [{"name": group, "versions": [version], "preferredVersion": version}
                         for group, version in VERSIONS.items()]},
    "/api/v1": kinds("v1", "Service", "PersistentVolumeClaim"),
    **{f"/apis/{group}/v1": kinds(f"{group}/v1", kind) for group, kind in GROUPS.items()}}


class cluster(http.server.BaseHTTPRequestHandler):
    objects = {}
    is_taken = False  # whether another client makes each object just before this one

    def log_message(self, *_):
        pass

    def answer(self, code, body):
        letters = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(letters)))
        self.end_headers()
        self.wfile.write(letters)

    def refuse(self, code, reason):
        self.answer(code, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                           "message": f"the server says {reason}", "reason": reason, "code": code})

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            self.refuse(401, "Unauthorized")
        elif self.command == "GET" and path in DISCOVERY:
            self.answer(200, DISCOVERY[path])
        elif self.command == "POST" and self.is_taken:
            self.refuse(409, "AlreadyExists")
        elif self.command == "POST":
            item = json.loads(body)
            self.objects[f"{path}/{item['metadata']['name']}"] = item
            self.answer(201, item)
        else:
            self.refuse(404, "NotFound")

    do_GET = do_POST = do_PATCH = handle_any


def make_certificate(folder, name):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                    "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout",
                    f"{name}.key", "-out", f"{name}.pem"], check=True, capture_output=True,
                   cwd=folder)


def check(program, folder):
    make_certificate(folder, "authority")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), cluster)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "authority.pem", folder / "authority.key")
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # The server has no schemas for kubectl; launcher.py compares with those of Kubernetes.
    (folder / "kubectl").write_text(f'#!/bin/sh\nexec {shutil.which("kubectl")} "$@" '
                                    '--validate=false\n')
    (folder / "kubectl").chmod(0o700)

    def submit(token):
        (folder / "token").write_text(token)
        env = {name: value for name, value in os.environ.items()
               if not name.startswith(("OMPI_", "PMI", "SLURM_", "LAMINA_", "KUBERNETES_"))}
        done = subprocess.run([program, "--launch", "kubernetes"], cwd=folder, text=True,
                              capture_output=True, timeout=60,
                              env={**env, "HOME": str(folder),
                                   "PATH": f"{folder}:{os.environ['PATH']}", "LAUNCH_TEST_SERVER":
                                   f"https://localhost:{server.server_address[1]}"})
        if TOKEN in done.stdout + done.stderr + json.dumps(cluster.objects):
            sys.exit("the token was written")
        return done

    done = submit(TOKEN)
    made = sorted(item["kind"] for item in cluster.objects.values())
    if done.returncode != 0 or made != ["Job", "NetworkPolicy", "PersistentVolumeClaim", "Service"]:
        sys.exit(f"expected four objects, found {made}\n{done.stdout}{done.stderr}")
    cluster.objects.clear()

    def refused(what, token, words):
        done = submit(token)
        if done.returncode == 0 or words not in done.stderr or cluster.objects:
            sys.exit(f"{what}: expected '{words}', found {done.returncode} {done.stderr}")

    refused("a wrong token", "wrong", "must be logged in")
    cluster.is_taken = True
    refused("a name that is taken", TOKEN, "AlreadyExists")
    cluster.is_taken = False
    make_certificate(folder, "authority")
    refused("another authority", TOKEN, "certificate")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not (shutil.which("kubectl") and shutil.which("openssl")):
        print("test/distributed/launch: skipped: found not both of kubectl and openssl")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        check(sys.argv[1], pathlib.Path(name))
