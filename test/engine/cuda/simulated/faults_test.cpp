// SPDX-License-Identifier: Apache-2.0
// Whatever call of the CUDA runtime fails, it is told, nothing is lost, and the next training by
// the same trainer computes what a new one does.
// clang-format off
#include "engine/cuda/simulated/device.hpp"  // before who includes the real headers
// clang-format on
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/dynamic_sequence_programs.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <unistd.h>

namespace simulated = test::simulated;
namespace optimizer = lamina::optimizer;
namespace cuda = lamina::engine::cuda;

namespace {

constexpr optimizer::sgd sgd{.learning_rate = 0.1f};
/// Mini-batches that grow, come back, and are recorded.
const std::vector<int> sizes = {4, 9, 9, 9, 2};

/// The costs of some steps.
template <class P, class Trainer>
std::vector<float> costs_of(Trainer& t, const test::random_samples<P>& s) {
  std::vector<float> all;
  for (std::size_t i = 0, first = 0; i < sizes.size(); ++i) {
    all.push_back(t.step(s.batch(static_cast<int>(first), sizes[i])));
    first += static_cast<std::size_t>(sizes[i]);
  }
  t.copy_to_host();
  return all;
}

/// A device with a trainer.
template <class P>
struct training {
  simulated::device device{0};
  lamina::device_trainer<P, optimizer::sgd, simulated::device> t;
  explicit training(lamina::model<P>& m) : t(device, sgd, m, 11) {}
};

/// Fails every call of a training run in turn; the names of those that were told, or what is wrong.
template <class P>
std::string fail_each(P program, simulated::schedule order, int stride = 1) {
  int samples = 0;
  for (const int n : sizes) samples += n;
  const test::random_samples<P> s(samples, 5);
  std::vector<float> expected;
  std::string told;
  for (int k = -1, calls = 1; k < calls; k += k < 0 ? 1 : stride) {
    simulated::begin_test(order);
    simulated::now.failing = k;
    const auto wrong = [&](const char* what) {
      return std::string(what) + " after " + simulated::now.failed + ", call " + std::to_string(k);
    };
    {
      lamina::model m{program, 3};
      const lamina::model fresh{program, 3};
      std::optional<training<P>> made;
      try {
        made.emplace(m);
        const auto costs = costs_of(made->t, s);
        if (k < 0) expected = costs, calls = simulated::now.calls;
        if (costs != expected) return wrong("other costs");
      } catch (const lamina::error& e) {
        if (std::string(e.what()).rfind("lamina: cuda: ", 0) != 0) return wrong(e.what());
        if (told.find(simulated::now.failed) == std::string::npos)
          told += simulated::now.failed + " ";
      }
      simulated::now.failing = -1;
      if (made) {
        for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) m.set(i, fresh.get(i));
        try {
          made->t.copy_to_device();
          made->t.set_steps(0);
          if (costs_of(made->t, s) != expected) return wrong("other costs of the next training");
        } catch (const lamina::error& e) {
          return wrong(e.what());
        }
      }
    }
    if (!simulated::now.broken_rules.empty()) return wrong(simulated::now.broken_rules.c_str());
    if (!simulated::now.gave_all_back()) return wrong("something is not given back");
  }
  return told;
}

/// What is told where a call fails while a device is made a place.
std::string message_of(const auto& set) {
  simulated::begin_test();
  set();
  try {
    simulated::device d(0);
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("every call of the runtime may fail") {
  using simulated::schedule;
  SECTION("dense") {
    const std::string told = fail_each(test::classes, schedule::late);
    for (const char* const call :
         {"cudaMalloc", "cudaMallocHost", "cudaMemsetAsync", "cudaMemcpyAsync", "launch",
          "cudaStreamSynchronize", "cudaStreamBeginCapture", "cudaStreamEndCapture",
          "cudaGraphInstantiate", "cudaGraphLaunch", "cudaSetDevice", "cudaStreamCreateWithFlags",
          "cudaGetDeviceCount", "cudaDeviceGetAttribute"})
      CHECK_THAT(told, Catch::Contains(call));
  }
  SECTION("streams that work at once") {
    CHECK_THAT(fail_each(test::classes, schedule::early), Catch::Contains("cudaGraphLaunch"));
  }
  SECTION("loops and branches by values") {
    CHECK_THAT(fail_each(test::decided, schedule::late, 2), Catch::Contains("launch"));
  }
  SECTION("a loop that is captured") {
    CHECK_THAT(fail_each(test::steps, schedule::late, 2), Catch::Contains("cudaGraphLaunch"));
  }
  SECTION("sequences of new lengths, and tables of which rows are read") {
    CHECK_THAT(fail_each(test::kept_words, schedule::late, 3), Catch::Contains("launch"));
  }
}

TEST_CASE("a place that is no device is told") {
  CHECK(
      message_of([] { simulated::now.devices = 0; }) ==
      "lamina: cuda: expected a CUDA device and its driver, found none (no CUDA-capable device is "
      "detected)");
  simulated::begin_test();
  simulated::now.devices = 2;
  for (const int number : {-1, 2})
    CHECK_THROWS_WITH(
        simulated::device(number),
        "lamina: cuda: place: expected a device from 0 to 1, found " + std::to_string(number));
  CHECK(message_of([] {}) == "nothing");
}

TEST_CASE("a device without memory tells how much was asked for, is in use and free") {
  simulated::begin_test();
  simulated::now.memory = 100'000;
  simulated::device d(0);
  void* const p = d.allocate(30'000);
  CHECK_THROWS_WITH(d.allocate(80'000),
                    "lamina: cuda: out of memory: asked for 80000 bytes with 30000 in use by this "
                    "program; 70000 of 100000 are free");
  // Nothing is told later of a failure that was told.
  CHECK_NOTHROW(d.elements<cuda::detail::fill_body>(
      {static_cast<float*>(p), 1, cuda::divider(1), lamina::dtype::float32, 1.0, 1}));
  d.release(p, 30'000);
}

TEST_CASE("with LAMINA_CUDA_CHECK each launch is waited for, and a failure is its operator's") {
  using P = std::remove_const_t<decltype(test::classes)>;
  simulated::begin_test();
  setenv("LAMINA_CUDA_CHECK", "1", 1);
  simulated::device d(0);
  unsetenv("LAMINA_CUDA_CHECK");
  lamina::model m{test::classes, 3};
  lamina::device_trainer<P, optimizer::sgd, simulated::device> t(d, sgd, m, 11);
  const test::dense_samples s(4);
  const float cost = t.step(s.batch<P>(0, 4));
  for (int i = 0; i < 3; ++i) CHECK(t.step(s.batch<P>(0, 4)) != cost);
  CHECK(simulated::now.graphs_launched == 0);
  std::string said;
  for (int k = 0; said.find("mul: cudaStreamSynchronize") == std::string::npos && k < 200; ++k) {
    simulated::now.calls = 0;
    simulated::now.failing = k;
    try {
      t.step(s.batch<P>(0, 4));
    } catch (const lamina::error& e) {
      said = e.what();
    }
  }
  CHECK(said == "lamina: cuda: mul: cudaStreamSynchronize: unknown error (for fc_0.tmp_0)");
}

TEST_CASE("the host cannot touch memory of a simulated device") {
  simulated::begin_test();
  simulated::device d(0);
  cuda::device_buffer<simulated::device> memory(d);
  memory.reserve(4096);
  const auto survives = [](const char* p) {
    const pid_t child = fork();
    if (child == 0) {
      for (const int s : {SIGSEGV, SIGBUS}) std::signal(s, SIG_DFL);
      _exit(*static_cast<const volatile char*>(p) == 1 ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) <= 1;
  };
  const char on_host = 0;
  CHECK(survives(&on_host));
  CHECK_FALSE(survives(memory.data()));
}

// What these tests build on.
TEST_CASE("simulated devices are as strict as they are meant to be") {
  simulated::begin_test();
  {
    simulated::device d(0);
    cuda::device_buffer<simulated::device> memory(d);
    cuda::staging_buffer<simulated::device> staged(d);
    memory.reserve(4096), staged.reserve(4096);
    std::memset(staged.data(), 1, 4096);
    d.upload(memory.data(), staged.data(), 4096);
    staged.data()[0] = 2;  // too early
    std::vector<char> back(4096);
    d.download(back.data(), memory.data(), 4096);
    CHECK((back[0] == 2 && back[1] == 1));
    CHECK_THROWS_WITH(d.upload(back.data(), staged.data(), 1),
                      "lamina: cuda: cudaMemcpyAsync to the device: invalid argument");
    CHECK_THROWS_WITH(d.download(back.data(), memory.data() + 1, 4096),
                      "lamina: cuda: cudaMemcpyAsync from the device: invalid argument");
    const char key[] = "some work";
    d.replay(key, [] {});
    CHECK_THROWS_WITH(d.replay(key, [&] { d.wait(); }),
                      "lamina: cuda: cudaStreamSynchronize: operation not permitted when stream is "
                      "capturing");
    CHECK_NOTHROW(d.wait());
    CHECK(simulated::now.broken_rules == "");
    CHECK_THROWS_AS(d.replay(key, [&] { d.upload(memory.data(), back.data(), 1); }), lamina::error);
    CHECK(simulated::now.broken_rules == "memory of the host that may move is recorded\n");
    simulated::now.broken_rules.clear();
    d.elements<cuda::detail::fill_body>({reinterpret_cast<float*>(memory.data()), 1,
                                         cuda::divider(1), lamina::dtype::float32, 1.0, 1});
  }
  CHECK(simulated::now.gave_all_back());
}
