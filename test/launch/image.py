#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program puts itself into an image, pushes it and submits a job that runs it.

 tools     with programs in the place of buildah, podman, docker and kubectl: which is taken, what
           they are given, what is in the folder of the image, and what their failures become
 registry  buildah builds the image without a daemon, a registry of this machine asks for a password
           over TLS, and what is pulled from there runs in two processes; a wrong password, and
           certificates of others. Exits with 77 without buildah, openssl, perl, MPICH or
           docker-registry (by apt, to FOLDER), and where buildah can make no container.
 system    the same with a Debian that debootstrap installs (or that lies in LAMINA_TEST_DEBIAN),
           for each MPI, and with processes that ssh starts; takes minutes and is not a part of
           ctest

usage: image.py PROGRAM FOLDER {tools,registry,system}
"""
import base64
import gzip
import json
import os
import pathlib
import re
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from launching import CLEAN, expect, failure, make_certificate, must_run, run, watch

TOKEN = secrets.token_hex(16)
DIGEST = "sha256:" + "0123456789abcdef" * 4

# A tool that records its words and files, and answers as $STDERR_OF_* and $CODE_OF_* say.
TOOL = f"""#!/bin/sh
verb=; config=; authfile=; certs=; digest=; file=
if [ "$1" = --config ]; then config=$2; shift 2; fi
verb=$1; shift
while [ $# -gt 0 ]; do
  case "$1" in
    --authfile) authfile=$2; shift;; --cert-dir) certs=$2; shift;;
    --digestfile) digest=$2; shift;; --file) file=$2; shift;; --tag) tag=$2; shift;;
    --tls-verify=true) verified=yes;; *) last=$1;;
  esac
  shift
done
[ -z "$config" ] || authfile=$config/config.json
{{ echo "${{0##*/}} $verb $tag $last"; [ -z "$verified" ] || echo verified
  [ -z "$certs" ] || echo "trusts $SSL_CERT_FILE: $(cat "$certs/ca.crt")"; }} >> "$RECORD"
if [ -n "$authfile" ]; then
  stat -c %a "$authfile" "${{authfile%/*}}" >> "$RECORD"; cp "$authfile" "$RECORD.$verb.auth"
fi
if [ "$verb" = build ]; then
  cp -r "$last" "$RECORD.context"; cp "$file" "$RECORD.containerfile"; eval "code=$CODE_OF_build"
  printf '%s\\n' "$STDERR_OF_build" >&2
else
  [ -z "$WAIT_OF_push" ] || sleep "$WAIT_OF_push"
  printf '%s\\n' "$STDERR_OF_push" >&2; code=$CODE_OF_push
  if [ "${{0##*/}}" = docker ]; then echo "1: digest: {DIGEST} size: 1"
  else printf '{DIGEST}' > "$digest"; fi
fi
exit ${{code:-0}}
"""
KUBECTL = """#!/bin/sh
echo "kubectl $*" >> "$RECORD"
cat >> "$RECORD.objects"
"""


class doubles:
    """A folder with tools that record; `launch` runs the program with it in front of PATH."""

    def __init__(self, program, folder, *tools):
        self.program, self.here = program, pathlib.Path(folder)
        self.commands = self.here / "commands"
        self.commands.mkdir()
        for tool in ("buildah", "podman", "docker", "kubectl"):
            if tool == "kubectl" or tool in tools:
                self.add(tool)
        # The shell's own commands, without the tools of this machine.
        for name in ("sh", "cat", "cp", "stat", "sleep"):
            (self.commands / name).symlink_to(shutil.which(name))
        (self.here / "tmp").mkdir()
        (self.here / "token").write_text(TOKEN + "\n")
        (self.here / "ca.pem").write_text("the authority")

    def add(self, tool):
        (self.commands / tool).write_text(KUBECTL if tool == "kubectl" else TOOL)
        (self.commands / tool).chmod(stat.S_IRWXU)

    def environment(self, options):
        env = {"PATH": str(self.commands), "HOME": str(self.here), "TMPDIR": str(self.here / "tmp"),
               "RECORD": str(self.here / "record")}
        return {**env, **{name: str(value) for name, value in options.items()}}

    def launch(self, *arguments, **options):
        for path in self.here.glob("record*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        done = run([self.program, "--launch", "kubernetes", *arguments], cwd=self.here,
                   env=self.environment(options))
        expect(TOKEN not in done.stdout + done.stderr, "the token was written")
        expect(not list((self.here / "tmp").iterdir()), "files were left")
        return done

    def read(self, name=""):
        path = self.here / ("record" + name)
        return path.read_text() if path.exists() else ""


REGISTRY = {"LAUNCH_TEST_REGISTRY_USER": "ada", "LAUNCH_TEST_REGISTRY_TOKEN_FILE": "token",
            "LAUNCH_TEST_REGISTRY_AUTHORITY": "ca.pem"}
IMAGE = "registry.example/user/trainer:1"


def check_each_tool(program, folder):
    for tool in ("buildah", "podman", "docker"):
        place = folder / tool
        place.mkdir()
        d = doubles(program, place, tool)
        # docker's daemon reads the authority itself: on another machine this is not looked at.
        done = d.launch(**REGISTRY, DOCKER_HOST="tcp://elsewhere:2376")
        expect(done.returncode == 0, f"{tool}: {done}")
        lines = d.read().splitlines()
        expect(lines[0].startswith(f"{tool} build {IMAGE} ") and "verified" not in lines[:2],
               f"{tool}: {lines}")
        pushed = IMAGE if tool == "docker" else f"docker://{IMAGE}"
        expect(f"{tool} push  {pushed}" in lines and "600" in lines and "700" in lines,
               f"{tool}: {lines}")
        if tool != "docker":
            trusted = [line for line in lines if line.startswith("trusts ")]
            expect("verified" in lines and len(trusted) == 1
                   and re.fullmatch(r"trusts /\S+/ca.crt: the authority", trusted[0]),
                   f"{tool}: {lines}")
        auth = json.loads(d.read(".push.auth"))["auths"]
        expect({host: base64.b64decode(value["auth"]).decode() for host, value in auth.items()}
               == {"registry.example": f"ada:{TOKEN}"}, f"{tool}: another password")
        # The password is for its own registry: the base is in another.
        expect(d.read(".build.auth") == "", f"{tool}: a password for the base image")
        expect([line.split()[2] for line in lines if line.startswith("kubectl")]
               == ["apply", "create"], f"{tool}: {lines}")
        # The pods run what was pushed, not what the name meant before.
        images = re.findall(r'"image": "([^"]*)"', d.read(".objects"))
        expect(images == [f"{IMAGE}@{DIGEST}"], f"{tool}: {images}")
        context = d.here / "record.context"
        for path in context.rglob("*"):
            expect(not path.is_file() or TOKEN.encode() not in path.read_bytes(), f"{path}: token")
        expect((context / "root/usr/local/bin/trainer").read_bytes()
               == pathlib.Path(program).read_bytes(), "another program")
        expect(d.read(".containerfile").splitlines()[-2] == "USER 1000:1000", "root")


def check_choice(program, folder):
    d = doubles(program, folder, "podman", "docker")
    expect(d.launch().returncode == 0 and d.read().startswith("podman build"), d.read())
    d.add("buildah")
    expect(d.launch().returncode == 0 and d.read().startswith("buildah build"), d.read())
    for variable in ("LAMINA_IMAGE_TOOL", "LAUNCH_TEST_IMAGE_TOOL"):
        for named in ("docker", d.commands / "podman"):
            done = d.launch(**{variable: named})
            expect(done.returncode == 0
                   and d.read().startswith(f"{pathlib.Path(named).name} build"), d.read())
        for named in ("kaniko", "/nowhere/docker"):
            done = d.launch(**{variable: named})
            expect(done.returncode == 64 and "image_tool: expected" in done.stderr, f"{done}")
    for tool in ("buildah", "podman", "docker"):
        (d.commands / tool).unlink()
    done = d.launch()
    expect(done.returncode == 64 and "buildah, podman and docker" in done.stderr and not d.read(),
           f"{done}")
    done = d.launch("--build", "auto")
    expect(done.returncode == 0 and "is not built" in done.stderr
           and f'"image": "{IMAGE}"' in d.read(".objects"), f"{done}")
    d.add("docker")
    expect(d.launch("--build=no").returncode == 0 and "docker" not in d.read(), d.read())
    expect(d.launch("--build=auto").returncode == 0 and "docker push" in d.read(), d.read())
    # docker's daemon has to know the authority.
    done = d.launch(**REGISTRY)
    expect(done.returncode == 64 and "/etc/docker/certs.d/registry.example/ca.crt" in done.stderr,
           f"{done}")
    # A configuration with passwords in place of a user and a token.
    (d.here / "config.json").write_text('{"auths": {}}')
    done = d.launch(LAUNCH_TEST_REGISTRY_AUTH_FILE="config.json")
    expect(done.returncode == 0 and d.read(".push.auth") == '{"auths": {}}', f"{done}")
    (d.commands / "kubectl").unlink()
    done = d.launch()
    expect(done.returncode == 64 and "the command kubectl" in done.stderr and not d.read(),
           f"{done}: nothing is built for a job that cannot be submitted")
    done = d.launch("--dry-run")
    expect(done.returncode == 0 and "FROM " in done.stderr and json.loads(done.stdout)["items"]
           and not d.read(), f"{done}")


def check_files(program, folder):
    d = doubles(program, folder, "buildah")
    data = d.here / "data"
    (data / "deep").mkdir(parents=True)
    (data / "deep/words.txt").write_text("one two")
    (data / "run.sh").write_text("#!/bin/sh\n")
    (data / "run.sh").chmod(0o700)
    root = d.here / "record.context/root"
    expect(d.launch(LAUNCH_TEST_FILE="data").returncode == 0
           and (root / "app/data/deep/words.txt").read_text() == "one two"
           and (root / "app/data/deep/words.txt").stat().st_mode & 0o777 == 0o644
           and (root / "app/data/run.sh").stat().st_mode & 0o777 == 0o755
           and (root / "app/data").stat().st_mode & 0o777 == 0o755, "files in /app")
    expect(d.launch(LAUNCH_TEST_FILE="data/deep/words.txt:/srv/w").returncode == 0
           and (root / "srv/w").read_text() == "one two", "a file with a place")
    for wrong, words in (("nothing", "a file or folder"), ("../x", "files: expected PATH"),
                         ("data:/", "files: expected a place"), (":x", "files: expected PATH")):
        done = d.launch(LAUNCH_TEST_FILE=wrong)
        expect(done.returncode == 64 and words in done.stderr and not d.read(), f"{wrong}: {done}")
    # A secret of the job, also behind a link and in a folder.
    (data / "link").symlink_to(d.here / "token")
    for name in ("token", "data"):
        done = d.launch(LAUNCH_TEST_FILE=name, **REGISTRY)
        expect(done.returncode == 64 and "no secrets in an image" in done.stderr and not d.read(),
               f"{done}")
    for text, words in (("", "a token in the file"), (None, "a file that can be read")):
        (d.here / "token").unlink()
        if text is not None:
            (d.here / "token").write_text(text)
        done = d.launch(**REGISTRY)
        expect(done.returncode == 64 and words in done.stderr and "push" not in d.read(), f"{done}")
        (d.here / "token").write_text(TOKEN)


FAILURES = (
    ("x509: certificate has expired or is not yet valid", 64, "valid today"),
    ("x509: certificate signed by unknown authority", 64, "that client and server trust"),
    ("unauthorized: authentication required", 64, "registry_user and registry_token_file"),
    ("denied: requested access to the resource is denied", 64, "who may do this"),
    ("dial tcp 127.0.0.1:1: connect: connection refused", 75, "try again"),
    ("lookup registry.example: no such host", 75, "try again"),
    ("something else", 125, "exit code 125"))


def check_failures(program, folder):
    d = doubles(program, folder, "buildah")
    for step in ("build", "push"):
        for said, code, words in FAILURES:
            done = d.launch(**{f"STDERR_OF_{step}": f"Error: {said}", f"CODE_OF_{step}": 125})
            last = done.stderr.splitlines()[-1]
            expect(done.returncode == code and last.startswith(f"lamina: launch: docker_{step}: ")
                   and words in last and "kubectl" not in d.read(), f"{step}: {said}: {done}")
    # A launcher that is told to end removes the password first.
    for number in (signal.SIGTERM, signal.SIGHUP):
        for path in d.here.glob("record*"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        launcher = subprocess.Popen([program, "--launch", "kubernetes"], cwd=d.here,
                                    env=d.environment({**REGISTRY, "WAIT_OF_push": 100}),
                                    stderr=subprocess.PIPE, text=True,  # nohup ignores SIGHUP
                                    preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))
        while not d.read(".push.auth"):
            time.sleep(0.01)
        launcher.send_signal(number)
        said = launcher.communicate(timeout=60)[1]
        expect(launcher.returncode not in (0, -number) and not list((d.here / "tmp").iterdir()),
               f"{number}: {launcher.returncode} {said}")


def tools(program, folder, _):
    with watch(TOKEN):
        for step in (check_each_tool, check_choice, check_files, check_failures):
            place = folder / step.__name__
            place.mkdir()
            step(program, place)


def find_registry(kept):
    """The path of docker-registry, from Debian's package, which is not installed: it would start a
    service."""
    if found := shutil.which("docker-registry"):
        return found
    found = kept / "usr/bin/docker-registry"
    if not found.exists() and shutil.which("apt-get") and shutil.which("dpkg"):
        kept.mkdir(parents=True, exist_ok=True)
        run(["apt-get", "-qq", "download", "docker-registry"], cwd=kept)
        for package in kept.glob("docker-registry_*.deb"):
            run(["dpkg", "-x", package, kept])
    if not found.exists():
        print("test/launch: skipped: found no docker-registry, and apt has none")
        sys.exit(77)
    return found


class registry:
    """docker-registry on a port of this machine, with a password, over TLS."""

    def __init__(self, command, folder, certificate):
        self.data = folder / f"{certificate}.data"
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        # bcrypt, which perl has from libcrypt; the password is not among its words.
        script = 'chomp($_ = <STDIN>); print "ada:" . crypt($_, "\\$2y\\$05\\$" . "a" x 22) . "\\n"'
        (folder / "passwords").write_text(must_run(["perl", "-e", script], input=TOKEN + "\n"))
        (folder / f"{certificate}.yml").write_text(json.dumps({
            "version": "0.1", "log": {"level": "warn"},
            "storage": {"filesystem": {"rootdirectory": str(self.data)}},
            "http": {"addr": f"127.0.0.1:{port}",
                     "tls": {"certificate": str(folder / f"{certificate}.pem"),
                             "key": str(folder / f"{certificate}.key")}},
            "auth": {"htpasswd": {"realm": "test", "path": str(folder / "passwords")}}}))
        self.host = f"localhost:{port}"
        self.log = (folder / f"{certificate}.log").open("w")
        self.process = subprocess.Popen([command, "serve", folder / f"{certificate}.yml"],
                                        env=CLEAN, stdout=self.log, stderr=self.log)
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise failure("docker-registry does not answer")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.log.close()


def libraries_of(*commands):
    found = set(commands)
    for command in commands:
        found |= set(re.findall(r"(/\S+) \(0x", must_run(["ldd", command])))
    return sorted(found)


class builder:
    """buildah with a store of its own, and a launcher that uses it."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        (folder / "tmp").mkdir(exist_ok=True)
        (folder / "storage.conf").write_text(
            f'[storage]\ndriver = "vfs"\nrunroot = "{folder}/run"\ngraphroot = "{folder}/store"\n')
        # kubectl as a program that keeps what it is given.
        commands = folder / "commands"
        commands.mkdir(exist_ok=True)
        (commands / "kubectl").write_text(KUBECTL)
        (commands / "kubectl").chmod(stat.S_IRWXU)
        self.env = {**CLEAN, "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
                    "STORAGE_DRIVER": "vfs", "BUILDAH_ISOLATION": "chroot", "HOME": str(folder),
                    "LAMINA_IMAGE_TOOL": "buildah", "TMPDIR": str(folder / "tmp"),
                    "RECORD": str(folder / "record"),
                    "PATH": f"{commands}:{os.environ['PATH']}"}

    def run(self, *words, **options):
        return run(["buildah", *words], **{"env": self.env, "cwd": self.folder, **options})

    def must_run(self, *words, **options):
        return must_run(["buildah", *words], **{"env": self.env, "cwd": self.folder, **options})

    def launch(self, host, *arguments, token="token", authority="authority", **options):
        (self.folder / "record.objects").unlink(missing_ok=True)
        done = run([self.program, "--launch", "kubernetes", "--image", f"{host}/user/trainer:1",
                    *arguments], cwd=self.folder,
                   env={**self.env, "LAUNCH_TEST_REGISTRY_USER": "ada",
                        "LAUNCH_TEST_REGISTRY_TOKEN_FILE": token,
                        "LAUNCH_TEST_REGISTRY_AUTHORITY": f"{authority}.pem", **options})
        for secret in watch.spread(TOKEN):
            expect(secret not in done.stdout + done.stderr, "the token was written")
        return done

    def image(self, host):
        found = re.findall(r'"image": "([^"]*)"', (self.folder / "record.objects").read_text())
        # An MPIJob names it twice.
        expect(len(set(found)) == 1 and re.fullmatch(re.escape(f"{host}/user/trainer:1")
                                                + "@sha256:[0-9a-f]{64}", found[0]), f"{found}")
        return found[0]

    def pull_and_run(self, host, *words, options=()):
        """Runs a command in a container of the image that the job names, pulled anew."""
        image = self.image(host).replace(":1@", "@")
        self.must_run("rmi", "--all", "--force")
        (self.folder / "auth").mkdir(exist_ok=True)
        (self.folder / "auth/ca.crt").write_bytes((self.folder / "authority.pem").read_bytes())
        container = self.must_run(
            "from", "--pull-always", "--cert-dir", self.folder / "auth", "--authfile",
            self.folder / "auth.json", f"docker://{image}").split()[-1]
        expect(json.loads(self.must_run("inspect", container))["OCIv1"]["config"]["User"]
               == "1000:1000", "another user")
        done = self.must_run("run", *options, container, "--", *words)
        self.must_run("rm", container)
        return done


def make_secrets(folder):
    make_certificate(folder, "authority")
    make_certificate(folder, "other")
    make_certificate(folder, "server", "authority")
    make_certificate(folder, "expired", "authority", days=(-3, -1))
    (folder / "token").write_text(TOKEN + "\n")
    (folder / "wrong").write_text("another\n")


def expect_no_secret(*folders):
    for folder in folders:
        for path in folder.rglob("*"):
            if not path.is_file() or path.is_symlink():
                continue
            data = path.read_bytes()
            if data[:2] == b"\x1f\x8b":
                data = gzip.decompress(data)
            for secret in watch.spread(TOKEN, f"ada:{TOKEN}"):
                expect(secret.encode() not in data, f"{path}: the token")


RANKS = ["sh", "-c", "read -r _ < /proc/self/status; LAMINA_ROLE=trainer exec mpiexec.hydra -n 2 "
                     "/usr/local/bin/trainer \"$@\"", "sh", "a b"]
SAID = ["rank 0 [a b]", "rank 1 [a b]"]


def registry_of_this_machine(program, folder, kept):
    command = find_registry(kept)
    make_secrets(folder)
    b = builder(program, folder)
    with registry(command, folder, "server") as r:
        (folder / "auth.json").write_text(json.dumps({"auths": {r.host: {
            "auth": base64.b64encode(f"ada:{TOKEN}".encode()).decode()}}}))
        # A base with a shell and MPICH, of this machine's files.
        base = folder / "base"
        for path in libraries_of(*(shutil.which(name) for name in (
                "dash", "mpiexec.hydra", "hydra_pmi_proxy"))):
            place = base / "root" / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
        (base / "root/bin").mkdir(exist_ok=True)
        (base / "root/tmp").mkdir()
        (base / "root/bin/sh").symlink_to(shutil.which("dash"))
        (base / "Containerfile").write_text("FROM scratch\nCOPY root/ /\nENV PATH=/usr/bin:/bin\n"
                                            "RUN test -x /bin/sh\n")
        done = b.run("build", "--tag", f"{r.host}/base/mpich:1", "--file", base / "Containerfile",
                     base)
        if done.returncode != 0:
            print("test/launch: skipped: this machine lets buildah make no container:\n"
                  + done.stderr)
            sys.exit(77)
        (folder / "auth").mkdir()
        (folder / "auth/ca.crt").write_bytes((folder / "authority.pem").read_bytes())
        b.must_run("push", "--cert-dir", folder / "auth", "--authfile", folder / "auth.json",
                   f"{r.host}/base/mpich:1")
        b.must_run("rmi", "--all", "--force")
        mpich = ["--base-image", f"{r.host}/base/mpich:1"]

        with watch(TOKEN):
            done = b.launch(r.host, *mpich)
            expect(done.returncode == 0, f"{done.stdout}{done.stderr}")
            said = b.pull_and_run(r.host, *RANKS)
            expect(sorted(said.splitlines()) == SAID, f"{said}")
            # A program that is alone in its image.
            done = b.launch(r.host, "--base-image", "scratch")
            expect(done.returncode == 0, f"{done.stdout}{done.stderr}")
            said = b.pull_and_run(r.host, "/usr/local/bin/trainer", "--launch", "local",
                                  "--dry-run")
            expect(said == "mpirun -n 3 /usr/local/bin/trainer\n", said)
            # An image that could not start is not pushed.
            done = b.launch(r.host, *mpich, "--kind", "MPIJob")
            expect(done.returncode != 0 and "kind MPIJob: expected the command mpirun"
                   in done.stderr and "docker_build" in done.stderr.splitlines()[-1], done.stderr)
            for words, code, host, options in (
                    ("registry_user and registry_token_file", 64, r.host, {"token": "wrong"}),
                    ("that client and server trust", 64, r.host, {"authority": "other"})):
                done = b.launch(host, "--base-image", "scratch", **options)
                expect(done.returncode == code and words in done.stderr.splitlines()[-1]
                       and not (folder / "record.objects").exists(), f"{options}: {done.stderr}")
        address = r.host
    with watch(TOKEN):
        done = b.launch(address, "--base-image", "scratch")
        expect(done.returncode == 75 and "try again" in done.stderr.splitlines()[-1], done.stderr)
        with registry(command, folder, "expired") as old:
            done = b.launch(old.host, "--base-image", "scratch")
            expect(done.returncode == 64 and "valid today" in done.stderr.splitlines()[-1],
                   done.stderr)
    expect(not list((folder / "tmp").glob("lamina.*")), "files were left")
    expect_no_secret(folder / "store", folder / "server.data", folder / "base")


SSH = """set -e
/usr/sbin/sshd -De -f /home/mpiuser/.sshd_config 2> /tmp/sshd &
server=$!
for i in 1 2 3 4 5 6 7 8 9; do ssh localhost true 2> /dev/null && break; sleep 1; done
ssh localhost LAMINA_ROLE=trainer /usr/local/bin/trainer by-ssh || cat /tmp/sshd
LAMINA_ROLE=trainer mpirun --oversubscribe -n 2 /usr/local/bin/trainer "$@"
kill $server
"""


def system(program, folder, kept):
    command = find_registry(kept)
    make_secrets(folder)
    b = builder(program, folder)
    (folder / "base").mkdir()
    release = pathlib.Path("/etc/os-release").read_text()
    code = re.search(r"^VERSION_CODENAME=(\w+)", release, re.M).group(1)
    if made := os.environ.get("LAMINA_TEST_DEBIAN"):
        must_run(["cp", "-a", made, folder / "base"])
        (folder / "base" / pathlib.Path(made).name).rename(folder / "base/root")
    else:
        must_run(["debootstrap", "--variant=minbase", code, folder / "base/root"], timeout=None)
    dry = must_run([program, "--launch", "kubernetes", "--dry-run"], stderr=subprocess.STDOUT,
                   capture_output=False, stdout=subprocess.PIPE)
    base = re.search(r"^FROM (\S+)", dry, re.M).group(1)
    (folder / "base/Containerfile").write_text("FROM scratch\nCOPY root/ /\n")

    def make_base():
        b.must_run("build", "--tag", base, "--file", folder / "base/Containerfile",
                   folder / "base", timeout=None)

    with registry(command, folder, "server") as r, watch(TOKEN):
        (folder / "auth.json").write_text(json.dumps({"auths": {r.host: {
            "auth": base64.b64encode(f"ada:{TOKEN}".encode()).decode()}}}))
        make_base()
        done = b.launch(r.host)
        expect(done.returncode == 0, f"{done.stdout}{done.stderr}")
        said = b.pull_and_run(r.host, *RANKS)
        expect(sorted(said.splitlines()) == SAID, f"{said}")
        make_base()
        done = b.launch(r.host, "--kind", "MPIJob")
        expect(done.returncode == 0, f"{done.stdout}{done.stderr}")
        # The keys that the operator of MPIJobs mounts.
        keys = folder / "keys"
        keys.mkdir()
        must_run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", keys / "id_rsa"])
        shutil.copy(keys / "id_rsa.pub", keys / "authorized_keys")
        for path in (keys, *keys.iterdir()):
            os.chown(path, 1000, 1000)
        said = b.pull_and_run(r.host, "sh", "-c", SSH, "sh", "a b",
                              options=["--volume", f"{keys}:/home/mpiuser/.ssh"])
        expect(sorted(said.splitlines()) == [SAID[0], SAID[1], "rank none [by-ssh]"], f"{said}")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in ("tools", "registry", "system"):
        sys.exit(__doc__)
    what = sys.argv[3]
    needs = {"tools": (), "registry": ("buildah", "openssl", "perl", "dash", "hydra_pmi_proxy",
                                       "mpiexec.hydra"),
             "system": ("buildah", "openssl", "perl", "debootstrap", "ssh-keygen")}
    missing = [name for name in needs[what] if not shutil.which(name)]
    if missing:
        print(f"test/launch: skipped: found no {', '.join(missing)}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        try:
            {"tools": tools, "registry": registry_of_this_machine, "system": system}[what](
                os.path.abspath(sys.argv[1]), pathlib.Path(name),
                pathlib.Path(sys.argv[2]).resolve() / "docker-registry")
        except failure as e:
            sys.exit(f"{what}: {e}")
