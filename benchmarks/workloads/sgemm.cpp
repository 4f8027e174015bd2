// SPDX-License-Identifier: Apache-2.0
// G are products Y = X W with one thread and the shapes M x K x N of typical layers. The weights
// are packed once before, as a model stores them. Gdx is the gradient dX = dY W^T of a layer with
// few rows.
#include <memory>
#include <string>

#include "../workload.hpp"

#include <lamina/engine/common/aligned_buffer.hpp>
#include <lamina/engine/cpu/gemm/gemm.hpp>

namespace cpu = lamina::engine::cpu;

namespace {

struct operands {
  operands(int m, int k, int n, bool is_gradient, const std::filesystem::path& path) {
    const workload::folder to(path);
    const auto size = [](int a, int b) {
      return static_cast<std::size_t>(a) * static_cast<std::size_t>(b);
    };
    const int in = is_gradient ? n : k, out = is_gradient ? k : n;
    const auto left = workload::normal(size(m, in), 1), w = workload::normal(size(k, n), 2);
    to.write("left", left, {static_cast<std::size_t>(m), static_cast<std::size_t>(in)});
    to.write("weight", w, {static_cast<std::size_t>(k), static_cast<std::size_t>(n)});
    x.resize(size(m, lamina::padded(in)));
    y.resize(size(m, lamina::padded(out)));
    weight.resize(static_cast<std::size_t>(cpu::panels_floats(k, n)));
    scratch.resize(static_cast<std::size_t>(is_gradient ? cpu::gemm_dx_scratch_floats(m, k, n)
                                                        : cpu::gemm_scratch_floats(m, k, n)) +
                   16);
    for (int i = 0; i < m; ++i)
      std::copy_n(left.data() + i * in, in, x.data() + i * lamina::padded(in));
    cpu::pack(k, n, w.data(), weight.data());
  }
  lamina::engine::aligned_buffer x, y, weight, scratch;
};

workload::maker product(int m, int k, int n, bool is_gradient = false) {
  return [=](const std::filesystem::path& path, int) {
    auto o = std::make_shared<operands>(m, k, n, is_gradient, path);
    const int in = lamina::padded(is_gradient ? n : k), columns = is_gradient ? k : n;
    const int out = lamina::padded(columns);
    const auto run = [=](int times) {
      for (int t = 0; t < times; ++t) {
        if (is_gradient)
          cpu::gemm_dx(m, k, n, o->x.data(), in, o->weight.data(), out, &cpu::store_tile,
                       o->y.data(), o->scratch.data());
        else
          cpu::gemm(m, k, n, o->x.data(), in, o->weight.data(), out, &cpu::store_tile, o->y.data(),
                    o->scratch.data());
      }
    };
    return workload::job{[=] {
                           run(1);
                           std::vector<float> some;
                           for (int i = 0; i < m * columns; i += 97)
                             some.push_back(o->y.data()[i / columns * out + i % columns]);
                           return some;
                         },
                         run};
  };
}

}  // namespace

int main(int count, char** argument) {
  return workload::serve(count, argument,
                         {{"G64x784x128", product(64, 784, 128)},
                          {"G64x512x512", product(64, 512, 512)},
                          {"G20x256x1024", product(20, 256, 1024)},
                          {"G1x512x512", product(1, 512, 512)},
                          {"G1024x1024x1024", product(1024, 1024, 1024)},
                          {"Gdx20x256x1024", product(20, 256, 1024, true)}});
}
