// SPDX-License-Identifier: Apache-2.0
// fuzz --reader=NAME [libFuzzer's options] [CORPUS...] - feeds one of lamina's readers with damaged
// files. All readers are in one program, for most of its compile time is theirs together.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <fuzz/targets.hpp>
#include <unistd.h>

#include <lamina/core/files/file.hpp>

namespace {

struct target {
  std::string_view name;
  void (*run)(std::string_view);
};
constexpr target targets[] = {{"json", fuzz::json},
                              {"proto", fuzz::proto},
                              {"parameters", fuzz::parameters},
                              {"inference_model", fuzz::inference_model},
                              {"onnx", fuzz::onnx},
                              {"npy", fuzz::npy},
                              {"npz", fuzz::npz},
                              {"safetensors", fuzz::safetensors},
                              {"tar", fuzz::tar},
                              {"recordio", fuzz::recordio},
                              {"cifar", fuzz::cifar},
                              {"flowers", fuzz::flowers},
                              {"mq2007", fuzz::mq2007},
                              {"sentiment", fuzz::sentiment},
                              {"voc2012", fuzz::voc2012},
                              {"conll05", fuzz::conll05},
                              {"imdb", fuzz::imdb},
                              {"imikolov", fuzz::imikolov},
                              {"movielens", fuzz::movielens},
                              {"wmt14", fuzz::wmt14},
                              {"wmt16", fuzz::wmt16}};
const target* chosen = nullptr;

}  // namespace

namespace fuzz {

const std::string& folder() {
  static const std::string path = [] {
    const bool in_memory = ::access("/dev/shm", W_OK) == 0;
    const char* other = std::getenv("TMPDIR");
    std::string base = in_memory ? "/dev/shm" : other != nullptr ? other : "/tmp";
    base += "/lamina_fuzz_" + std::to_string(::getpid());
    lamina::make_directories(base);
    static const std::string made = base;
    std::atexit([] { ::rmdir(made.c_str()); });
    return base;
  }();
  return path;
}

}  // namespace fuzz

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  for (int i = 1; i < *count; ++i) {
    const std::string_view argument = (*arguments)[i];
    for (const target& t : targets)
      if (argument == std::string("--reader=") + std::string(t.name)) chosen = &t;
  }
  if (chosen == nullptr) {
    std::fputs("usage: fuzz --reader=(", stderr);
    for (const target& t : targets)
      std::fprintf(stderr, "%s%s", &t == targets ? "" : " | ", t.name.data());
    std::fputs(") [-max_total_time=SECONDS] [CORPUS...]\n", stderr);
    std::exit(2);
  }
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  chosen->run({reinterpret_cast<const char*>(bytes), size});
  return 0;
}
