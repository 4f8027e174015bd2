#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at what a program that starts itself submits, and lets it start processes.

 manifests  kubernetes-validate takes the core kinds and the pods within the others; the others have
            the fields that their projects ask for, and fit their CRDs where LAMINA_TEST_CRDS names
            a folder with crd_jobsets.yaml.gz, crd_mpijobs.yaml.gz and crd_trainjobs.yaml.gz. The
            validators come by pip, to FOLDER/venv; exits with 77 where pip has none.
 submit     kubectl, sbatch and what they are given; no token is in a line, a text or a log
 pods       the script of the pods starts MPICH's processes, again after a failure, with exit codes
 local      mpirun starts the program
 words      words that something on the way might read, and variables, arrive as they were given: by
            mpirun of both MPIs, by pods, and by mpirun over an agent that passes on what ssh does

usage: launcher.py PROGRAM FOLDER {manifests,submit,pods,local,words}
"""
import gzip
import json
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from launching import (CLEAN, NASTY, expanded, expect, expect_shown, failure, generator_of_words,
                       nasty_words, run, started)

KINDS = ("Job", "JobSet", "MPIJob", "TrainJob")
TOKEN = "token-that-nobody-may-see"
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

# The required fields of kinds that are no part of Kubernetes: path -> type or value. A number in a
# path is a place in a list.
REQUIRED = {
    "JobSet": ("jobset.x-k8s.io/v1alpha2", {
        "spec/replicatedJobs/0/name": str, "spec/replicatedJobs/0/replicas": int,
        "spec/replicatedJobs/0/template/spec": dict, "spec/failurePolicy/maxRestarts": int,
        "spec/failurePolicy/rules/0/name": str,
        "spec/failurePolicy/rules/0/action": "FailJobSet",
        "spec/failurePolicy/rules/0/onJobFailureReasons/0": "DeadlineExceeded",
        "spec/failurePolicy/rules/0/onJobFailureReasons/1": "PodFailurePolicy",
        "spec/network/subdomain": str, "spec/network/enableDNSHostnames": True}),
    "MPIJob": ("kubeflow.org/v2beta1", {
        "spec/mpiReplicaSpecs/Launcher/replicas": 1, "spec/mpiReplicaSpecs/Worker/replicas": int,
        "spec/mpiReplicaSpecs/Launcher/restartPolicy": "OnFailure",
        "spec/mpiReplicaSpecs/Worker/template": dict, "spec/mpiImplementation": "OpenMPI",
        "spec/runPolicy/backoffLimit": int, "spec/runPolicy/activeDeadlineSeconds": int}),
    "TrainJob": ("trainer.kubeflow.org/v1alpha1", {
        "spec/runtimeRef/name": str, "spec/runtimeRef/kind": "ClusterTrainingRuntime",
        "spec/trainer/image": str, "spec/trainer/numNodes": int, "spec/trainer/command": list,
        "spec/trainer/resourcesPerNode/requests/cpu": str}),
}


def manifests_of(program, *arguments):
    done = run([program, "--launch", "kubernetes", "--dry-run", *arguments])
    expect(done.returncode == 0, f"{arguments}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["items"]


def at(tree, path):
    for word in path.split("/"):
        tree = tree[int(word)] if isinstance(tree, list) else tree[word]
    return tree


def pods_of(item):
    """The templates of pods within an object."""
    if isinstance(item, dict):
        if "containers" in item.get("spec", {}):
            yield item
        else:
            for value in item.values():
                yield from pods_of(value)
    elif isinstance(item, list):
        for value in item:
            yield from pods_of(value)


def check_safety(pod):
    spec = pod["spec"]
    expect(spec["automountServiceAccountToken"] is False, "a pod has a token of the cluster")
    for container in spec["containers"]:
        may = container["securityContext"]
        expect(may["runAsNonRoot"] and may["runAsUser"] > 0 and may["readOnlyRootFilesystem"]
               and not may["allowPrivilegeEscalation"] and may["capabilities"] == {"drop": ["ALL"]}
               and may["seccompProfile"] == {"type": "RuntimeDefault"}, f"unsafe: {may}")
        mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
        expect({"/dev/shm", "/tmp", "/checkpoints"} <= mounts, f"mounts {mounts}")
        expect(set(container["resources"]) == {"requests", "limits"}, "no requests or no limits")
        expect(container["envFrom"] == [{"secretRef": {"name": "object-store"}}], "no secret")


def check_scripts(command):
    """shellcheck reads what a container's shell will."""
    if command[:2] != ["/bin/sh", "-c"] and "/bin/sh" not in command:
        return
    if not shutil.which("shellcheck"):
        print("test/launch: left out: found no shellcheck")
        return
    script = command[command.index("/bin/sh") + 2]
    done = run(["shellcheck", "--shell=sh", "-"], input=script)
    expect(done.returncode == 0, f"{script}\n{done.stdout}")


def check_secrets(spec):
    """sshd passes no variables on: the processes of an MPIJob read their secrets from files."""
    mounts = spec["containers"][0]["volumeMounts"]
    volume = next(v for v in spec["volumes"] if "secret" in v)
    mount = next(m for m in mounts if m["name"] == volume["name"])
    expect(volume["secret"] == {"secretName": "object-store", "defaultMode": 0o440}
           and mount["mountPath"] == "/run/lamina/secrets/0000" and mount["readOnly"],
           f"{volume} {mount}")


def schema_of_crd(item):
    """The schema of an object from its project's CRD. A cluster drops fields that it does not know
    without a word; here they are errors."""
    import yaml

    def make_strict(schema):
        if isinstance(schema, list):
            for value in schema:
                make_strict(value)
        if not isinstance(schema, dict):
            return
        if (schema.get("type") == "object" and "properties" in schema
                and not schema.get("x-kubernetes-preserve-unknown-fields")):
            schema.setdefault("additionalProperties", False)
        if schema.get("x-kubernetes-int-or-string"):
            schema.pop("type", None)
            schema["type"] = ["integer", "string"]
        for value in list(schema.values()):
            make_strict(value)

    path = pathlib.Path(os.environ["LAMINA_TEST_CRDS"], f"crd_{item['kind'].lower()}s.yaml.gz")
    crd = yaml.safe_load(gzip.open(path))
    group, version = item["apiVersion"].split("/")
    expect(crd["spec"]["group"] == group, f"{path}: group {crd['spec']['group']}")
    schema = next(found for found in crd["spec"]["versions"]
                  if found["name"] == version)["schema"]["openAPIV3Schema"]
    make_strict(schema)
    schema["properties"]["metadata"] = {"type": "object"}
    return schema


def check_crd(item):
    import jsonschema
    validator = jsonschema.Draft202012Validator(schema_of_crd(item))
    faults = [f"{list(fault.path)}: {fault.message[:200]}" for fault in validator.iter_errors(item)]
    expect(not faults, f"{item['kind']}: {faults}")
    expect(list(validator.iter_errors({**item, "spec": {**item["spec"], "wrong": 1}})),
           f"the CRD of {item['kind']} takes a field that it has not")


def manifests(program, folder):
    python = folder / "venv" / "bin" / "python"
    if os.environ.get("LAUNCHER_IN_VENV") != "1":
        works = [python, "-c", "import kubernetes_validate"]
        if not python.exists() or subprocess.run(works, capture_output=True).returncode != 0:
            shutil.rmtree(folder / "venv", ignore_errors=True)
            if (subprocess.run([sys.executable, "-m", "venv", folder / "venv"]).returncode != 0
                    or subprocess.run([python, "-m", "pip", "install", "--quiet",
                                       "kubernetes-validate"]).returncode != 0):
                print("test/launch: skipped: pip has no kubernetes-validate")
                sys.exit(77)
        sys.exit(subprocess.run([python, "-B", *sys.argv],
                                env={**os.environ, "LAUNCHER_IN_VENV": "1"}).returncode)
    import kubernetes_validate
    version = kubernetes_validate.latest_version()

    def is_core(item):
        kubernetes_validate.validate(item, version, strict=True)

    try:  # the validator must see a fault
        is_core({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "x"},
                 "spec": {"template": {"spec": {"containers": [{"nam": "x"}]}}}})
        raise failure("kubernetes-validate takes a container with a wrong field")
    except kubernetes_validate.ValidationError:
        pass
    odd = ["--", "it's", 'a "quoted" word', "a: b # c", "$HOME", "Grüße", ""]
    seen = set()
    for kind in KINDS:
        items = manifests_of(program, "--kind", kind, "-n", "5", *odd)
        words = []
        for item in items:
            seen.add(item["kind"])
            for pod in pods_of(item):
                check_safety(pod)
                is_core({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "pod"},
                         "spec": pod["spec"]})
                for container in pod["spec"]["containers"]:
                    words.append(started(container)[0])
                    check_scripts(words[-1])
            if item["kind"] not in REQUIRED:
                is_core(item)
                continue
            group, fields = REQUIRED[item["kind"]]
            expect(item["apiVersion"] == group, f"{kind}: {item['apiVersion']}")
            for path, wanted in fields.items():
                found = at(item, path)
                expect(isinstance(found, wanted) if isinstance(wanted, type) else found == wanted,
                       f"{kind}: {path}: expected {wanted}, found {found}")
            if os.environ.get("LAMINA_TEST_CRDS"):
                check_crd(item)
            if kind == "JobSet":
                is_core({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "inner"},
                         "spec": at(item, "spec/replicatedJobs/0/template/spec")})
            if kind == "TrainJob":
                words.append(started(at(item, "spec/trainer"))[0])
            if kind == "MPIJob":
                for replica in ("Launcher", "Worker"):
                    check_secrets(at(item, f"spec/mpiReplicaSpecs/{replica}/template/spec"))
        expect(any(line[-len(odd) + 1:] == odd[1:] for line in words), f"{kind}: {words}")
    expect(seen == {*KINDS, "Service", "NetworkPolicy", "PersistentVolumeClaim"}, f"kinds {seen}")
    job, service, policy = (next(item for item in manifests_of(program) if item["kind"] == kind)
                            for kind in ("Job", "Service", "NetworkPolicy"))
    labels = job["spec"]["template"]["metadata"]["labels"]
    expect(policy["spec"]["podSelector"] == {"matchLabels": labels} and policy["spec"]["ingress"]
           == [{"from": [{"podSelector": {"matchLabels": labels}}]}], f"{policy}")
    expect(job["spec"]["template"]["spec"]["subdomain"] == service["metadata"]["name"]
           and service["spec"]["publishNotReadyAddresses"]
           and service["spec"]["selector"].items()
           <= labels.items(), "pods without names")
    expect(job["spec"]["podFailurePolicy"]["rules"][0]["onExitCodes"]["values"] == [64, 65]
           and job["spec"]["activeDeadlineSeconds"] == 7200 and job["spec"]["backoffLimit"] == 3,
           "other retries than those of the job")


RECORD = """#!/bin/sh
{ printf '%s\\n' "$0" "$@"; cat; } > "$RECORD"
while [ $# -gt 0 ]; do
  if [ "$1" = --kubeconfig ]; then cp "$2" "$RECORD.config"; stat -c %a "$2" > "$RECORD.mode"; fi
  shift
done
exit 3
"""


def submit(program, folder):
    with tempfile.TemporaryDirectory(dir=folder) as name:
        here = pathlib.Path(name)
        (here / "token").write_text(TOKEN)
        (here / "authority.pem").write_text("a certificate")
        for command in ("kubectl", "sbatch"):
            (here / command).write_text(RECORD)
            (here / command).chmod(stat.S_IRWXU)
        record = here / "record"
        (here / "tmp").mkdir()
        env = {**CLEAN, "PATH": f"{here}:{CLEAN['PATH']}", "RECORD": str(record),
               "TMPDIR": str(here / "tmp"), "LAUNCH_TEST_SERVER": "https://cluster.example:6443"}
        done = run([program, "--launch", "kubernetes", "--build", "no", "--passes", "20"], env=env,
                   cwd=here)
        expect(done.returncode == 3 and "kubectl apply" in done.stderr,
               f"kubectl's exit code 3 became {done.returncode}")
        config = json.loads(record.with_suffix(".config").read_text())
        expect(config["users"][0]["user"] == {"tokenFile": str(here / "token")}
               and config["clusters"][0]["cluster"]
               == {"server": "https://cluster.example:6443",
                   "certificate-authority": str(here / "authority.pem")}, f"{config}")
        expect(record.with_suffix(".mode").read_text() == "600\n", "others can read the file")
        expect(not list((here / "tmp").iterdir()), "the configuration was left")
        given = record.read_text()
        expect('"kind": "Service"' in given and "apply" in given.splitlines(), given)
        for text in (given, done.stdout, done.stderr, json.dumps(config)):
            expect(TOKEN not in text, "the token was written")
        (here / "token").unlink()
        done = run([program, "--launch", "kubernetes", "--build", "no"], env=env, cwd=here)
        expect(done.returncode == 64 and "expected a file token, found none" in done.stderr,
               f"a token file that is not there: {done.returncode} {done.stderr}")
        done = run([program, "--launch", "slurm", "--", "it's $HOME", "$(date)"], env=env, cwd=here)
        expect(done.returncode == 3, f"sbatch's exit code 3 became {done.returncode}")
        lines = record.read_text().splitlines()
        expect(lines[1] == "#!/bin/sh", f"sbatch was given {lines}")
        # The script as a shell runs it, with srun that prints its words.
        if shutil.which("shellcheck"):
            # Words in single quotes are meant as they are.
            done = run(["shellcheck", "--shell=sh", "--exclude=SC2016", "-"],
                       input="\n".join(lines[1:]))
            expect(done.returncode == 0, f"{done.stdout}")
        (here / "srun").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit "$CODE"\n')
        (here / "scontrol").write_text('#!/bin/sh\necho "scontrol $*"\n')
        for command in ("srun", "scontrol"):
            (here / command).chmod(stat.S_IRWXU)
        for code, restarts, requeues in ((0, 0, False), (1, 0, True), (1, 2, True), (1, 3, False),
                                         (64, 0, False), (65, 0, False), (75, 0, True)):
            done = run(["sh"], input="\n".join(lines[1:]),
                       env={**env, "CODE": str(code), "SLURM_JOB_ID": "7",
                            "SLURM_RESTART_COUNT": str(restarts)})
            words = done.stdout.splitlines()
            expect("it's $HOME" in words and "$(date)" in words
                   and "--kill-on-bad-exit=1" in words, f"srun was given {words}")
            expect(("scontrol requeue 7" in words) == requeues and done.returncode == code,
                   f"code {code} after {restarts} restarts: {words}, {done.returncode}")
        # Commands that are not there, and flags that are wrong.
        done = run([program, "--launch", "slurm"], env={**CLEAN, "PATH": str(here / "tmp")})
        expect(done.returncode == 64 and "expected the command sbatch" in done.stderr, done.stderr)
        for wrong in (["--launch", "cloud"], ["-n", "0"], ["-n", "4x"], ["--memory", "8Q"],
                      ["--launch"], ["--name", "A_b"], ["--launch=kubernetes", "--image", ""]):
            done = run([program, "--dry-run", *wrong])
            expect(done.returncode == 64 and done.stdout == ""
                   and done.stderr.startswith("lamina: launch: "), f"{wrong}: {done}")


def pods(program, folder):
    if not (shutil.which("hydra_pmi_proxy") and shutil.which("mpiexec.hydra")):
        print("test/launch: skipped: found no MPICH (mpich)")
        sys.exit(77)
    items = manifests_of(program, "-n", "2")
    job = next(item for item in items if item["kind"] == "Job")
    container = job["spec"]["template"]["spec"]["containers"][0]
    command, given = started(container)
    expect(command[-1] == "/usr/local/bin/trainer", f"{command}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    expect(given["LAMINA_HOSTS"] == "digits-0.digits:1,digits-1.digits:1"
           and given["LAMINA_LEADER"] == "digits-0.digits", f"{given}")
    given.update(LAMINA_LEADER="localhost", LAMINA_PORT=port)

    def pod(index, *arguments):
        return subprocess.Popen([*command[:-1], program, *arguments], text=True,
                                env={**CLEAN, **given, "JOB_COMPLETION_INDEX": str(index)},
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                start_new_session=True)

    worker = pod(1)
    try:
        for code in (0, 65, 0):
            leader = pod(0, f"code={code}", "a b")
            try:
                out, err = leader.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                os.killpg(leader.pid, signal.SIGKILL)
                raise failure(f"code={code}: no end within 60 s")
            expect(leader.returncode == code, f"code {code} became {leader.returncode}\n{err}")
            for rank in range(2):
                expect(f"rank {rank} [code={code}] [a b]\n" in out or code != 0, f"{out}\n{err}")
            expect(worker.poll() is None, "the other pod has ended")
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.communicate()
    # Process 1 hears SIGTERM, with which a pod ends, only if it asks for it.
    alone = ["unshare", "--pid", "--fork", "--kill-child"]
    if run([*alone, "true"]).returncode != 0:
        print("test/launch: left out: SIGTERM of process 1: no right to unshare")
        return
    command[:0] = alone
    for index in (1, 0):
        leader = pod(index, "sleep=60")
        time.sleep(1.5)
        first = int(run(["pgrep", "-P", str(leader.pid)]).stdout)
        begin = time.monotonic()
        os.kill(first, signal.SIGTERM)
        try:
            leader.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            raise failure(f"pod {index} does not end by SIGTERM")
        finally:
            if leader.poll() is None:
                os.killpg(leader.pid, signal.SIGKILL)
        expect(leader.returncode == 143 and time.monotonic() - begin < 10,
               f"pod {index}: SIGTERM made {leader.returncode}")


AGENT = """#!/bin/sh
# What ssh HOST COMMAND... does: the words are one text for a shell, which has variables of its own.
while case $1 in -*) true ;; *) false ;; esac; do shift; done
shift
exec env -i HOME="$HOME" PATH="$PATH" /bin/sh -c "$*"
"""


def words(program, folder):
    """Each way in turn, with random words; the program copies what it was given."""
    generator = generator_of_words()
    mpis = [name for name in ("mpirun.openmpi", "mpirun.mpich") if shutil.which(name)]
    if not mpis:
        print("test/launch: skipped: found neither mpirun.openmpi nor mpirun.mpich")
        sys.exit(77)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        here = pathlib.Path(name)
        (here / "shown").mkdir()
        for n in range(4):
            own = [f"show={here / 'shown'}",
                   *(NASTY if n == 0 else nasty_words(generator, 1 + generator.randrange(8)))]
            for mpi in mpis:
                by_mpirun(program, here, mpi, own)
            if "mpirun.openmpi" in mpis:
                by_agent(program, here, own)
            if "mpirun.mpich" in mpis:
                by_pods(program, here, own)


def by_mpirun(program, here, mpi, own):
    (here / mpi).mkdir(exist_ok=True)
    (here / mpi / "mpirun").write_text(f'#!/bin/sh\nexec {shutil.which(mpi)} "$@"\n')
    (here / mpi / "mpirun").chmod(stat.S_IRWXU)
    env = {**CLEAN, **ROOT, "PATH": f"{here / mpi}:{CLEAN['PATH']}"}
    arguments = ["-n", "2", "--parameter-servers", "1", "--", *own]
    variables = {"LAMINA_ROLE": "trainer", "LAMINA_PARAMETER_SERVERS": "1"}
    # MPICH's mpirun dies by SIGPIPE if all processes end before it has told them that its own input
    # has ended.
    for _ in range(5):
        done = run([program, *arguments], env=env, errors="surrogateescape")
        if done.returncode != -signal.SIGPIPE:
            break
    expect(done.returncode == 0, f"{mpi}: {done}")
    expect_shown(here / "shown", 3, own, variables, mpi)
    # What a dry run prints does the same.
    line = run([program, "--dry-run", *arguments], env=env, errors="surrogateescape").stdout
    # Not as standard input: mpirun would inherit the pipe and pass it on, and dies by SIGPIPE if
    # the process that it feeds has ended.
    done = run(["sh", "-c", line], env=env, stdin=subprocess.DEVNULL, errors="surrogateescape")
    expect(done.returncode == 0, f"{mpi}: {line} {done}")
    expect_shown(here / "shown", 3, own, variables, f"{mpi}, as printed")


def by_agent(program, here, own):
    """An MPIJob and a TrainJob: mpirun of the launcher reaches its hosts by an agent."""
    (here / "agent").write_text(AGENT)
    (here / "agent").chmod(stat.S_IRWXU)
    (here / "hosts").write_text("worker-0 slots=3\n")
    secret = here / "secrets" / "0000"
    secret.mkdir(parents=True, exist_ok=True)
    value = "a 'secret' $HOME\n\nwith lines\n"
    (secret / "STORE_KEY").write_text(value)
    (secret / "not.a.name").write_text("x")
    for kind in ("MPIJob", "TrainJob"):
        items = manifests_of(program, "--kind", kind, "-n", "2", "--parameter-servers", "1", "--",
                             *own)
        job = items[-1]["spec"]
        container = (at(job, "mpiReplicaSpecs/Launcher/template/spec/containers/0")
                     if kind == "MPIJob" else job["trainer"])
        command, variables = started(container)
        command = ["mpirun.openmpi" if w == "mpirun" else
                   w.replace("/usr/local/bin/trainer", str(program))
                   .replace("/run/lamina/secrets", str(here / "secrets")) for w in command]
        done = run(command, env={**CLEAN, **ROOT, **variables,
                                 "OMPI_MCA_plm_rsh_agent": str(here / "agent"),
                                 "OMPI_MCA_orte_default_hostfile": str(here / "hosts")},
                   errors="surrogateescape", timeout=60)
        expect(done.returncode == 0, f"{kind}: {done}")
        wanted = {"LAMINA_ROLE": "trainer", "LAMINA_PARAMETER_SERVERS": "1"}
        if kind == "MPIJob":
            wanted["STORE_KEY"] = value
        expect_shown(here / "shown", 3, own, wanted, kind)


def by_pods(program, here, own):
    job = manifests_of(program, "-n", "1", "--parameter-servers", "1", "--", *own)[-1]
    command, given = started(at(job, "spec/template/spec/containers/0"))
    command = [w.replace("/usr/local/bin/trainer", str(program)) for w in command]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        given.update(LAMINA_LEADER="localhost", LAMINA_PORT=str(free.getsockname()[1]))
    pods = [subprocess.Popen(command, env={**CLEAN, **given, "JOB_COMPLETION_INDEX": str(index)},
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             start_new_session=True) for index in (1, 0)]
    try:
        out, _ = pods[1].communicate(timeout=60)
        expect(pods[1].returncode == 0, f"pods: {pods[1].returncode} {out}")
    finally:
        for pod in pods:
            if pod.poll() is None:
                os.killpg(pod.pid, signal.SIGKILL)
    expect_shown(here / "shown", 2, own, {"LAMINA_ROLE": "trainer",
                                          "LAMINA_PARAMETER_SERVERS": "1"}, "pods")


def local(program, folder):
    if not shutil.which("mpirun"):
        print("test/launch: skipped: found no mpirun (openmpi-bin or mpich)")
        sys.exit(77)
    done = run([program, "--launch", "local", "-n", "2", "--", "a b", "--launch"],
               env={**CLEAN, **ROOT})
    expect(done.returncode == 0 and sorted(done.stdout.splitlines())
           == [f"rank {rank} [a b] [--launch]" for rank in range(2)], f"{done}")
    # More processes than cores, whose threads may use all cores.
    many = os.cpu_count() + 1
    done = run([program, "-n", str(many)], env={**CLEAN, **ROOT})
    expect(done.returncode == 0 and len(done.stdout.splitlines()) == many, f"{done}")
    # What the user has told Open MPI stays.
    binding = "OMPI_MCA_hwloc_base_binding_policy"
    for told, found in (({}, "none"), ({binding: "core"}, "core")):
        done = run([program, f"say={binding}", "-n", "1"], env={**CLEAN, **ROOT, **told})
        expect(f"{binding}={found}\n" in done.stdout, f"{told}: {done}")
    done = run([program, "code=5", "-n", "2"], env={**CLEAN, **ROOT})
    expect(done.returncode == 5, f"exit code 5 became {done.returncode}")
    # A failed mpirun starts again, at most as often as the job says, but not after exit code 65.
    for code, starts in ((5, 3), (65, 1), (0, 1)):
        done = run([program, f"code={code}", "-n", "2", "--restart-on-failure", "--retries=2"],
                   env={**CLEAN, **ROOT})
        expect(done.returncode == code and done.stdout.count("rank 1") == starts
               and done.stderr.count("is started again") == starts - 1, f"{code}: {done}")
    # Without argc and argv the words are those of the process.
    for arguments in (["--launch", "slurm", "--dry-run", "a b", ""], ["--dry-run", "--name=A"]):
        done, own = (run([program, *arguments], env=env)
                     for env in (CLEAN, {**CLEAN, "LAUNCH_TEST_OWN_WORDS": "1"}))
        expect((done.returncode, done.stdout, done.stderr)
               == (own.returncode, own.stdout, own.stderr), f"{done} {own}")
    # Within a job it is a trainer, whatever its arguments are.
    for name in ("LAMINA_ROLE", "PMI_RANK", "SLURM_STEP_ID", "KUBERNETES_SERVICE_HOST"):
        done = run([program, "--launch", "slurm"], env={**CLEAN, name: "0"})
        expect("[--launch] [slurm]" in done.stdout, f"{name}: {done}")


if __name__ == "__main__":
    if len(sys.argv) != 4 or sys.argv[3] not in ("manifests", "submit", "pods", "local",
                                                 "words"):
        sys.exit(__doc__)
    try:
        place = pathlib.Path(sys.argv[2])
        place.mkdir(parents=True, exist_ok=True)
        globals()[sys.argv[3]](sys.argv[1], place.resolve())
    except failure as e:
        sys.exit(f"{sys.argv[3]}: {e}")
