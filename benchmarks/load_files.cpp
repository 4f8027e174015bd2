// SPDX-License-Identifier: Apache-2.0
// How fast 100 MB of parameters are read from files in the page cache. `plain_read` is the bound:
// read() of as many bytes into memory that is asked for anew, as every loader must, and
// `plain_read_again` into memory that was touched before. Compare bytes_per_second.
//   build/release/benchmarks/benchmark_load_files [--benchmark_filter=...]
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <lamina/io/inference_model.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#include <lamina/io/safetensors.hpp>
#include <lamina/layers/layers.hpp>
#include <lamina/model/model.hpp>

namespace layer = lamina::layer;

namespace {

constexpr int width = 2560;
constexpr double megabytes = 4.0 * 4 * (width * width + width) / 1e6;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto h = layer::data<"x", float, width>(main);
  for (int i = 0; i < 4; ++i) h = layer::fc<width>(h, {.act = lamina::activation::relu});
  return layer::scale(h, 1, {.name = "y"});
});
using net_model = lamina::model<std::remove_const_t<decltype(net)>>;

/// The files of all kinds, in memory where the system has such a file system.
class files {
 public:
  files() {
    std::string name = ::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    name += "/lamina_load_XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder = name;
    lamina::scope variables;
    const lamina::program_view p = net.view();
    for (int i = 0; i < p.count.parameters; ++i) {
      const int v = p.parameters[i].variable;
      lamina::tensor_shape shape;
      for (int d = 0; d < p.variables[v].rank; ++d)
        shape.push_back(static_cast<std::size_t>(p.dims[p.variables[v].dims + d]));
      variables.var(lamina::name_of(p, v)) = lamina::tensor::filled<float>(shape, 0.25f);
    }
    const std::string target = lamina::name_of(p, p.outputs[0]);
    save_inference_model(folder + "/separate", p, variables, {target});
    save_inference_model(folder + "/one", p, variables, {target}, {"__model__", "all"});
    lamina::save_npz(folder + "/npz", variables);
    lamina::save_safetensors(folder + "/safetensors", variables);
    lamina::to_tar(folder + "/tar", variables);
    lamina::load_npz(folder + "/npz", model);
    model.save(folder + "/model");
  }
  ~files() {
    const std::string command = "rm -r '" + folder + "'";
    if (std::system(command.c_str()) != 0) std::perror("rm");
  }
  std::string folder;
  net_model model{net};
};
files& all() {
  static files made;
  return made;
}

void count(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(megabytes * 1e6) * state.iterations());
}

void plain_read(benchmark::State& state) {
  const std::string path = all().folder + "/one/all";
  const std::size_t size = lamina::read_file(path).size();
  for (auto _ : state) {
    const std::unique_ptr<char[]> bytes(new char[size]);
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (std::setvbuf(file, nullptr, _IONBF, 0) != 0 ||
        std::fread(bytes.get(), 1, size, file) != size)
      std::abort();
    std::fclose(file);
    benchmark::DoNotOptimize(bytes.get());
  }
  count(state);
}
void plain_read_again(benchmark::State& state) {
  const std::string path = all().folder + "/one/all";
  std::string bytes = lamina::read_file(path);
  for (auto _ : state) {
    std::FILE* file = std::fopen(path.c_str(), "rb");
    if (std::setvbuf(file, nullptr, _IONBF, 0) != 0 ||
        std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size())
      std::abort();
    std::fclose(file);
    benchmark::DoNotOptimize(bytes.data());
  }
  count(state);
}
template <class Load>
void run(benchmark::State& state, Load load) {
  all();
  for (auto _ : state) load();
  count(state);
}

void inference_model_separate(benchmark::State& state) {
  run(state, [] {
    const auto m = lamina::load_inference_model(all().folder + "/separate");
    benchmark::DoNotOptimize(m.variables.get());
  });
}
void inference_model_one_file(benchmark::State& state) {
  run(state, [] {
    const auto m = lamina::load_inference_model(all().folder + "/one", {"__model__", "all"});
    benchmark::DoNotOptimize(m.variables.get());
  });
}
void safetensors(benchmark::State& state) {
  run(state, [] {
    const auto values = lamina::load_safetensors(all().folder + "/safetensors");
    benchmark::DoNotOptimize(&values);
  });
}
void npz(benchmark::State& state) {
  run(state, [] {
    const auto values = lamina::load_npz(all().folder + "/npz");
    benchmark::DoNotOptimize(&values);
  });
}
void tar(benchmark::State& state) {
  run(state, [] {
    const auto values = lamina::from_tar(all().folder + "/tar");
    benchmark::DoNotOptimize(&values);
  });
}
void npz_into_model(benchmark::State& state) {
  run(state, [] { lamina::load_npz(all().folder + "/npz", all().model); });
}
void own_file_into_model(benchmark::State& state) {
  run(state, [] { all().model.load(all().folder + "/model"); });
}
BENCHMARK(plain_read)->Unit(benchmark::kMillisecond);
BENCHMARK(plain_read_again)->Unit(benchmark::kMillisecond);
BENCHMARK(inference_model_separate)->Unit(benchmark::kMillisecond);
BENCHMARK(inference_model_one_file)->Unit(benchmark::kMillisecond);
BENCHMARK(safetensors)->Unit(benchmark::kMillisecond);
BENCHMARK(npz)->Unit(benchmark::kMillisecond);
BENCHMARK(tar)->Unit(benchmark::kMillisecond);
BENCHMARK(npz_into_model)->Unit(benchmark::kMillisecond);
BENCHMARK(own_file_into_model)->Unit(benchmark::kMillisecond);

}  // namespace
