// SPDX-License-Identifier: Apache-2.0
// Measures how fast 105 MB of parameters are read from files in the page cache, and the peak of the
// memory that this takes. The upper bound of the speed is read() of the same number of bytes into
// newly allocated arrays of the same sizes, because every loader must do that. read() into memory
// that was used before shows the bandwidth without page faults.
//   benchmark_load_files [ROUNDS]
// Each of ROUNDS rounds (default: 15) measures all ways of reading, in a random order. A number is
// the median of the processor time, which equals the elapsed time when files are in memory. `of
// read()` is the speed as a fraction of the bound. `peak` is the peak of the memory in use, minus
// the memory before, in multiples of the size of the file.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fcntl.h>
#include <malloc.h>
#include <unistd.h>

#include <lamina/io/inference_model.hpp>
#include <lamina/io/model_files.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>

namespace layer = lamina::layer;

namespace {

constexpr int width = 2560;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto h = layer::data<"x", float, width>(main);
  for (int i = 0; i < 4; ++i) h = layer::fc<width>(h, {.act = lamina::activation::relu});
  return layer::scale(h, 1, {.name = "y"});
});
using net_program = std::remove_const_t<decltype(net)>;

/// One inference model in files of all formats. The files are in memory if the operating system has
/// a file system in memory.
class files {
 public:
  files() {
    std::string name = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    name += "/lamina_load_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    const lamina::model<net_program> model(net);
    save_inference_model(folder + "/separate", model, {"y"});
    save_inference_model(folder + "/one", model, {"y"}, {"__model__", "all"});
    lamina::save_npz(folder + "/npz", model);
    lamina::save_safetensors(folder + "/safetensors", model);
    lamina::to_tar(folder + "/tar", model);
    model.save(folder + "/own");
  }
  ~files() {
    if (std::system(("rm -r '" + folder + "'").c_str()) != 0) std::perror("rm");
  }
  std::string folder;
};

/// Reads a file by read(), in pieces of a given size. `to` returns the address for each piece.
template <class To>
void read_whole(const std::string& path, std::size_t size, std::size_t piece, To to) {
  const int file = ::open(path.c_str(), O_RDONLY);
  for (std::size_t had = 0; had < size;) {
    const ssize_t got = ::read(file, to(had), std::min(piece, size - had));
    if (got <= 0) std::abort();
    had += static_cast<std::size_t>(got);
  }
  ::close(file);
}

/// Returns the number after a name in /proc/self/status, in bytes; 0 if the operating system does
/// not have this file.
double status(const std::string& name) {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;)
    if (word == name + ":") {
      double kilobytes = 0;
      in >> kilobytes;
      return kilobytes * 1024;
    }
  return 0;
}

/// Returns the peak of the memory in use while f runs, minus the memory in use before.
double peak_of(const std::function<void()>& f) {
  ::malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;  // resets the peak to the current memory
  const double before = status("VmRSS");
  f();
  return status("VmHWM") - before;
}

double processor_time() {
  std::timespec t{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct way {
  const char* name;
  std::function<void()> load;
  std::vector<double> seconds{};

  double median() {
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

}  // namespace

int main(int count, char** argument) {
  const std::size_t rounds = count > 1 ? std::strtoul(argument[1], nullptr, 10) : 15;
  // large arrays get new pages in each measurement, for all ways of reading
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  const files all;
  const std::string& in = all.folder;
  const std::size_t size = lamina::read_file(in + "/one/all").size();
  constexpr std::size_t piece = sizeof(float) * width * width;  // the size of a parameter
  std::vector<char> touched;
  lamina::model<net_program> model(net);
  lamina::scope variables;
  way ways[] = {
      {"read()",
       [&] {
         std::vector<std::unique_ptr<char[]>> arrays;
         read_whole(in + "/one/all", size, piece,
                    [&](std::size_t) { return arrays.emplace_back(new char[piece]).get(); });
       }},
      {"read() into touched memory",
       [&] {
         touched.resize(size);
         read_whole(in + "/one/all", size, piece,
                    [&](std::size_t had) { return touched.data() + had; });
       }},
      {"load_inference_model, one file",
       [&] {
         lamina::load_inference_model(in + "/one", {"__model__", "all"});
       }},
      {"load_inference_model, separate", [&] { lamina::load_inference_model(in + "/separate"); }},
      {"load_safetensors", [&] { lamina::load_safetensors(in + "/safetensors"); }},
      {"load_npz", [&] { lamina::load_npz(in + "/npz"); }},
      {"from_tar", [&] { lamina::from_tar(in + "/tar"); }},
      {"model.load", [&] { model.load(in + "/own"); }},
  };
  std::vector<way*> order;
  for (way& w : ways) order.push_back(&w);
  std::mt19937 random(1);
  for (std::size_t i = 0; i <= rounds; ++i) {
    std::shuffle(order.begin(), order.end(),
                 random);  // pages that a large one gave back are dearer
    for (way* w : order) {
      const double start = processor_time();
      w->load();
      if (i > 0) w->seconds.push_back(processor_time() - start);
    }
  }
  std::printf("%-32s %8s %8s %10s %6s\n", "", "ms", "GB/s", "of read()", "peak");
  const double bound = ways[0].median(), bytes = static_cast<double>(size);
  for (way& w : ways) {
    const double took = w.median();
    std::printf("%-32s %8.1f %8.2f %9.0f%% %6.2f\n", w.name, took * 1e3, bytes / took / 1e9,
                100 * bound / took, peak_of(w.load) / bytes);
  }
}
