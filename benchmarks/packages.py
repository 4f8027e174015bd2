# SPDX-License-Identifier: Apache-2.0
"""Installs the Debian packages of the libraries with which lamina is compared."""
import os
import shutil
import subprocess

# As in test/install: apt waits while another apt holds its lock, and repeats failed downloads.
APT_OPTIONS = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"]


def install(packages):
    """Installs the packages that are missing; returns those that cannot be installed."""
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
