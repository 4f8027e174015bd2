// SPDX-License-Identifier: Apache-2.0
// W6 is the mean of y = tanh(a * b + c) * sigmoid(d) + relu(a - c) over four million elements, with
// its gradients. W6f computes only the values y.
#include <memory>

#include "../networks/chain.hpp"
#include "../workload.hpp"

namespace {

constexpr auto forward_net =
    lamina::program([](lamina::block& main) { return networks::chain(main); });
constexpr auto net =
    lamina::program([](lamina::block& main) { return lamina::layer::mean(networks::chain(main)); });
using forward_program = std::remove_const_t<decltype(forward_net)>;
using program = std::remove_const_t<decltype(net)>;

constexpr int elements = networks::chain_elements;
// Only every 16384th element is compared.
constexpr int apart = 1 << 14;

workload::job forward(const std::filesystem::path& path, int threads) {
  const workload::folder to(path);
  auto model = std::make_shared<lamina::model<forward_program>>(forward_net);
  to.write(*model);
#if defined(WORKLOAD_CUDA)
  using on_device = lamina::device_machine<forward_program, lamina::engine::cuda::device_backend>;
  auto m = std::make_shared<on_device>(*model, 0);
  const auto run = [model, m](int n) {
    for (int i = 0; i < n; ++i) m->run(~0ull, 0, 0);
  };
#else
  using machine = lamina::engine::cpu::machine<lamina::for_test<forward_program>>;
  auto m = std::make_shared<machine>(lamina::external_buffers{model->memory(), nullptr, nullptr});
  auto pool = std::make_shared<lamina::worker_pool>(threads);
  auto loops =
      std::make_shared<lamina::engine::cpu::parallel_run<lamina::for_test<forward_program>>>(*m,
                                                                                             *pool);
  const auto run = [model, m, pool, loops](int n) {
    for (int i = 0; i < n; ++i) m->run(~0ull, 0, 0);
  };
#endif
  return {[run, m] {
            run(1);
            const float* y = m->address(forward_program::desc.outputs[0]);
            std::vector<float> some;
            for (int i = 0; i < elements; i += apart) some.push_back(y[i]);
            return some;
          },
          run};
}

#if defined(WORKLOAD_CUDA)
/// Makes the job of a copy on the device that reads and writes as many bytes as the computation of
/// y.
workload::job copy(const std::filesystem::path&, int) {
  using backend = lamina::engine::cuda::device_backend;
  struct state {
    backend at{0};
    lamina::engine::cuda::device_buffer<backend> from{at}, to{at};
  };
  constexpr std::size_t bytes = sizeof(float) * elements * 5 / 2;
  auto s = std::make_shared<state>();
  s->from.reserve(bytes), s->to.reserve(bytes);
  return {[] { return std::vector<float>{0}; },
          [s](int n) {
            for (int i = 0; i < n; ++i) {
              lamina::engine::cuda::check_call(
                  cudaMemcpyAsync(s->to.data(), s->from.data(), bytes, cudaMemcpyDeviceToDevice),
                  "cudaMemcpyAsync");
              lamina::engine::cuda::check_call(cudaStreamSynchronize(nullptr),
                                               "cudaStreamSynchronize");
            }
          }};
}
#endif

[[maybe_unused]] workload::job gradients(const std::filesystem::path& path, int threads) {
  const workload::folder to(path);
  auto model = std::make_shared<lamina::model<program>>(net);
  to.write(*model);
  auto machine = std::make_shared<lamina::gradient_machine<program>>(*model);
  auto loops = workload::share_loops(*machine, threads);
  const auto step = [model, machine, loops] { return machine->backward(1, nullptr); };
  return {[step, machine] {
            std::vector<float> some{step()};
            // These are the gradients of the sum and not of the mean, so that the compared numbers
            // are around 1.
            for (int k = 0; k < 4; ++k)
              for (int i = 0; i < elements; i += apart)
                some.push_back(machine->gradient_memory(k)[i] * elements);
            return some;
          },
          [step](int n) {
            for (int i = 0; i < n; ++i) step();
          }};
}

}  // namespace

int main(int count, char** argument) {
#if defined(WORKLOAD_CUDA)
  return workload::serve(count, argument, {{"W6f", forward}, {"copy", copy}});
#else
  return workload::serve(count, argument, {{"W6f", forward}, {"W6", gradients}});
#endif
}
