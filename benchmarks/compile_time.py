#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures what a program costs the compiler: seconds, peak memory, object size and the longest
symbol.

The subjects are the include of <lamina/lamina.hpp> alone, networks of fc layers that a for loop
records and networks of convolutions, each with a machine that trains it, a while_loop of 2,300
operators with its gradient on a machine, and examples/01_digits.cpp. Each is compiled to an object
with -O2; the least of --repeat runs counts. With --peers come the includes of dlib and of libtorch
and the same digits program written in them, each compiled in turn with lamina's (A B C, A B C ...);
the last column is lamina's seconds over theirs. Where they are missing, a terminal shows the
command that installs them and a question; with --install, or without a terminal, they are installed
at once.

With --budget it compares memory, code and functions of examples with compile_budget.txt instead
(compile_budget.py).

usage: compile_time.py [--compiler CXX]... [--layers N]... [--only TEXT]... [--repeat N]
           [--flags FLAGS] [--peers] [--install] [--json]
       compile_time.py --budget | --update-budget [--compiler CXX]... [--only TEXT]...
           [--mode MODE]...
       The default is g++ and clang++ where they exist, with 4, 16, 64 and 256 layers. --only:
       subjects with this in their names.
"""
import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import compile_budget
import packages

ROOT = pathlib.Path(__file__).resolve().parents[1]
INCLUDE_ONLY = "#include <lamina/lamina.hpp>\n"
NETWORK = """#include <lamina/lamina.hpp>
namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto h = x;
  for (int i = 0; i < LAYERS; ++i) h = layer::fc<64>(h, {.act = lamina::activation::relu});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(h), label));
});

void train() {
  lamina::model model{net};
  lamina::optimizer::sgd sgd{.learning_rate = 0.01f};
  sgd.train(model, lamina::dataset::digits::train() | lamina::reader::batch(64), {.passes = 1});
}
"""

LOOP = """#include <lamina/lamina.hpp>
namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 32>(main);
  auto i = layer::fill_constant<std::int64_t>(main, 0);
  auto n = layer::fill_constant<std::int64_t>(main, 3);
  auto going = layer::less_than(i, n);
  layer::while_loop(going, [&](lamina::block&) {
    for (int l = 0; l < 327; ++l) x = layer::fc<32>(x, {.act = lamina::activation::tanh});
    layer::increment(i);
    layer::less_than(i, n, going);
  });
  return layer::mean(x);
});
using program = lamina::with_backward<std::remove_const_t<decltype(net)>>;
static_assert(program::desc.count.operators >= 2300);

void run(float* const* parameters) {
  lamina::engine::cpu::machine<program> machine{lamina::external_buffers{parameters}};
  machine.run(~0ull, 0, 0);
}
"""

# LeNet is that of W2, the small residual network that of W7, the other one that of He et al. (2015)
# for ImageNet.
IMAGE_NETWORK = """#include <vector>
#include <lamina/lamina.hpp>
namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, SHAPE>(main);
  auto label = layer::data<"label", std::int64_t>(main);
LAYERS
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});

struct sample {
  std::vector<float> image;
  std::int64_t label;
};

void train(const std::vector<sample>& samples) {
  lamina::model model{net};
  lamina::optimizer::sgd sgd{.learning_rate = 0.01f};
  sgd.train(model, samples | lamina::reader::batch(64), {.passes = 1});
}
"""
LENET = """
  constexpr lamina::window half{.stride = 2};
  auto c1 = layer::simple_img_conv_pool<20, 5, 2, half>(image, {.act = lamina::activation::relu});
  auto c2 = layer::simple_img_conv_pool<50, 5, 2, half>(c1, {.act = lamina::activation::relu});
  auto logits = layer::fc<10>(layer::fc<500>(c2, {.act = lamina::activation::relu}));
"""
RESNET = """
  auto begin = layer::conv_bn<16, 3, lamina::window{.padding = 1}>(image);
  auto s1 = layer::basic_block<16>(layer::basic_block<16>(begin));
  auto s2 = layer::basic_block<32>(layer::basic_block<32, 2>(s1));
  auto s3 = layer::basic_block<64>(layer::basic_block<64, 2>(s2));
  auto logits = layer::fc<10>(layer::global_pool2d(s3, {.type = lamina::pooling_type::average}));
"""
RESNET_50 = """
  constexpr lamina::window overlapping{.stride = 2, .padding = 1};
  auto begin = layer::conv_bn<64, 7, lamina::window{.stride = 2, .padding = 3}>(image);
  auto s1 = layer::bottleneck_block<64>(layer::pool2d<3, overlapping>(begin));
  for (int i = 1; i < 3; ++i) s1 = layer::bottleneck_block<64>(s1);
  auto s2 = layer::bottleneck_block<128, 2>(s1);
  for (int i = 1; i < 4; ++i) s2 = layer::bottleneck_block<128>(s2);
  auto s3 = layer::bottleneck_block<256, 2>(s2);
  for (int i = 1; i < 6; ++i) s3 = layer::bottleneck_block<256>(s3);
  auto s4 = layer::bottleneck_block<512, 2>(s3);
  for (int i = 1; i < 3; ++i) s4 = layer::bottleneck_block<512>(s4);
  auto logits = layer::fc<1000>(layer::global_pool2d(s4, {.type = lamina::pooling_type::average}));
"""
IMAGE_NETWORKS = {"LeNet": ("1, 28, 28", LENET), "ResNet, W7": ("3, 32, 32", RESNET),
                  "ResNet-50": ("3, 224, 224", RESNET_50)}


# Package, further flags and header of each peer; peers/digits_NAME.cpp is its program.
PEERS = {"dlib": ("libdlib-dev", "", "dlib/dnn.h"),
         "libtorch": ("libtorch-dev", "-I/usr/include/torch/csrc/api/include", "torch/torch.h")}


def compile_once(command):
    """(seconds of processor time, peak kilobytes) of one compilation and its children, which must
    succeed."""
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            raise RuntimeError(errors.read()[:4000])
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def longest_symbol(object_file):
    """The length of the longest mangled name in an object."""
    names = subprocess.run(["nm", "-P", object_file], text=True, capture_output=True,
                           check=True).stdout
    return max((len(line.split(maxsplit=1)[0]) for line in names.splitlines()), default=0)


def measure(compiler, flags, sources, repeat):
    """The four numbers of each (source, further flags) with one compiler, compiled in turn."""
    with tempfile.TemporaryDirectory() as folder:
        runs = [[] for _ in sources]
        for _ in range(repeat):
            for number, (source, further) in enumerate(sources):
                runs[number].append(
                    compile_once([
                        *shlex.split(compiler), "-std=c++20", "-O2", *flags, *shlex.split(further),
                        "-c",
                        str(source), "-o", f"{folder}/{number}.o"
                    ]))
        return [{
            "seconds": round(min(seconds for seconds, _ in of), 2),
            "megabytes": round(min(peak for _, peak in of) / 1024),
            "object_kilobytes": round(pathlib.Path(folder, f"{number}.o").stat().st_size / 1024),
            "longest_symbol": longest_symbol(f"{folder}/{number}.o")
        } for number, of in enumerate(runs)]


def subjects(layers, folder, peers):
    """Lists of (name, source file, further flags): lamina's, and behind it the same of peers."""
    own = shlex.join([f"-I{ROOT / 'include'}"])

    def write(name, text):
        path = pathlib.Path(folder, name)
        path.write_text(text)
        return path

    yield [("include only", write("include_only.cpp", INCLUDE_ONLY), own)] + [
        (f"{peer} only", write(f"include_{peer}.cpp", f"#include <{header}>\n"), flag)
        for peer, (_, flag, header) in peers.items()]
    for count in layers:
        yield [(f"{count} fc layers",
                write(f"layers_{count}.cpp", NETWORK.replace("LAYERS", str(count))), own)]
    yield [("2,300 ops in a loop", write("loop.cpp", LOOP), own)]
    for number, (name, (shape, recorded)) in enumerate(IMAGE_NETWORKS.items()):
        yield [(name,
                write(f"images_{number}.cpp",
                      IMAGE_NETWORK.replace("SHAPE", shape).replace("LAYERS",
                                                                    recorded.strip("\n"))), own)]
    digits = ROOT / "examples" / "01_digits.cpp"
    if digits.is_file():
        yield [("examples/01_digits.cpp", digits, own)] + [
            (f"digits in {peer}", ROOT / "benchmarks" / "peers" / f"digits_{peer}.cpp", flag)
            for peer, (_, flag, _) in peers.items()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", action="append")
    parser.add_argument("--layers", action="append", type=int)
    parser.add_argument("--only", action="append")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--flags", default="", help="further flags, such as -march=native")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--install", action="store_true", help="do not ask before installing peers")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--budget", action="store_true")
    parser.add_argument("--update-budget", action="store_true")
    parser.add_argument("--mode", action="append", choices=list(compile_budget.MODES))
    options = parser.parse_args()
    compilers = options.compiler or [c for c in ("g++", "clang++") if shutil.which(c)]
    if options.budget or options.update_budget:
        return compile_budget.run(compilers, options.only, options.mode, options.update_budget,
                                  compile_once)

    absent = []
    if options.peers:
        wanted = [package for package, *_ in PEERS.values()]
        packages.agree("benchmarks/compile_time.py",
                       packages.apt_commands(packages.missing(wanted)), options.install,
                       ", or without --peers")
        absent = packages.install(wanted)
    peers = {name: peer for name, peer in PEERS.items() if options.peers and peer[0] not in absent}
    for package in absent:
        print(f"absent: {package}", file=sys.stderr)

    results, failed = [], False
    if not options.json:
        print(
            f"{'':<22}{'compiler':<14}{'seconds':>9}{'MB':>7}{'object kB':>11}"
            f"{'longest symbol':>16}"
            f"{'lamina/it' if peers else '':>11}".rstrip())
    with tempfile.TemporaryDirectory() as folder:
        for group in subjects(options.layers or [4, 16, 64, 256], folder, peers):
            names = [name for name, _, _ in group]
            if options.only and not any(text in names[0] for text in options.only):
                continue
            for compiler in compilers:
                try:
                    rows = measure(compiler, shlex.split(options.flags), [job[1:] for job in group],
                                   options.repeat)
                except RuntimeError as error:
                    failed = True
                    print(f"{', '.join(names)} with {compiler}: a file does not compile:\n{error}",
                          file=sys.stderr)
                    continue
                for name, row in zip(names, rows):
                    if name != names[0]:
                        row["lamina_over_it"] = round(rows[0]["seconds"] / row["seconds"], 2)
                    results.append({"subject": name, "compiler": compiler, **row})
                    if not options.json:
                        print(f"{name:<22}{compiler:<14}{row['seconds']:>9.2f}{row['megabytes']:>7}"
                              f"{row['object_kilobytes']:>11}{row['longest_symbol']:>16}"
                              f"{row.get('lamina_over_it', ''):>11}".rstrip(), flush=True)
    if options.json:
        print(json.dumps(results, indent=2))
    return failed


if __name__ == "__main__":
    sys.exit(main())
