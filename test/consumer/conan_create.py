#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes Conan's package by the command of docs/building.md, in a copy of the tree, with Conan 2
itself and with no remote: the libraries of the system are its requirements.

conan create compiles and runs test/consumer/conan with the package. After that: the package has
what CMake installs (packages.py), and the modules that the recipe names; C++17 is refused by a
message that says what to add; the options choose the requirements; pkg-config and an editable tree
find the files of cmake/ too. Exit code 77 (skipped) where pip provides no Conan.

usage: conan_create.py --compiler CXX --build FOLDER [--self-test]
       FOLDER gets a virtual environment, which the next run takes again.
       --self-test plants faults in the recipe, each alone, and expects the message of each.
"""
import argparse
import ast
import fnmatch
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import packages  # noqa: E402
import real_conan  # noqa: E402

CPP20 = ("-s", "compiler.cppstd=20")


def copy_of_tree(folder):
    """A copy of the files of the tree, without those that git ignores."""
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others",
                             "--exclude-standard"], stdout=subprocess.PIPE, text=True,
                            stderr=subprocess.DEVNULL)
    if listed.returncode:  # not a repository
        shutil.copytree(ROOT, folder, ignore=lambda at, names: [
            name for name in names if name in (".git", "__pycache__") or
            (pathlib.Path(at) / name / "CMakeCache.txt").exists()])
        return folder
    for name in listed.stdout.split("\0"):
        if name and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


def files_of(tree):
    """All files of a tree outside of build/, with their content."""
    return {path.relative_to(tree): path.read_bytes() for path in tree.rglob("*")
            if path.is_file() and path.relative_to(tree).parts[0] != "build"}


def package_of(answer):
    """Of Conan's answer in JSON: the folder of lamina's package, and what it tells its users."""
    [node] = [node for node in answer["graph"]["nodes"].values() if node.get("name") == "lamina"]
    return node, node["cpp_info"]["root"]


def modules_of(info):
    return [pathlib.Path(path) for path in info["properties"]["cmake_build_modules"]]


def faults_of_modules(root, folder, info):
    """Which modules a recipe names and should not, and the other way round."""
    named = {path if path.is_absolute() else folder / path for path in modules_of(info)}
    for path in sorted(named):
        if not path.is_file():
            yield f"cmake_build_modules: {path.name}: expected it in the package, found none"
    for name in packages.modules_of(root):
        if name.endswith(".cmake") and name not in {path.name for path in named}:
            yield f"cmake_build_modules: expected {name}, found none"


def faults_of_exports(root):
    """Which patterns of exports_sources name no file."""
    [patterns] = [ast.literal_eval(node.value)
                  for node in ast.walk(ast.parse((root / "conanfile.py").read_text()))
                  if isinstance(node, ast.Assign)
                  and ast.unparse(node.targets[0]) == "exports_sources"]
    names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern.removeprefix("!")):
            yield f"exports_sources: expected files of '{pattern}' in the tree, found none"


def faults_of_package(root, conan):
    """The faults of the package that the recipe of a tree makes, without a test of it."""
    answer, said = conan.json("create", ".", *CPP20, "--build=missing", "--test-folder=", cwd=root)
    if not answer:
        return [said]
    node, info = package_of(answer)
    folder = pathlib.Path(node["package_folder"])
    faults = [*packages.faults_of_files(root, folder, folder / "lib/cmake/lamina"),
              *faults_of_modules(root, folder, info), *faults_of_exports(root)]
    if not (folder / "licenses/LICENSE").is_file():
        faults.append("expected licenses/LICENSE in the package, found none")
    return faults


def check_refusal(tree, conan):
    said = conan("create", ".", "-s", "compiler.cppstd=17", "--build=missing", cwd=tree,
                 works=False)
    if "lamina needs C++20: add -s compiler.cppstd=20 to the command" not in said:
        sys.exit(f"expected what C++17 lacks, found\n{said[-2000:]}")


def check_command(tree, conan):
    """The command of the page makes a package, and the test of it runs."""
    [command] = re.findall(r"`(conan create [^`]*)`", (ROOT / "docs/building.md").read_text())
    without = () if "zlib" in conan.libraries else ("-o", "lamina/*:with_zlib=False")
    before = files_of(tree)
    said = conan(*shlex.split(command)[1:], *without, cwd=tree)
    if "\nas expected\n" not in said:
        sys.exit(f"expected the program to say 'as expected', found\n{said[-3000:]}")
    functions = set(re.findall(r"lamina has the function (\w+)", said))
    written = {name for path in (tree / "cmake").glob("lamina_*.cmake")
               for name in re.findall(r"^ *function\((\w+)", path.read_text(), re.M)}
    if functions != written or not written:
        sys.exit(f"expected the functions {sorted(written)}, found {sorted(functions)}")
    after = files_of(tree)
    if new := [name for name in after if before.get(name) != after[name]]:
        sys.exit(f"expected no file of the tree to change, found {new}")
    flags = "".join(path.read_text() for path in (tree / "build").rglob("*")
                    if path.name in ("build.ninja", "flags.make"))
    for name in {"xtensor", "xtl", "xsimd"} | {"zlib"} & conan.libraries.keys():
        if not re.search(rf"isystem {re.escape(str(conan.home))}/p/b/{name[:5]}\w*/p/include",
                         flags):
            sys.exit(f"expected the headers of {name} in the program's flags, found none")
    print(f"{command}: makes a package, with which a program compiles and runs")


def check_options(tree, conan):
    """What the options add to the requirements and to the flags."""
    if "cli11" not in conan.libraries:
        print("with_cli11: left out: found no CLI11")
        return
    answer, said = conan.json("create", ".", *CPP20, "--build=missing", "--test-folder=",
                              "-o", "lamina/*:with_zlib=False", "-o", "lamina/*:with_cli11=True",
                              cwd=tree)
    if not answer:
        sys.exit(said)
    node, info = package_of(answer)
    needs = sorted(needed["ref"].split("/")[0] for needed in node["dependencies"].values()
                   if needed["direct"])
    if needs != ["cli11", "xsimd", "xtensor"] or info["defines"] != ["LAMINA_HAS_ZLIB=0"]:
        sys.exit(f"expected the requirements of the options, found {needs}, {info['defines']}")


def check_generators(tree, conan, folder):
    """pkg-config, and an editable tree in place of a package."""
    reference = ("--requires=lamina/[*]", *CPP20, "--build=missing")
    conan("install", *reference, "-g", "PkgConfigDeps", cwd=folder)
    sources = [name for name in packages.modules_of(tree) if name.endswith(".cpp")]
    if found := list(packages.faults_of_pkg_config(folder / "lamina.pc", sources)):
        sys.exit("\n".join(found))
    conan("editable", "add", tree)
    answer, said = conan.json("install", *reference, cwd=folder)
    if not answer:
        sys.exit(said)
    _, info = package_of(answer)
    if found := list(faults_of_modules(tree, tree, info)):
        sys.exit("editable: " + "\n".join(found))
    if {path.parent for path in modules_of(info)} != {tree / "cmake"}:
        sys.exit(f"editable: expected the modules of {tree}/cmake, found {modules_of(info)}")


def self_test(conan):
    modules = packages.modules_of(ROOT)
    last = [name for name in modules if name.endswith(".cmake")][-1]
    exports = r'^    exports_sources = "include/\*",'
    named = r'^ *self\.cpp_info\.set_property\("cmake_build_modules"'
    again = '        self.cpp_info.set_property("cmake_build_modules"'
    packages.expect_faults([
        *(("conanfile.py", exports, f'    exports_sources = "!cmake/{name}", "include/*",',
           f"cmake/{name}: expected lib/cmake/lamina/{name}") for name in (last, modules[0])),
        ("conanfile.py", exports, '    exports_sources = "cmake/lamina_x*", "include/*",',
         "exports_sources: expected files of 'cmake/lamina_x*'"),
        ("conanfile.py", r'^ *\("\*\.cuh", "include", "include"\),\n', "",
         ".cuh: expected in the tree and in"),
        ("conanfile.py", r'"\*\.cuh", "include"', '"*.cux", "include"',
         "expected *.cux in the folder 'include' of the sources, found none"),
        ("conanfile.py", r'^ *\("cuda_kernels", "cmake", "bin"\)', '("cuda_kernels", "cmake", "x")',
         "bin/cuda_kernels"),
        ("conanfile.py", named, "        names.append('lamina_absent.cmake')\n" + again,
         "cmake_build_modules: lamina_absent.cmake: expected it"),
        ("conanfile.py", named, f"        names.remove('{last}')\n" + again,
         f"cmake_build_modules: expected {last}"),
        ("cmake/helper", "^", "echo\n", "cmake/helper: expected bin/lamina_helper"),
    ], lambda root: faults_of_package(root, conan))


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    program = real_conan.install(options.build.resolve())
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        conan = real_conan.conan(program, folder, options.compiler)
        if options.self_test:
            return self_test(conan)
        tree = copy_of_tree(folder / "tree")
        check_refusal(tree, conan)
        check_command(tree, conan)
        if found := faults_of_package(tree, conan):
            sys.exit("\n".join(found))
        check_options(tree, conan)
        check_generators(tree, conan, folder)
    print("Conan: the package has what CMake installs")


if __name__ == "__main__":
    main()
