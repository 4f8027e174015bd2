# SPDX-License-Identifier: Apache-2.0
"""What the tests of a launcher share: certificates, and a watch over what processes show."""
import base64
import datetime
import os
import pathlib
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
