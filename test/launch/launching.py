# SPDX-License-Identifier: Apache-2.0
"""What the tests of a launcher share: certificates, and a watch over what processes show."""
import base64
import datetime
import os
import pathlib
import random
import subprocess
import threading

# The environment without what says that a process belongs to a job.
CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(("OMPI_", "PMI", "SLURM_", "LAMINA_", "KUBERNETES_", "LAUNCH_"))}


class failure(Exception):
    pass


def expect(is_so, what):
    if not is_so:
        raise failure(what)


def run(command, **options):
    return subprocess.run([str(word) for word in command],
                          **{"env": CLEAN, "text": True, "capture_output": True, "timeout": 300,
                             **options})


def must_run(command, **options):
    done = run(command, **options)
    expect(done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def make_certificate(folder, name, signer=None, subject="localhost", days=(0, 2)):
    """Writes NAME.key and NAME.pem, signed by SIGNER or by itself, valid from and to so many days
    from now."""
    folder = pathlib.Path(folder)
    must_run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
              "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={subject}", "-keyout",
              folder / f"{name}.key", "-out", folder / f"{name}.csr"])
    index = folder / f"{name}.index"
    index.write_text("")
    (folder / f"{name}.index.attr").write_text("unique_subject = no\n")
    is_authority = signer is None
    (folder / f"{name}.conf").write_text(
        f"[ca]\ndefault_ca = own\n[own]\ndatabase = {index}\nnew_certs_dir = {folder}\n"
        "default_md = sha256\npolicy = any\nrand_serial = yes\nx509_extensions = ext\n"
        "[any]\ncommonName = supplied\n[ext]\nsubjectAltName = DNS:localhost\n"
        f"basicConstraints = critical, CA:{str(is_authority).upper()}\n")
    now = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=5)
    dates = [(now + datetime.timedelta(days=d)).strftime("%Y%m%d%H%M%SZ") for d in days]
    by = (["-selfsign", "-keyfile", folder / f"{name}.key"] if is_authority else
          ["-cert", folder / f"{signer}.pem", "-keyfile", folder / f"{signer}.key"])
    must_run(["openssl", "ca", "-batch", "-notext", "-config", folder / f"{name}.conf", *by, "-in",
              folder / f"{name}.csr", "-out", folder / f"{name}.pem", "-startdate", dates[0],
              "-enddate", dates[1]])


class watch:
    """While it lives, reads the command lines and environments of all processes, again and again,
    and records those that show a secret; `spread` names the forms of a secret."""

    def __init__(self, *secrets):
        self.secrets = [form.encode() for form in self.spread(*secrets)]
        self.seen, self.count, self.stop = set(), 0, threading.Event()
        self.thread = threading.Thread(target=self.look, daemon=True)

    @staticmethod
    def spread(*secrets):
        return [*secrets, *(base64.b64encode(secret.encode()).decode().rstrip("=")
                            for secret in secrets)]

    def look(self):
        while not self.stop.is_set():
            for path in pathlib.Path("/proc").glob("[0-9]*"):
                for name in ("cmdline", "environ"):
                    try:
                        text = (path / name).read_bytes()
                    except OSError:
                        continue
                    if any(secret in text for secret in self.secrets):
                        self.seen.add(f"{path / name}: {text[:200]}")
            self.count += 1

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        expect(self.count > 0 and not self.seen, f"a secret was seen: {self.seen}")


def expanded(word, variables):
    """A word of a command or a variable as the kubelet passes it on: by the rules of its package
    third_party/forked/golang/expansion, to the byte."""
    given, out, i = word.encode(), b"", 0
    while i < len(given):
        if given[i:i + 1] != b"$" or i + 1 == len(given):
            out, i = out + given[i:i + 1], i + 1
        elif given[i + 1:i + 2] == b"$":
            out, i = out + b"$", i + 2
        elif given[i + 1:i + 2] != b"(":
            # It writes a byte as if it were a letter of Latin 1.
            out, i = out + b"$" + chr(given[i + 1]).encode(), i + 2
        else:
            end = given.find(b")", i)
            if end < 0:
                out, i = out + b"$(", i + 2
            else:
                name = given[i + 2:end].decode()
                out += variables[name].encode() if name in variables else given[i:end + 1]
                i = end + 1
    return out.decode(errors="surrogateescape")


def started(container):
    """The words and variables with which the kubelet starts a container."""
    variables = {}
    for v in container.get("env", []):
        variables[v["name"]] = expanded(v["value"], variables)
    return [expanded(w, variables) for w in container["command"]], variables


# Words that something on the way might read: the kubelet, a shell, mpirun, srun, sbatch, ssh.
NASTY = ["", " ", ":", "::", "--", "-", "-x", "-n", "-np", "--mca", "-mca", "-am", "--tune",
         "-genv", "-wdir", "-h", "--help", "--export=NONE", "@file", "#", "# a",
         "#SBATCH --uid=0", "\n#SBATCH --uid=0\n", "%j", "%", "*", "?",
         "[a-z]*", "{a,b}", "~", "!", "$", "$$", "$$$", "$HOME", "${HOME}",
         "$(LAMINA_ROLE)", "$$(LAMINA_ROLE)", "$$$(A)", "$(", "$)", "a$", "$ü", "`id`", "$(id)",
         "'", '"', "'\\''", "\\", "\\n", "\\\n", "a\nb", "\n", "\r\n", "\r", "\t", "a=b", ";", "&",
         "|", "<", ">", "(", ")", "é", "Grüße", "日本", "\x01", "\x7f", "a b", "A=1", "=", ","]


def nasty_words(generator, count):
    """Words of the list above, and others that are made of its letters."""
    letters = sorted(set("".join(NASTY)))
    return [generator.choice(NASTY) if generator.random() < 0.6 else
            "".join(generator.choices(letters, k=generator.randrange(12))) for _ in range(count)]


def generator_of_words():
    seed = int(os.environ.get("LAMINA_TEST_SEED", random.randrange(1 << 30)))
    print(f"LAMINA_TEST_SEED={seed}")
    return random.Random(seed)


def expect_shown(folder, ranks, words, variables, what):
    """What the processes of a job have copied by `show=FOLDER`."""
    found = sorted(path.stem for path in folder.glob("*.cmdline"))
    expect(found == [str(rank) for rank in range(ranks)], f"{what}: processes {found}")
    for rank in range(ranks):
        given = (folder / f"{rank}.cmdline").read_bytes().split(b"\0")[1:-1]
        wanted = [os.fsencode(w) for w in words]
        expect(given == wanted, f"{what}: rank {rank} got {given}, expected {wanted}")
        lines = (folder / f"{rank}.environ").read_bytes().split(b"\0")
        for name, value in variables.items():
            expect(os.fsencode(f"{name}={value}") in lines,
                   f"{what}: rank {rank}: no {name}={value}")
    for path in folder.iterdir():
        path.unlink()
