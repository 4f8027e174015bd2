# SPDX-License-Identifier: Apache-2.0
"""Runs commands."""
import subprocess
import sys


def run(*command, works=True, **options):
    """What a command says; it must succeed, or fail where works=False."""
    result = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, **options)
    if (result.returncode == 0) != works:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout[-3000:]}")
    return result.stdout
