// SPDX-License-Identifier: Apache-2.0
// The ```cpp blocks of docs/cuda.md, as page_blocks.cpp has those of the other pages. Needs CUDA's
// headers.
#include <lamina/lamina.cuh>
#if __has_include(<nccl.h>) && __has_include(<mpi.h>)
#if !defined(LAMINA_HAS_MPI)
#define LAMINA_HAS_MPI
#endif
#include <lamina/distributed/nccl_session.hpp>
#endif

namespace layer = lamina::layer;

constexpr auto digits = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(image), label));
});
lamina::optimizer::adam adam;
auto reader = lamina::dataset::digits::train() | lamina::reader::batch(64);
lamina::model model{digits};

void at_a_place() {
#include "cuda_1.inc"
}
// A program that is a training loop itself.
void run() {
  constexpr auto training = lamina::program([](lamina::block& main) {
    auto more = layer::fill_constant<bool>(main, true);
    layer::while_loop(more, [&](lamina::block& loop) {
      auto [image, label] =
          layer::read_minibatch<"train", lamina::field<float, 64>, lamina::field<std::int64_t>>(
              loop, more);
      lamina::optimizer::sgd{}.minimize(
          layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(image), label)));
    });
    return more;
  });
  lamina::model model{training};
#include "cuda_2.inc"
}
void with_tensor_cores() {
#include "cuda_3.inc"
}

#if __has_include(<nccl.h>) && __has_include(<mpi.h>)
namespace processes {
constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<10>(image), label));
});
void train(int argc, char** argv, int device) {
  lamina::model model{net};
  lamina::optimizer::adam adam;
  auto reader = lamina::dataset::digits::train() | lamina::reader::batch(64);
#include "distributed_6.inc"
}
}  // namespace processes
#endif
