# SPDX-License-Identifier: Apache-2.0
"""Debian packages of the libraries that lamina is compared with."""
import os
import shutil
import subprocess

# As in test/install: apt waits for a lock that another apt holds, and tries a download again.
APT_OPTIONS = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"]


def install(packages):
    """Installs those that are missing; returns those that cannot be."""
    apt, absent = shutil.which("apt-get"), []
    for package in packages:
        if subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package],
                          capture_output=True, text=True).stdout == "installed":
            continue
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        if apt is None or subprocess.run(
            [*sudo, apt, "-qq", *APT_OPTIONS, "install", "-y", "--no-install-recommends", package],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode:
            absent.append(package)
    return absent
