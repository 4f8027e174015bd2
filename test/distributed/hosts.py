# SPDX-License-Identifier: Apache-2.0
"""Two hosts without machines: network namespaces of this machine, joined by a veth pair.

MPI sees two hosts of other names whose only connection is TCP over the pair. Needs root (or
CAP_NET_ADMIN and CAP_SYS_ADMIN), ip of iproute2, and tc for a limit of the rate.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

LINK = "lamina0"  # the same name in both
ADDRESSES = ["10.77.83.1", "10.77.83.2"]
# What ssh would do. MPI calls it as: agent [options] ADDRESS COMMAND...
AGENT = """#!/bin/sh
while [ "${1#-}" != "$1" ]; do shift; done
case "$1" in
%s
*) exit 64 ;;
esac
shift
exec unshare --uts sh -c 'hostname "$0"; exec ip netns exec "$0" sh -c "$1"' "$name" "$*"
"""


class unavailable(Exception):
    """This machine does not allow namespaces; the argument says why."""


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise unavailable(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def environment(device=LINK):
    """Variables that lead the transports of both MPIs to a device."""
    return {"UCX_NET_DEVICES": device, "UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp",
            "FI_TCP_IFACE": device, "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1",
            "OMPI_MCA_btl_tcp_if_include": device}


class hosts:
    """A context with two hosts; `names` are those of their namespaces."""

    def __enter__(self):
        if shutil.which("ip") is None or shutil.which("unshare") is None:
            raise unavailable("no ip (iproute2) or unshare (util-linux)")
        self.names = [f"lamina-{os.getpid()}-{n}" for n in range(2)]
        self.made = []
        self.folder = tempfile.TemporaryDirectory()
        try:
            for name in self.names:
                run("ip", "netns", "add", name)
                self.made.append(name)
            run("ip", "link", "add", LINK, "netns", self.names[0], "type", "veth", "peer", "name",
                LINK, "netns", self.names[1])
            for name, address in zip(self.names, ADDRESSES):
                run("ip", "-n", name, "address", "add", f"{address}/24", "dev", LINK)
                run("ip", "-n", name, "link", "set", "lo", "up")
                run("ip", "-n", name, "link", "set", LINK, "up")
            self.agent = pathlib.Path(self.folder.name, "agent")
            self.agent.write_text(AGENT % "\n".join(
                f"{address}) name={name} ;;" for name, address in zip(self.names, ADDRESSES)))
            self.agent.chmod(0o755)
            for host in range(2):
                self.wait_for_link(host)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.made:
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)
        self.folder.cleanup()

    def wait_for_link(self, host):
        """The kernel says a while later that a link is up, and MPICH looks at what it says."""
        for _ in range(100):
            if run(*self.on(host, "cat", f"/sys/class/net/{LINK}/operstate")).strip() == "up":
                return
            time.sleep(0.1)
        raise unavailable(f"{LINK} did not come up within 10 s")

    def on(self, host, *command):
        """A command that runs on host number `host`."""
        return [str(self.agent), ADDRESSES[host], *command]

    def launch(self, mpirun, *command):
        """The command that starts one process on each host."""
        if "mpich" in os.path.basename(os.path.realpath(mpirun)) or "hydra" in os.path.basename(
                os.path.realpath(mpirun)):
            given = ["-launcher", "ssh", "-launcher-exec", str(self.agent), "-localhost",
                     ADDRESSES[0], "-hosts", ",".join(ADDRESSES), "-n", "2"]
        else:
            given = ["--host", ",".join(f"{a}:1" for a in ADDRESSES), "-np", "2", "--bind-to",
                     "none", "--mca", "plm_rsh_agent", str(self.agent), "--mca",
                     "plm_rsh_no_tree_spawn", "1", "--mca", "oob_tcp_if_include", LINK]
        return self.on(0, mpirun, *given, *command)

    def processes(self, host):
        """The numbers of the processes of a host."""
        return [int(pid) for pid in run("ip", "netns", "pids", self.names[host]).split()]

    def limit(self, rate, latency="50ms", burst="256kb"):
        """Limits what both hosts send, for example to "1gbit"; None: no limit."""
        for name in self.names:
            if rate is None:
                subprocess.run(["tc", "-n", name, "qdisc", "del", "dev", LINK, "root"],
                               capture_output=True)  # there may be none
            else:
                run("tc", "-n", name, "qdisc", "replace", "dev", LINK, "root", "tbf", "rate", rate,
                    "burst", burst, "latency", latency)

    def sent(self):
        """The bytes that each host has sent over the link, headers included."""
        return [int(run(*self.on(n, "cat", f"/sys/class/net/{LINK}/statistics/tx_bytes")))
                for n in range(2)]
