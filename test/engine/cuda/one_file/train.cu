// SPDX-License-Identifier: Apache-2.0
// A program of lamina in the same file as a kernel of one's own: compile.py.
#include <lamina/lamina.cuh>

namespace layer = lamina::layer;

constexpr auto net = lamina::program([](lamina::block& main) {
  auto image = layer::data<"image", float, 64>(main);
  auto label = layer::data<"label", std::int64_t>(main);
  auto logits = layer::fc<10>(layer::fc<16>(image, {.act = lamina::activation::relu}));
  layer::argsort(logits);  // an algorithm of CUB
  return layer::mean(layer::softmax_with_cross_entropy(logits, label));
});
// A compiler that cannot run the recording must not compile an empty program.
static_assert(lamina::counts_of<decltype(net)>.operators >= 8);

__global__ void twice(float* x, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) x[i] *= 2;
}
void launch_twice(float* x, int n) { twice<<<(n + 255) / 256, 256>>>(x, n); }

int main() {
  lamina::model model{net};
  const lamina::optimizer::sgd sgd{.learning_rate = 0.1f};
  sgd.train(model, lamina::dataset::digits::train() | lamina::reader::batch(16),
            {.passes = 1, .place = lamina::cuda::place{0}});
}
