# SPDX-License-Identifier: Apache-2.0
"""Installs the libraries that lamina is compared with, after it has asked."""
import os
import shlex
import shutil
import subprocess
import sys

# As in test/install: apt waits for a lock that another apt holds, and tries a download again.
APT_OPTIONS = ["-o", "Acquire::Retries=3", "-o", "DPkg::Lock::Timeout=300"]


def missing(packages):
    """The Debian packages that are not installed."""
    if shutil.which("dpkg-query") is None:
        return list(packages)
    return [p for p in packages if subprocess.run(
        ["dpkg-query", "-W", "-f=${db:Status-Status}", p], capture_output=True,
        text=True).stdout != "installed"]


def apt_get():
    """The first words of a command that calls apt-get; none where this user cannot run it."""
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    return [*sudo, "apt-get"] if all(map(shutil.which, [*sudo, "apt-get"])) else []


def apt_commands(packages):
    """The command, as a list of one text, that installs Debian packages; an empty list where there
    is nothing to install or no apt."""
    apt = apt_get()
    if not apt or not packages:
        return []
    return [shlex.join([*apt, "install", "-y", "--no-install-recommends", *packages])]


def agree(program, commands, agreed, otherwise=""):
    """Shows commands in a terminal and asks whether to run them; after a no, ends the script with
    status 1. As in test/install, nobody is asked where `agreed` says so already (--install) or
    where there is no terminal, and LAMINA_APT=no in the environment answers no. `otherwise` says
    how to go on without them."""
    if agreed or not commands:
        return
    shown = "".join(f"  {command}\n" for command in commands)
    if os.environ.get("LAMINA_APT") != "no":
        # Not stdout: a terminal's user may write the table to a file.
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            print(f"{program}: no terminal to ask in, so this is run now:\n{shown}", end="",
                  file=sys.stderr, flush=True)
            return
        print(f"{program}: libraries to compare with are missing. This installs them:\n{shown}"
              "Run it? [Y/n] ", end="", file=sys.stderr, flush=True)
        answer = sys.stdin.readline()
        if answer and answer.strip().lower() in ("", "y", "yes"):
            return
    sys.exit(f"{program}: installed nothing; run this, or start again with --install{otherwise}:\n"
             f"{shown}".rstrip())


def install(packages):
    """Installs Debian packages that are missing, one by one; returns those that cannot be. Asks
    nobody: call agree() first."""
    apt, absent = apt_get(), []
    for package in missing(packages):
        print(f"installing {package}", file=sys.stderr)
        if not apt or subprocess.run(
            [*apt, "-qq", *APT_OPTIONS, "install", "-y", "--no-install-recommends", package],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL).returncode:
            absent.append(package)
    return absent
