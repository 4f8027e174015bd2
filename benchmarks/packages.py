# SPDX-License-Identifier: Apache-2.0
"""Debian packages of the libraries that lamina is compared with."""
import os
import shutil
import subprocess


def install(packages):
    """Installs those that are missing; returns those that cannot be."""
    apt, absent = shutil.which("apt-get"), []
    for package in packages:
        if subprocess.run(["dpkg-query", "-W", "-f=${db:Status-Status}", package],
                          capture_output=True, text=True).stdout == "installed":
            continue
        sudo = [] if os.geteuid() == 0 else ["sudo"]
        if apt is None or subprocess.run(
            [*sudo, apt, "-qq", "install", "-y", "--no-install-recommends", package],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode:
            absent.append(package)
    return absent
