// SPDX-License-Identifier: Apache-2.0
// Whatever call to a place fails, training ends with its message, nothing is lost, and a trainer
// that begins again computes what a new one does.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/made_sequence_programs.hpp"
#include "engine/cuda/places_both.hpp"
#include "engine/cuda/row_loop_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include <catch2/catch.hpp>

#include <lamina/engine/cuda/host_backend.hpp>

namespace cuda = lamina::engine::cuda;
namespace optimizer = lamina::optimizer;

namespace {

/// A place whose calls are counted, and one of them fails. Memory is what it has not given back.
struct calls {
  int made = 0, failing = -1;
  int held = 0;
  void make(const char* what) {
    if (made++ == failing)
      throw lamina::error(std::string("lamina: cuda: ") + what + ": failed on request");
  }
};
struct failing_place : cuda::host_backend<1> {
  using host = cuda::host_backend<1>;
  explicit failing_place(int number = 0) : host(number) {}
  std::shared_ptr<calls> all = std::make_shared<calls>();

  void* allocate(std::size_t bytes) {
    all->make("allocate");
    ++all->held;
    return host::allocate(bytes);
  }
  void release(void* p, std::size_t bytes) noexcept {
    --all->held;
    host::release(p, bytes);
  }
  void* allocate_staging(std::size_t bytes) {
    all->make("allocate_staging");
    ++all->held;
    return host::allocate_staging(bytes);
  }
  void release_staging(void* p) noexcept {
    --all->held;
    host::release_staging(p);
  }
  void upload(void* to, const void* from, std::size_t bytes) {
    all->make("upload");
    host::upload(to, from, bytes);
  }
  void download(void* to, const void* from, std::size_t bytes) {
    all->make("download");
    host::download(to, from, bytes);
  }
  void upload_ahead(void* to, const void* from, std::size_t bytes) {
    all->make("upload_ahead");
    host::upload_ahead(to, from, bytes);
  }
  void take_ahead() {
    all->make("take_ahead");
    host::take_ahead();
  }
  void wait() {
    host::wait();  // nothing is on its way afterwards, whatever came of it
    all->make("wait");
  }
  void mark() {
    all->make("mark");
    host::mark();
  }
  void copy_from(const failing_place& from, void* to, const void* data, std::size_t bytes) {
    all->make("copy_from");
    host::copy_from(from, to, data, bytes);
  }
  template <class Body>
  void cells(const typename Body::arguments& a) {
    all->make("launch");
    host::template cells<Body>(a);
  }
  template <class Body>
  void teams(const typename Body::arguments& a) {
    all->make("launch");
    host::template teams<Body>(a);
  }
  template <class Body>
  void lines(const typename Body::arguments& a) {
    all->make("launch");
    host::template lines<Body>(a);
  }
  template <class Body>
  void elements(const typename Body::arguments& a) {
    all->make("launch");
    host::template elements<Body>(a);
  }
};

/// Mini-batches that grow, come back, and are recorded.
const std::vector<int> sizes = {4, 9, 9, 9, 2};

/// The costs of some steps, the next mini-batch of which is copied while each computes.
template <class P, class Trainer>
std::vector<float> costs_of(Trainer& t, const test::random_samples<P>& s) {
  std::vector<float> all;
  for (std::size_t i = 0, first = 0; i < sizes.size(); ++i) {
    t.start(s.batch(static_cast<int>(first), sizes[i]));
    first += static_cast<std::size_t>(sizes[i]);
    if (i + 1 < sizes.size()) t.prefetch(s.batch(static_cast<int>(first), sizes[i + 1]));
    all.push_back(t.finish());
  }
  t.bring_back();
  return all;
}

/// Fails every call of a training run in turn; returns how many there are.
template <class P, class Make>
int fail_each(P program, const Make& make, int places = 1, int stride = 1) {
  int samples = 0;
  for (const int n : sizes) samples += n;
  const test::random_samples<P> s(samples, 5);
  std::vector<float> expected;
  int told = 0, calls_made = 1;
  for (int k = -1; k < calls_made; k += k < 0 ? 1 : stride) {
    std::vector<std::shared_ptr<calls>> counted;
    {
      const test::several<failing_place> at(places);
      for (failing_place* const b : at.all()) {
        counted.push_back(b->all);
        b->record();
        // Of several places each would have to be waited for by a thread of its own.
        if (places == 1) b->defer();
      }
      counted.back()->failing = k;
      lamina::model m{program, 3};
      const lamina::model fresh{program, 3};
      using trainer = decltype(make(at, m));
      trainer t;
      try {
        t = make(at, m);
        const auto costs = costs_of(*t, s);
        if (k < 0) expected = costs, calls_made = counted.back()->made;
        // A copy ahead that failed is made again.
        if (costs != expected) return -1;
      } catch (const lamina::error& e) {
        if (std::string(e.what()).find("failed on request") == std::string::npos) return -2;
        ++told;
      }
      counted.back()->failing = -1;
      if (t != nullptr) {
        for (int i = 0; i < P::desc.count.parameters; ++i) m.set(i, fresh.get(i));
        t->send();
        t->set_steps(0);
        if (costs_of(*t, s) != expected) return -3;
        t.reset();
      }
    }
    for (const auto& c : counted)
      if (c->held != 0) return -4;
  }
  return told;
}

constexpr auto at_one = [](const test::several<failing_place>& at, auto& m) {
  using model = std::remove_reference_t<decltype(m)>;
  using P = typename model::program;
  return std::make_unique<lamina::device_trainer<P, optimizer::sgd, failing_place>>(
      at[0], optimizer::sgd{.learning_rate = 0.1f}, m, 11);
};

constexpr auto at_two = [](const test::several<failing_place>& at, auto& m) {
  using model = std::remove_reference_t<decltype(m)>;
  using P = typename model::program;
  return std::make_unique<lamina::places_trainer<P, optimizer::sgd, failing_place>>(
      at.all(), optimizer::sgd{.learning_rate = 0.1f}, m, 11);
};

}  // namespace

TEST_CASE("every call to one of two places may fail", "[threads]") {
  CHECK(fail_each(test::tables, at_two, 2, 7) > 50);
}

TEST_CASE("a failed call names the layer, or the parameter that is updated") {
  using P = std::remove_const_t<decltype(test::classes)>;
  constexpr optimizer::sgd limited{.learning_rate = 0.1f,
                                   .clip = lamina::clip_by_global_norm(1.0f)};
  const test::random_samples<P> s(4, 5);
  std::string all;
  for (int k = 0, goes_on = 1; goes_on != 0; ++k) {
    const test::several<failing_place> at(1);
    lamina::model m{test::classes, 3};
    lamina::device_trainer<P, optimizer::sgd, failing_place> t(at[0], limited, m, 11);
    at[0].all->made = 0;
    at[0].all->failing = k;
    try {
      t.step(s.batch(0, 4));
      goes_on = 0;
    } catch (const lamina::error& e) {
      all += std::string(e.what()) + "\n";
    }
  }
  CHECK_THAT(all, Catch::Contains("lamina: cuda: launch: failed on request (for fc_0.tmp_0)\n"));
  CHECK_THAT(all, Catch::Contains(
                      "lamina: cuda: launch: failed on request (for the update of fc_1.w_0)\n"));
}

TEST_CASE("every call of a training at a place may fail") {
  SECTION("dense") { CHECK(fail_each(test::classes, at_one) > 50); }
  SECTION("a loop that is recorded") { CHECK(fail_each(test::steps, at_one) > 50); }
  SECTION("sequences of new lengths, and tables of which rows are read") {
    CHECK(fail_each(test::kept_words, at_one) > 50);
  }
  SECTION("a loop that is one kernel") { CHECK(fail_each(test::carried, at_one) > 30); }
  SECTION("as many steps as sequences are long") {
    CHECK(fail_each(test::ragged, at_one, 1, 3) > 50);
  }
}
