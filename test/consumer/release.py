#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/release gives the same bytes twice, and its files are whole and valid.

In a repository with a copy of the tree: a second run by a user with another umask, time zone and
locale, and with a change that is not committed, writes the same files. SHA256SUMS is right, the
archive has what git lists, and the single header is that of the tree. Validators from pip then read
the bill of materials, CITATION.cff, the workflow and the forms of .github. Exit code 77 (skipped)
where there is no git, and for this last part where pip provides no validators.

usage: release.py --build FOLDER
       FOLDER gets a virtual environment, which the next run takes again.
"""
import argparse
import json
import os
import pathlib
import shutil
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import conan_create  # noqa: E402
import real_conan  # noqa: E402
from command import run  # noqa: E402

VALIDATORS = ("check-jsonschema>=0.39,<1", "cyclonedx-python-lib[json-validation]>=8,<12")
BOM = """import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
sys.exit(str(JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1]).read()) or "")
         or None)
"""
SCHEMAS = (("citation-file-format", "CITATION.cff"),
           ("github-workflows", ".github/workflows/*.yml"),
           ("github-issue-forms", ".github/ISSUE_TEMPLATE/*.yml"))


def repository(folder):
    """A repository whose one commit has the files of the tree."""
    tree = conan_create.copy_of_tree(folder)
    run("git", "init", "-q", tree)
    run("git", "-C", tree, "add", "-A")
    run("git", "-C", tree, "-c", "user.name=test", "-c", "user.email=test@localhost", "commit",
        "-qm", "a copy")
    return tree


def check_same_bytes(tree, folder):
    """The files of two runs."""
    first, second = folder / "first", folder / "second"
    run(tree / "tools/release", "--out", first, cwd=folder)
    with open(tree / "README.md", "a") as page:
        page.write("a change that is not committed\n")
    run("sh", "-c", 'umask 077 && exec "$0" --out "$1"', tree / "tools/release", second, cwd=tree,
        env={**os.environ, "TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "7"})
    names = sorted(path.name for path in first.iterdir())
    if len(names) != 5 or names != sorted(path.name for path in second.iterdir()):
        sys.exit(f"expected five files twice, found {names}")
    for name in names:
        if (first / name).read_bytes() != (second / name).read_bytes():
            sys.exit(f"{name}: expected the same bytes twice")
    return first


def check_content(tree, made):
    """The archive, the sums and the single header."""
    run("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=made)
    [archive] = made.glob("lamina-*.tar.gz")
    with tarfile.open(archive) as opened:
        found = {member.name.split("/", 1)[1] for member in opened if not member.isdir()}
    listed = set(run("git", "-C", tree, "-c", "core.quotePath=off", "ls-files").splitlines())
    if different := found ^ listed:
        sys.exit(f"{archive.name}: expected what git lists, found otherwise {sorted(different)}")
    for name, entries in (("lamina.hpp", ()), ("lamina_static.hpp", ("static",))):
        if (made / name).read_text() != run(ROOT / "tools/single_header", *entries):
            sys.exit(f"{name}: expected the single header of the tree, found another one")
    said = run(tree / "tools/release", "--out", made, "no-such-revision", works=False)
    if not said.startswith("tools/release: git rev-parse"):
        sys.exit(f"expected a message for a revision that is not there, found {said}")


def check_validity(made, build):
    """What the validators say, also of a bill that is damaged."""
    validator = real_conan.install(build, VALIDATORS, "check-jsonschema")
    for schema, pattern in SCHEMAS:
        if not (files := sorted(ROOT.glob(pattern))):
            sys.exit(f"expected {pattern}, found none")
        run(validator, "--builtin-schema", f"vendor.{schema}", *files)
    [bill] = made.glob("*.cdx.json")
    run(validator.parent / "python", "-c", BOM, bill)
    damaged = json.loads(bill.read_text())
    damaged["components"][0]["hashes"][0]["content"] = "0"
    bill.write_text(json.dumps(damaged))
    run(validator.parent / "python", "-c", BOM, bill, works=False)


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--build", type=pathlib.Path, required=True)
    options = parser.parse_args()
    if not shutil.which("git"):
        real_conan.skip("found no git")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        tree = repository(folder / "tree")
        made = check_same_bytes(tree, folder)
        check_content(tree, made)
        print("the files of a release: the same bytes twice, and whole", flush=True)
        check_validity(made, options.build.resolve())
    print("the files of a release are valid")


if __name__ == "__main__":
    main()
