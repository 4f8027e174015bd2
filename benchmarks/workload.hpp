// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/workload.hpp - the common part of the programs in benchmarks/workloads: it
// makes inputs and parameters, and writes them to NumPy files, from which the programs of other
// libraries read them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "job.hpp"
#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xnpy.hpp>

#if defined(WORKLOAD_CUDA)
#include <lamina/lamina.cuh>
#else
#include <lamina/lamina.hpp>
#endif
#include <lamina/model/evaluation/loops_on_threads.hpp>

namespace workload {

/// The folder to which a job writes its inputs and initial parameters.
class folder {
 public:
  explicit folder(const std::filesystem::path& path) : path_(path) {
    std::filesystem::create_directories(path_);
  }

  template <class T>
  void write(const std::string& name, const std::vector<T>& values,
             const std::vector<std::size_t>& shape) const {
    xt::dump_npy((path_ / (name + ".npy")).string(), xt::adapt(values, shape));
  }
  /// Writes all parameters, in the order of creation, to parameter_00.npy, parameter_01.npy and so
  /// on.
  template <class P>
  void write(const lamina::model<P>& model) const {
    for (int i = 0; i < lamina::model<P>::parameter_arrays(); ++i) {
      char name[24];
      std::snprintf(name, sizeof name, "parameter_%02d.npy", i);
      xt::dump_npy((path_ / name).string(), xt::xarray<float>(model.get(i)));
    }
  }

 private:
  std::filesystem::path path_;
};

#if defined(WORKLOAD_CUDA)
/// Makes the job of train() on the first device; the data are on the host.
template <class P, class Opt>
class trainer {
 public:
  trainer(const Opt& how, lamina::model<P>& m, int /*threads*/) : trainer_(backend_, how, m) {}
  float step(const lamina::batch_view<P>& batch) { return trainer_.step(batch); }

 private:
  using backend = lamina::engine::cuda::place_backend<lamina::cuda::float32_type>;
  backend backend_{0};
  lamina::device_trainer<P, Opt, backend> trainer_;
};
#else
template <class P, class Opt>
using trainer = lamina::cpu_trainer<P, Opt>;
#endif

/// The threads that divide the loops of an evaluator or a gradient machine.
template <class Machine>
struct shared_loops {
  shared_loops(Machine& of, int threads) : pool(threads), loops(of, pool) {}

  lamina::worker_pool pool;
  lamina::loops_on_threads<Machine> loops;
};
template <class Machine>
auto share_loops(Machine& of, int threads) {
  return std::make_shared<shared_loops<Machine>>(of, threads);
}

/// Returns normally distributed numbers, the same in every run.
inline std::vector<float> normal(std::size_t count, unsigned seed, float scale = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> number(0, scale);
  std::vector<float> values(count);
  for (float& x : values) x = number(random);
  return values;
}
/// Returns `count` random integers from 0 to end - 1, the same in every run.
inline std::vector<std::int64_t> labels(std::size_t count, std::int64_t end, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int64_t> values(count);
  for (auto& y : values) y = static_cast<std::int64_t>(random()) % end;
  return values;
}

}  // namespace workload
