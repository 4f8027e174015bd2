#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every file that a package names is in it, and every file of include/ and cmake/ is in each
package.

The packages: what CMake installs, and what the port of vcpkg makes of it. conan_create.py compares
Conan's package by the same functions. The files of Meson and Bazel, which use a tree as it is, name
the version, and every file and module that they need.

usage: packages.py --compiler CXX [--self-test]
       --self-test plants faults in a copy of the tree, each alone, and expects the message of each.
"""
import argparse
import fnmatch
import pathlib
import re
import shlex
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import vcpkg_port  # noqa: E402
from command import run  # noqa: E402

HEADERS = ("*.hpp", "*.cuh", "*_LICENSE.md")
RECIPES = ("CMakeLists.txt", "conanfile.py", "vcpkg.json", "LICENSE", "cmake", "meson.build",
           "MODULE.bazel", "BUILD.bazel", "CITATION.cff",
           "include/lamina/lamina.hpp", "include/lamina/lamina.cuh", "include/lamina/core",
           "include/lamina/dataset/DIGITS_LICENSE.md")


def copy_of_recipes(folder):
    """A copy of what the packages are made of, with a few of the headers, which is quicker."""
    for name in RECIPES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def modules_of(root):
    """The files of cmake/ by name, those that CMake includes and those that these compile."""
    return sorted(path.name for path in (root / "cmake").glob("lamina_*"))


def faults_of_files(root, package, modules):
    """What the include/ and cmake/ of a tree have and a package lacks, and the other way round;
    `modules` is the package's folder for files of cmake/."""
    def relative(folder):
        return {path.relative_to(folder).as_posix() for path in folder.rglob("*")
                if path.is_file() and any(fnmatch.fnmatch(path.name, p) for p in HEADERS)}

    there = relative(package / "include")
    for name in sorted(relative(root / "include") ^ there):
        yield f"include/{name}: expected in the tree and in the package, found in " + (
            "the package alone" if name in there else "the tree alone")
    if not there:
        yield "expected headers, found none"
    for path in sorted((root / "cmake").iterdir()):
        to = modules / path.name if path.name.startswith("lamina_") else (
            package / "bin" / f"lamina_{path.name}")
        if path.is_file() and not to.is_file():
            where = to.relative_to(package)
            yield f"cmake/{path.name}: expected {where} in the package, found none"
    for path in sorted(modules.glob("lamina_*")):
        if not (root / "cmake" / path.name).is_file():
            yield f"{path.relative_to(package)}: expected it in cmake/ of the tree, found none"
        for name in re.findall(r"LIST_DIR\}/([\w./-]+\.\w+)", path.read_text()):
            if not (modules / name).exists():
                yield f"{path.name}: expected {name}, which it names, beside it, found none"


def faults_of_config(modules):
    """Which modules a package's lamina-config.cmake includes, and which it should."""
    if not (modules / "lamina-config.cmake").is_file():
        yield f"expected lamina-config.cmake in {modules}, found none"
        return
    included = re.findall(r'^include\("\$\{CMAKE_CURRENT_LIST_DIR\}/(.*)"\)$',
                          (modules / "lamina-config.cmake").read_text(), re.M)
    for name in included:
        if not (modules / name).is_file():
            yield f"lamina-config.cmake: includes {name}, expected it in the package, found none"
    for path in sorted(modules.glob("lamina_*.cmake")):
        if path.name not in included:
            yield f"lamina-config.cmake: expected a line that includes {path.name}, found none"


def faults_of_pkg_config(pc, sources):
    """Which paths of a .pc file are not there; each of `sources`, such as lamina_io.cpp, must be
    the value of a variable, such as io_source."""
    if not pc.is_file():
        yield f"expected {pc}, found none"
        return
    variables = {"pcfiledir": str(pc.parent)}

    def expanded(text):
        return re.sub(r"\$\{(\w+)\}", lambda name: variables[name[1]], text)

    text = pc.read_text()
    for name, value in re.findall(r"^(\w+)=(.*)$", text, re.M):
        variables[name] = expanded(value)
    for name, value in variables.items():
        if "/" in value and not pathlib.Path(value).exists():
            yield f"{pc.name}: {name} is {value}, expected that it exists"
    for flag in shlex.split(expanded("".join(re.findall(r"^Cflags:(.*)", text, re.M)))):
        if flag.startswith("-I") and not (pathlib.Path(flag[2:]) / "lamina/lamina.hpp").is_file():
            yield f"{pc.name}: expected the headers in {flag[2:]}, found none"
    for source in sources:
        name = source.removeprefix("lamina_").replace(".cpp", "_source")
        if pathlib.Path(variables.get(name, "")).name != source:
            yield f"{pc.name}: expected the path of {source} in {name}, found {variables.get(name)}"


def faults_of_cmake(root, package, modules):
    """The faults of a package that CMake installs."""
    yield from faults_of_files(root, package, modules)
    yield from faults_of_config(modules)
    yield from faults_of_pkg_config(package / "share/pkgconfig/lamina.pc",
                                    [name for name in modules_of(root) if name.endswith(".cpp")])


def faults_of_vcpkg(root, package):
    """The faults of the package of vcpkg's port, and of the manifests."""
    modules = package / "share/lamina"
    yield from faults_of_cmake(root, package, modules)
    for name in ("usage", "copyright"):
        if not (modules / name).is_file():
            yield f"expected share/lamina/{name}, found none"
            return
    said = "".join(path.read_text() for path in sorted(modules.glob("*.cmake")))
    for target in re.findall(r"lamina::\w+", (modules / "usage").read_text()):
        if target not in said:
            yield f"usage: expected the target {target} in a file of CMake, found none"
    terms = (modules / "copyright").read_text()
    for path in (root / "LICENSE", *(root / "include").rglob("*_LICENSE.md")):
        if path.read_text() not in terms:
            yield f"copyright: expected the text of {path.relative_to(root)}, found none"


def faults_of_manifests(root):
    """The faults of the files that name a version, and of those of Meson and Bazel."""
    version = ".".join(re.findall(r"#define LAMINA_VERSION_\w+ (\d+)", (
        root / "include/lamina/core/config.hpp").read_text()))
    text = {}
    for name, line in (("cmake/vcpkg/lamina/vcpkg.json", '"version-semver": "{}"'),
                       ("vcpkg.json", '"version-semver": "{}"'),
                       ("meson.build", "version: '{}', license"),
                       ("CITATION.cff", "\nversion: {}\n"),
                       ("MODULE.bazel", 'name = "lamina",\n    version = "{}"')):
        text[name] = (root / name).read_text()
        if line.format(version) not in text[name]:
            yield f"{name}: expected version {version}, found another"
    compiled = {f"cmake/compiled/{path.name}" for path in (root / "cmake/compiled").iterdir()
                if path.name != "mpi.cpp"}
    if named := compiled ^ set(re.findall(r"'(cmake/[^']+)'", text["meson.build"])):
        yield f"meson.build: expected the files of cmake/compiled, found otherwise {sorted(named)}"
    build = (root / "BUILD.bazel").read_text()
    for pattern in re.findall(r'"((?:include|cmake)/[^"]+)"', build):
        if not list(root.glob(pattern)):
            yield f"BUILD.bazel: expected files of {pattern}, found none"
    needs = {module for module in re.findall(r'"@(\w+)[/"]', build)}
    if needs ^ set(re.findall(r'bazel_dep\(name = "(\w+)"', text["MODULE.bazel"])):
        yield f"MODULE.bazel: expected the modules {sorted(needs)}, found others"


def faults_of(root, compiler, packages=("CMake", "vcpkg", "manifests")):
    """The faults of the packages of a tree."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        faults = []
        if "CMake" in packages:
            run("cmake", "-G", "Ninja", "-S", root, "-B", folder / "build",
                f"-DCMAKE_CXX_COMPILER={compiler}", "-DLAMINA_BUILD_TESTS=OFF",
                "-DLAMINA_BUILD_EXAMPLES=OFF", "-DLAMINA_BUILD_BENCHMARKS=OFF")
            run("cmake", "--install", folder / "build", "--prefix", folder / "installed")
            faults += [f"CMake: {fault}" for fault in faults_of_cmake(
                root, folder / "installed", folder / "installed/share/cmake/lamina")]
        if "vcpkg" in packages:
            made = vcpkg_port.install(root, compiler, folder)
            faults += [f"vcpkg: {fault}" for fault in faults_of_vcpkg(root, made)]
        if "manifests" in packages:
            faults += faults_of_manifests(root)
        return faults


def changed(root, name, old, new):
    """Changes the first match of `old` in a file of a tree; returns its text before that."""
    path = root / name
    before = path.read_text() if path.exists() else ""
    if not (after := re.subn(old, lambda _: new, before, count=1, flags=re.M))[1]:
        sys.exit(f"self test: expected '{old}' in {name}, found none")
    path.write_text(after[0])
    return before


def expect_faults(faults, find):
    """Plants each fault (file, pattern, new text, part of the message) alone in a copy of the tree;
    find(root) has to find it, and nothing in the copy as it is."""
    with tempfile.TemporaryDirectory() as folder:
        root = copy_of_recipes(pathlib.Path(folder))
        if found := find(root):
            sys.exit("self test: expected no fault, found\n" + "\n".join(found))
        for name, old, new, message in faults:
            before = changed(root, name, old, new)
            found = find(root)
            if not any(message in fault for fault in found):
                sys.exit(f"self test: {name} with {new!r}: expected '{message}', found {found}")
            if before:
                (root / name).write_text(before)
            else:
                (root / name).unlink()
    print(f"self test: {len(faults)} faults, each found")


def self_test(compiler):
    last = [name for name in modules_of(ROOT) if name.endswith(".cmake")][-1]
    source = [name for name in modules_of(ROOT) if name.endswith(".cpp")][-1]
    config = r"^ *file\(CONFIGURE OUTPUT lamina-config\.cmake"
    pc = r"^ *file\(CONFIGURE OUTPUT lamina\.pc"
    expect_faults([
        ("CMakeLists.txt", r"^if\(LAMINA_INSTALL\)", "list(POP_BACK _modules)\nif(LAMINA_INSTALL)",
         f"CMake: cmake/{last}: expected share/cmake/lamina/{last}"),
        ("CMakeLists.txt", r"^if\(LAMINA_INSTALL\)",
         "list(POP_BACK _module_sources)\nif(LAMINA_INSTALL)",
         f"CMake: cmake/{source}: expected share/cmake/lamina/{source}"),
        (f"cmake/{last}", "^", "# ${CMAKE_CURRENT_LIST_DIR}/lamina_absent.cpp\n",
         "expected lamina_absent.cpp, which it names, beside it"),
        ("CMakeLists.txt", config, 'set(_includes "")\nfile(CONFIGURE OUTPUT lamina-config.cmake',
         f"expected a line that includes {last}"),
        ("CMakeLists.txt", config, "string(APPEND _includes "
         '"include(\\"\\${CMAKE_CURRENT_LIST_DIR}/lamina_absent.cmake\\")\\n")\n'
         "file(CONFIGURE OUTPUT lamina-config.cmake", "includes lamina_absent.cmake"),
        ("CMakeLists.txt", pc, 'set(_pc_sources "")\nfile(CONFIGURE OUTPUT lamina.pc',
         f"expected the path of {source}"),
        ("CMakeLists.txt", pc, 'string(APPEND _pc_sources "a=\\${pcfiledir}/absent.cpp\\n")\n'
         "file(CONFIGURE OUTPUT lamina.pc", "absent.cpp, expected that it exists"),
        ("CMakeLists.txt", r" include/lamina/\*\.cuh", "", ".cuh: expected in the tree and in"),
        ("CMakeLists.txt", r"^ *install\(FILES include/lamina/dataset/DIGITS_LICENSE\.md\n.*\n", "",
         "DIGITS_LICENSE.md: expected in the tree and in"),
        ("cmake/helper", "^", "echo\n", "CMake: cmake/helper: expected bin/lamina_helper"),
    ], lambda root: faults_of(root, compiler, ["CMake"]))
    expect_faults([
        ("cmake/vcpkg/lamina/portfile.cmake", r"^vcpkg_cmake_config_fixup\(\)",
         'file(RENAME "${CURRENT_PACKAGES_DIR}/share/lamina" "${CURRENT_PACKAGES_DIR}/x")\n'
         "vcpkg_cmake_config_fixup(CONFIG_PATH x)\n"
         'file(REMOVE "${CURRENT_PACKAGES_DIR}/share/lamina/lamina-config.cmake")',
         "vcpkg: expected lamina-config.cmake"),
        ("cmake/vcpkg/lamina/portfile.cmake",
         r'"-DLAMINA_INSTALL_CMAKEDIR.*?"((?:.|\n)*?)vcpkg_cmake_config_fixup\(\)',
         "${FEATURE_OPTIONS})\nvcpkg_cmake_install()\n"
         "vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/lamina)", "vcpkg: lamina.pc: "),
        ("cmake/vcpkg/lamina/usage", "^", "lamina::absent\n", "usage: expected the target"),
        ("cmake/vcpkg/lamina/portfile.cmake", r"\n.*DIGITS_LICENSE\.md\"", "",
         "copyright: expected the text of include"),
    ], lambda root: faults_of(root, compiler, ["vcpkg"]))
    expect_faults([
        ("vcpkg.json", '"version-semver": ".*"', '"version-semver": "0.0.0"',
         "vcpkg.json: expected version"),
        ("meson.build", "version: '[^']*', license", "version: '0.0.0', license",
         "meson.build: expected version"),
        ("cmake/compiled/new.cpp", "^", "int i;\n", "meson.build: expected the files"),
        ("BUILD.bazel", r'"include/lamina/\*\*/\*\.cuh"', '"include/lamina/**/*.cux"',
         "BUILD.bazel: expected files of include/lamina/**/*.cux"),
        ("MODULE.bazel", r'^bazel_dep\(name = "xsimd".*\n', "",
         "MODULE.bazel: expected the modules"),
    ], lambda root: list(faults_of_manifests(root)))


def main():
    parser = argparse.ArgumentParser(usage=__doc__[__doc__.index("usage: ") + 7:])
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test(options.compiler)
    if found := faults_of(ROOT, options.compiler):
        sys.exit("\n".join(found))
    print(f"CMake and vcpkg: {len(modules_of(ROOT))} files of cmake/lamina_* and all headers are "
          "in each package, and every file that it names")


if __name__ == "__main__":
    main()
