#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program submits its training, by kubectl and by curl, to a server of this machine that answers
as the API of a cluster does, over TLS: with a token, with a certificate, and with all that such a
server refuses. Leaves out the one of both that is not there; exits with 77 without openssl or both.

usage: cluster.py PROGRAM
"""
import http.server
import json
import os
import pathlib
import secrets
import shutil
import socket
import ssl
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
from launching import CLEAN, expect, failure, make_certificate, run, watch

TOKEN, USER = secrets.token_hex(16), "ada"
KINDS = ["Job", "NetworkPolicy", "PersistentVolumeClaim", "Service"]


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

    def is_known(self):
        certificate = self.connection.getpeercert()
        names = dict(pair[0] for pair in certificate["subject"]) if certificate else {}
        return (names.get("commonName") == USER
                or self.headers.get("Authorization") == f"Bearer {TOKEN}")

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        if not self.is_known():
            self.refuse(401, "Unauthorized")
        elif self.command == "GET" and path in DISCOVERY:
            self.answer(200, DISCOVERY[path])
        elif self.command == "POST":
            item = json.loads(body)
            name = f"{path}/{item['metadata']['name']}"
            if name in self.objects:
                self.refuse(409, "AlreadyExists")
            else:
                self.objects[name] = item
                self.answer(201, item)
        elif path in self.objects:  # what kubectl changes is not looked at
            self.answer(200, self.objects[path])
        else:
            self.refuse(404, "NotFound")

    do_GET = do_POST = do_PATCH = handle_any


class tls_server(http.server.ThreadingHTTPServer):
    def __init__(self, folder, certificate):
        super().__init__(("127.0.0.1", 0), cluster)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(folder / f"{certificate}.pem", folder / f"{certificate}.key")
        self.context.load_verify_locations(folder / "authority.pem")
        self.context.verify_mode = ssl.CERT_OPTIONAL
        self.address = f"https://localhost:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):
        wrapped = self.context.wrap_socket(request, server_side=True, do_handshake_on_connect=False)
        try:
            wrapped.do_handshake()
        except OSError:
            # The client reads why before the connection ends.
            bare = socket.socket(fileno=wrapped.detach())
            bare.settimeout(10)
            try:
                bare.shutdown(socket.SHUT_WR)
                while bare.recv(4096):
                    pass
            except OSError:
                pass
            bare.close()
            return
        try:
            super().finish_request(wrapped, client_address)
        finally:
            wrapped.close()

    def shutdown_request(self, request):
        try:
            super().shutdown_request(request)
        except OSError:
            pass


def check(program, folder):
    make_certificate(folder, "authority")
    make_certificate(folder, "other")
    make_certificate(folder, "server", "authority")
    make_certificate(folder, "expired", "authority", days=(-3, -1))
    make_certificate(folder, "user", "authority", USER)
    make_certificate(folder, "stranger", "authority", "stranger")
    make_certificate(folder, "old_user", "authority", USER, days=(-3, -1))
    make_certificate(folder, "false_user", "other", USER)
    server, old_server = (tls_server(folder, name) for name in ("server", "expired"))
    # The server has no schemas for kubectl; launcher.py compares with those of Kubernetes.
    commands = folder / "commands"
    commands.mkdir()
    key = (folder / "user.key").read_text().splitlines()[1]

    def submit(token=None, user=None, authority="authority", to=server.address):
        env = {**CLEAN, "HOME": str(folder), "PATH": str(commands),
               "TMPDIR": str(folder / "tmp"), "LAUNCH_TEST_SERVER": to,
               "LAUNCH_TEST_AUTHORITY": f"{authority}.pem", "LAUNCH_TEST_TOKEN_FILE": ""}
        if token is not None:
            (folder / "token").write_text(token)
            env["LAUNCH_TEST_TOKEN_FILE"] = "token"
        if user is not None:
            env.update(LAUNCH_TEST_CERTIFICATE=f"{user}.pem", LAUNCH_TEST_KEY=f"{user}.key")
        done = run([program, "--launch", "kubernetes", "--build", "no"], cwd=folder, env=env)
        shown = done.stdout + done.stderr + json.dumps(cluster.objects)
        for secret in watch.spread(TOKEN, key):
            expect(secret not in shown, "a secret was written")
        expect(not list((folder / "tmp").iterdir()), "files were left")
        return done

    def accepted(**how):
        done = submit(**how)
        made = sorted(item["kind"] for item in cluster.objects.values())
        expect(done.returncode == 0 and made == KINDS,
               f"{how}: expected {KINDS}, found {made}\n{done.stdout}{done.stderr}")

    def refused(words, code=64, **how):
        before = dict(cluster.objects)
        done = submit(**how)
        last = done.stderr.splitlines()[-1]
        expect(done.returncode == code and last.startswith("lamina: launch: https://localhost:")
               and words in last and cluster.objects == before,
               f"{how}: expected {code} and '{words}', found {done.returncode}\n{done.stderr}")

    def submit_all():
        with watch(TOKEN, key):
            accepted(token=TOKEN)
            # The claim, the service and the policy of before stay; a job of before may still run.
            refused("a name that is free", token=TOKEN)
            cluster.objects = {name: item for name, item in cluster.objects.items()
                               if item["kind"] != "Job"}
            accepted(user="user")
            cluster.objects.clear()
            refused("a user that the server knows by token_file", token="wrong")
            refused("a user that the server knows by token_file", user="stranger")
            refused("certificates that client and server trust", user="false_user")
            refused("certificates that are valid today", user="old_user")
            refused("certificates that client and server trust", token=TOKEN, authority="other")
            refused("certificates that are valid today", token=TOKEN, to=old_server.address)
            with socket.socket() as free:
                free.bind(("127.0.0.1", 0))
                refused("try again", 75, token=TOKEN,
                        to=f"https://localhost:{free.getsockname()[1]}")

    (folder / "tmp").mkdir()
    for tool in ("kubectl", "curl"):
        if not shutil.which(tool):
            print(f"test/launch: left out: found no {tool}")
            continue
        for path in commands.iterdir():
            path.unlink()
        (commands / tool).write_text(f'#!/bin/sh\nexec {shutil.which(tool)} "$@"'
                                     + " --validate=false\n" * (tool == "kubectl"))
        (commands / tool).chmod(0o700)
        cluster.objects.clear()
        submit_all()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not (shutil.which("kubectl") or shutil.which("curl")) or not shutil.which("openssl"):
        print("test/launch: skipped: found no kubectl, no curl, or no openssl")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        try:
            check(os.path.abspath(sys.argv[1]), pathlib.Path(name))
        except failure as e:
            sys.exit(f"cluster: {e}")
