// SPDX-License-Identifier: Apache-2.0
// Whatever writes files may be killed at any point: each file is the old or the new one, whole.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <map>

#include "temporary_folder.hpp"
#include <catch2/catch.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lamina/inspect/program_text.hpp>
#include <lamina/io/arrays/variable_files.hpp>
#include <lamina/io/export_onnx.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/program_desc_json.hpp>
#include <lamina/io/program_desc_proto.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/train/checkpoints/checkpoint.hpp>

namespace {

namespace layer = lamina::layer;

// Two nets whose files have the same names.
constexpr auto tanh_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 40>(main);
  auto h = layer::fc<70>(x, {.act = lamina::activation::tanh});
  return layer::fc<3>(h, {.name = "output"});
});
constexpr auto relu_net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 40>(main);
  auto h = layer::fc<70>(x, {.act = lamina::activation::relu});
  return layer::fc<3>(h, {.name = "output"});
});

/// Something that writes: `save` is given a folder and which of two versions to write.
struct writer {
  const char* name;
  void (*save)(const std::string& folder, bool second);
};
template <class F>
void with_model(bool second, F&& f) {
  if (second)
    f(lamina::model{relu_net, 2});
  else
    f(lamina::model{tanh_net, 1});
}
lamina::program_view program_of(bool second) { return second ? relu_net.view() : tanh_net.view(); }
lamina::named_tensors values_of(bool second) {
  lamina::named_tensors values;
  with_model(second, [&](const auto& m) { values = lamina::tensors_of(m); });
  return values;
}
const writer writers[] = {
    {"model.save",
     [](const std::string& to, bool second) {
       with_model(second, [&](const auto& m) { m.save(to + "/net"); });
     }},
    {"a checkpoint",
     [](const std::string& to, bool second) {
       with_model(second, [&](const auto& m) {
         lamina::detail::write_checkpoint(to, m.arrays(), m.arrays(), {"sgd", 7, {1, 2}, 3}, 0);
       });
     }},
    {"save_persistables, a file each",
     [](const std::string& to, bool second) {
       with_model(second, [&](const auto& m) { lamina::save_persistables(to, m); });
     }},
    {"save_persistables, all in one",
     [](const std::string& to, bool second) {
       with_model(second, [&](const auto& m) { lamina::save_persistables(to, m, "all"); });
     }},
    {"save_inference_model",
     [](const std::string& to, bool second) {
       with_model(second, [&](const auto& m) { lamina::save_inference_model(to, m, {"output"}); });
     }},
    {"export_onnx",
     [](const std::string& to, bool second) {
       with_model(second, [&](const auto& m) { lamina::export_onnx(to + "/net.onnx", m); });
     }},
    {"save_npy",
     [](const std::string& to, bool second) {
       lamina::save_npy(to + "/w.npy", values_of(second).at("fc_0.w_0"));
     }},
    {"save_npz", [](const std::string& to,
                    bool second) { lamina::save_npz(to + "/net.npz", values_of(second)); }},
    {"save_safetensors",
     [](const std::string& to, bool second) {
       lamina::save_safetensors(to + "/net.safetensors", values_of(second));
     }},
    {"to_tar", [](const std::string& to,
                  bool second) { lamina::to_tar(to + "/net.tar", values_of(second)); }},
    {"write_file of protobuf, JSON and dot", [](const std::string& to, bool second) {
       const lamina::program_message m = lamina::to_program_message(program_of(second));
       lamina::write_file(to + "/net.pdmodel", lamina::to_proto(m));
       lamina::write_file(to + "/net.json", lamina::to_json(m).dump(1));
       lamina::write_file(to + "/net.dot", lamina::to_dot(m));
     }}};

using contents = std::map<std::string, std::string>;

bool is_partial(const std::string& name) { return name.ends_with(".writing"); }

contents files_in(const std::string& folder) {
  contents files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    files[path.substr(folder.size() + 1)] = lamina::read_file(path);
  }
  return files;
}
/// How many files are the new ones. Every file has to be an old or a new one.
int new_files(const std::string& folder, const contents& old_files, const contents& all_new) {
  int count = 0;
  const contents found = files_in(folder);
  for (const auto& [name, before] : old_files) {
    REQUIRE(found.count(name) == 1);
    const std::string& now = found.at(name);
    const bool is_new = now == all_new.at(name), is_old = now == before;
    INFO(name << ": " << now.size() << " bytes");
    REQUIRE((is_new || is_old));
    count += is_new;
  }
  for (const auto& [name, bytes] : found) REQUIRE((is_partial(name) || old_files.count(name) == 1));
  return count;
}
/// A process that runs `body`; the signal that ended it, or 0.
template <class F>
int end_of_process(F&& body) {
  const pid_t process = ::fork();
  REQUIRE(process >= 0);
  if (process == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(process, &status, 0) == process);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

TEST_CASE("wherever a writer is killed, the old file or the new one is whole") {
  for (const writer& w : writers) {
    INFO(w.name);
    const temporary_folder first, second, folder;
    w.save(first.path(), false);
    w.save(second.path(), true);
    const contents old_files = files_in(first.path()), all_new = files_in(second.path());
    REQUIRE(!old_files.empty());
    REQUIRE(old_files != all_new);
    std::size_t largest = 0;
    for (const auto& [name, bytes] : all_new) largest = std::max(largest, bytes.size());
    w.save(folder.path(), false);
    // The system ends a process that makes a file longer than its limit, at exactly that byte.
    constexpr std::size_t addresses = 9;
    for (std::size_t i = 0; i <= addresses; ++i) {
      const std::size_t limit = i * (largest - 1) / addresses;
      const int signal = end_of_process([&] {
        const rlimit bytes{limit, limit}, no_dump{0, 0};
        ::setrlimit(RLIMIT_CORE, &no_dump);
        ::setrlimit(RLIMIT_FSIZE, &bytes);
        std::signal(SIGXFSZ, SIG_DFL);
        w.save(folder.path(), true);
      });
      REQUIRE(signal == SIGXFSZ);
      REQUIRE(new_files(folder.path(), old_files, all_new) < static_cast<int>(old_files.size()));
    }
    // At any time, between two files and in renaming too.
    for (int i = 0; i < 8; ++i) {
      const pid_t process = ::fork();
      REQUIRE(process >= 0);
      if (process == 0)
        for (;;) {  // until it is killed
          w.save(folder.path(), true);
          w.save(folder.path(), false);
        }
      ::usleep(static_cast<useconds_t>(400 + 171 * i));
      REQUIRE(::kill(process, SIGKILL) == 0);
      REQUIRE(::waitpid(process, nullptr, 0) == process);
      new_files(folder.path(), old_files, all_new);
    }
    w.save(folder.path(), true);  // beside whatever the killed ones have left
    contents found = files_in(folder.path());
    std::erase_if(found, [](const auto& file) { return is_partial(file.first); });
    CHECK(found == all_new);
  }
}
