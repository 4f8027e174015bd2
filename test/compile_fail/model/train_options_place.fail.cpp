// SPDX-License-Identifier: Apache-2.0
// A place of tensor cores among the options, where its type would be lost.
// expect-error: static.assert.*cuda: place: a place of tf32 or bfloat16 follows the options
// expect-lines: 12
#include <lamina/engine/cuda/place.hpp>
#include <lamina/optimizer/train_options.hpp>

int main() {
#ifdef SHOULD_FAIL
  const lamina::cuda::place at{0, lamina::cuda::tf32};
#else
  const lamina::cuda::place at{0};
#endif
  const lamina::train_options options{.passes = 20, .place = at};  // <- here
  return options.place.number;
}
