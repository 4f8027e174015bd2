// SPDX-License-Identifier: Apache-2.0
// A beam search on a device finds the hypotheses that it finds on the CPU.
#include "engine/beam_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/train_both.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/place.hpp>

namespace cuda = lamina::engine::cuda;
using namespace test::beam;

namespace {

using one = cuda::host_backend<1>;
/// Work is done as late as it is waited for: what the host tells the place has to stay.
struct late : one {
  explicit late(int device = 0) : one(device) { defer(); }
};

}  // namespace

TEST_CASE("a step of a beam search on a device selects what it does on the CPU") {
  const std::vector<int> sizes{5, 1, 40, 40, 5};
  CHECK(test::outputs_apart<one>(equal_scores, sizes) < 1e-6);
  CHECK(test::outputs_apart<late>(equal_scores, sizes) < 1e-6);
  CHECK(test::outputs_apart<one>(few_candidates, sizes) < 1e-6);
}

TEST_CASE("decoders on a device find what they do on the CPU") {
  const std::vector<int> sizes{2, 17, 1, 17, 5};
  CHECK(test::outputs_apart<late>(decoder<4, 4, -1>, sizes, dictionary) < 1e-5);
  // No first hypothesis has ended.
  CHECK(test::outputs_apart<late>(translator, sizes, known_words, end_id + 1) < 1e-5);
}
