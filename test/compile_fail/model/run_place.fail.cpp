// SPDX-License-Identifier: Apache-2.0
// Something behind the options of run that is no place of a type of its own.
// expect-error: static.assert.*run: expected one place after the options
// expect-lines: 12
#include <vector>

#include <lamina/layers/layers.hpp>
#include <lamina/train/run.hpp>

constexpr auto net = lamina::program([](lamina::block& main) {
  auto more = lamina::layer::fill_constant<bool>(main, true);
  lamina::layer::while_loop(more, [&](lamina::block& loop) {
    lamina::layer::read_minibatch<"train", lamina::field<float>>(loop, more);
  });
  return more;
});
struct own_place {
  struct arithmetic {};
  int number = 0;
};
template <class P, class Reader>
lamina::run_summary run_at(own_place, lamina::model<P>&, Reader&,
                           const lamina::run_program_options&) {
  return {};
}

int main() {
  lamina::model model{net};
  const std::vector<std::vector<float>> batches;
#ifdef SHOULD_FAIL
  lamina::run(model, batches, {}, lamina::place{});  // <- here
#else
  lamina::run(model, batches, {}, own_place{});
#endif
}
