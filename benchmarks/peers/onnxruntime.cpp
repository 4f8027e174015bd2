// SPDX-License-Identifier: Apache-2.0
// The inference workloads in ONNX Runtime, by its C interface. It reads FOLDER/NAME/model.onnx,
// which peers/make_onnx.py writes.
//
//   onnxruntime LIBRARY FOLDER THREADS
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "../job.hpp"
#include "../npy.hpp"
#include "onnxruntime_api.hpp"

namespace {

using peer::handle;
using peer::runtime;

/// A tensor and its memory.
struct value {
  value(const runtime& r, std::vector<float> numbers, const std::vector<std::int64_t>& shape)
      : data(std::move(numbers)), of(r.tensor(data, shape)) {}
  value(const value&) = delete;
  std::vector<float> data;
  handle of;
};

/// Makes the job of a model that PyTorch exported: its input is x, of floats or of tokens.
workload::maker exported(const runtime& r, std::vector<std::int64_t> result) {
  return [&r, result](const std::filesystem::path& folder, int threads) {
    struct state {
      peer::array x;
      std::vector<float> y;
      handle session, in, out;
    };
    auto s = std::make_shared<state>();
    s->x = peer::read_npy(folder / "x.npy");
    std::size_t size = 1;
    for (const std::int64_t n : result) size *= static_cast<std::size_t>(n);
    s->y.resize(size);
    s->session = r.session((folder / "model.onnx").string(), threads);
    s->in = s->x.integers.empty() ? r.tensor(s->x.floats, s->x.shape)
                                  : r.tensor(s->x.integers, s->x.shape);
    s->out = r.tensor(s->y, result);
    const auto run = [s, &r](int n) {
      std::vector<handle> out{s->out};
      for (int i = 0; i < n; ++i) r.run(s->session, {"x"}, {s->in}, {"result"}, out);
    };
    return workload::job{[run, s] {
                           run(1);
                           return std::vector<float>(
                               s->y.begin(),
                               s->y.begin() + std::min<std::ptrdiff_t>(std::ssize(s->y), 4096));
                         },
                         run};
  };
}

workload::maker infer(const runtime& r, const char* input, std::vector<std::int64_t> result) {
  return [&r, input, result](const std::filesystem::path& folder, int threads) {
    const peer::array a = peer::read_npy(folder / (std::string(input) + ".npy"));
    handle const session = r.session((folder / "model.onnx").string(), threads);
    std::size_t size = 1;
    for (const std::int64_t n : result) size *= static_cast<std::size_t>(n);
    auto x = std::make_shared<value>(r, a.floats, a.shape);
    auto y = std::make_shared<value>(r, std::vector<float>(size), result);
    const auto run = [=, &r](int n) {
      std::vector<handle> out{y->of};
      for (int i = 0; i < n; ++i) r.run(session, {input}, {x->of}, {"result"}, out);
    };
    return workload::job{[run, y] {
                           run(1);
                           y->data.resize(std::min<std::size_t>(y->data.size(), 4096));
                           return y->data;
                         },
                         run};
  };
}

/// Makes the job of an LSTM step. The state after a step is the initial state of the next step.
workload::maker lstm_step(const runtime& r, std::int64_t width) {
  return [&r, width](const std::filesystem::path& folder, int threads) {
    const peer::array a = peer::read_npy(folder / "x.npy");
    handle const session = r.session((folder / "model.onnx").string(), threads);
    const std::vector<std::int64_t> one{1, 1, 1}, shape{1, 1, width};
    auto x = std::make_shared<value>(r, std::vector<float>(1), one);
    std::vector<std::shared_ptr<value>> state;
    for (int i = 0; i < 4; ++i)
      state.push_back(
          std::make_shared<value>(r, std::vector<float>(static_cast<std::size_t>(width)), shape));
    const std::vector<const char*> input{"x", "hidden", "cell"}, output{"next_hidden", "next_cell"};
    auto ins = std::make_shared<std::vector<handle>>(
        std::vector<handle>{x->of, state[0]->of, state[1]->of});
    auto outs =
        std::make_shared<std::vector<handle>>(std::vector<handle>{state[2]->of, state[3]->of});
    const auto once = [=, &r] {
      r.run(session, input, *ins, output, *outs);
      std::swap((*ins)[1], (*outs)[0]);
      std::swap((*ins)[2], (*outs)[1]);
    };
    return workload::job{[=] {
                           for (const float now : a.floats) {
                             x->data[0] = now;
                             once();
                           }
                           return state[a.floats.size() % 2 == 0 ? 0 : 2]->data;
                         },
                         [once](int n) {
                           for (int i = 0; i < n; ++i) once();
                         }};
  };
}

}  // namespace

int main(int count, char** argument) try {
  if (count != 4) return 2;
  const runtime r(argument[1]);
  return workload::serve(
      argument[2], std::stoi(argument[3]),
      {{"W1f", infer(r, "image", {64, 10})}, {"W1b", infer(r, "image", {1, 10})},
       {"B1", infer(r, "image", {1, 10})},   {"W2i", infer(r, "image", {64, 10})},
       {"W2i1", infer(r, "image", {1, 10})}, {"W5h8", lstm_step(r, 8)},
       {"W5h16", lstm_step(r, 16)},          {"W5h32", lstm_step(r, 32)},
       {"W5h64", lstm_step(r, 64)},          {"W7i", infer(r, "image", {32, 10})},
       {"W8i", infer(r, "x", {8, 64, 256})}, {"I1", exported(r, {1, 10})},
       {"I2", exported(r, {1, 1})},          {"I3", exported(r, {1, 1})},
       {"I4", exported(r, {1, 1000})},       {"I5", exported(r, {1, 1000})},
       {"I6", exported(r, {1, 1000})},       {"I7", exported(r, {1, 1000})},
       {"I8", exported(r, {1, 1000})},       {"I9", exported(r, {1, 1000})},
       {"I10", exported(r, {1, 64, 384})}});
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
