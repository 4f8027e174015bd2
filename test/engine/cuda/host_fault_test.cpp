// SPDX-License-Identifier: Apache-2.0
// Whatever call to a place fails, training ends with its message, nothing is lost, and a trainer
// that begins again computes what a new one does.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/cuda/dense_programs.hpp"
#include "engine/cuda/dynamic_sequence_programs.hpp"
#include "engine/cuda/host_backend.hpp"
#include "engine/cuda/loop_programs.hpp"
#include "engine/cuda/selected_rows_programs.hpp"
#include <catch2/catch.hpp>

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
struct failing_device : cuda::host_backend<1> {
  using host = cuda::host_backend<1>;
  explicit failing_device(int number = 0) : host(number) {}
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
  void wait() {
    host::wait();  // nothing is on its way afterwards, whatever came of it
    all->make("wait");
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

/// Fails every call of a training run in turn; returns how many were told, below 0 what went wrong.
template <class P>
int fail_each(P program, int stride = 1) {
  using trainer = lamina::device_trainer<P, optimizer::sgd, failing_device>;
  int samples = 0;
  for (const int n : sizes) samples += n;
  const test::random_samples<P> s(samples, 5);
  std::vector<float> expected;
  int told = 0, calls_made = 1;
  for (int k = -1; k < calls_made; k += k < 0 ? 1 : stride) {
    std::shared_ptr<calls> counted;
    {
      failing_device at;
      counted = at.all;
      at.record();
      at.defer();
      counted->failing = k;
      lamina::model m{program, 3};
      const lamina::model fresh{program, 3};
      std::optional<trainer> t;
      try {
        t.emplace(at, optimizer::sgd{.learning_rate = 0.1f}, m, 11);
        const auto costs = costs_of(*t, s);
        if (k < 0) expected = costs, calls_made = counted->made;
        if (costs != expected) return -1;
      } catch (const lamina::error& e) {
        if (std::string(e.what()).find("failed on request") == std::string::npos) return -2;
        ++told;
      }
      counted->failing = -1;
      if (t) {
        for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) m.set(i, fresh.get(i));
        t->copy_to_device();
        t->set_steps(0);
        if (costs_of(*t, s) != expected) return -3;
      }
    }
    if (counted->held != 0) return -4;
  }
  return told;
}

/// Fails every call of a second step in turn. Returns how often the place was left as before that
/// step, and how often the trainer said that it was not; below 0 what went wrong.
template <class P, class Opt>
std::pair<int, int> tear_each(P program, const Opt& opt, int stride = 1) {
  using trainer = lamina::device_trainer<P, Opt, failing_device>;
  const test::random_samples<P> s(8, 5);
  std::pair<int, int> found;
  std::vector<std::vector<float>> before, after;
  const auto values_of = [](const lamina::model<P>& m) {
    std::vector<std::vector<float>> all;
    for (int i = 0; i < lamina::counts_of<P>.parameters; ++i) {
      const auto w = m.get(i);
      all.emplace_back(w.data(), w.data() + w.size());
    }
    return all;
  };
  for (int k = -1, calls_made = 0; k < calls_made; k += k < 0 ? 1 : stride) {
    failing_device at;
    at.defer();
    lamina::model m{program, 3};
    trainer t(at, opt, m, 11);
    t.step(s.batch(0, 4));
    t.copy_to_host();
    const auto whole = values_of(m);
    at.all->made = 0;
    at.all->failing = k;
    if (k < 0) {
      before = whole;
      t.step(s.batch(4, 4));
      calls_made = at.all->made;
      t.copy_to_host();
      after = values_of(m);
      continue;
    }
    CHECK_THROWS_AS(t.step(s.batch(4, 4)), lamina::error);
    at.all->failing = -1;
    try {
      t.copy_to_host();
      const auto now = values_of(m);
      // The cost may be all that could not be copied.
      if (t.steps() == 2 ? now != after : now != before) return {-1, k};
      if (t.steps() == 2) continue;
      t.step(s.batch(4, 4));
      t.copy_to_host();
      if (values_of(m) != after) return {-2, k};
      ++found.first;
    } catch (const lamina::error& e) {
      if (std::string(e.what()).find("lamina: train: an error in an earlier step") != 0)
        return {-3, k};
      if (values_of(m) != before) return {-4, k};
      ++found.second;
      t.copy_to_device();
      t.set_steps(1);
      t.step(s.batch(4, 4));
      t.copy_to_host();
      if (values_of(m) != after) return {-5, k};
    }
  }
  return found;
}

}  // namespace

TEST_CASE("a failed call names the layer, or the parameter that is updated") {
  using P = std::remove_const_t<decltype(test::classes)>;
  constexpr optimizer::sgd limited{.learning_rate = 0.1f,
                                   .clip = lamina::clip_by_global_norm(1.0f)};
  const test::random_samples<P> s(4, 5);
  std::string all;
  for (int k = 0, goes_on = 1; goes_on != 0; ++k) {
    failing_device at;
    lamina::model m{test::classes, 3};
    lamina::device_trainer<P, optimizer::sgd, failing_device> t(at, limited, m, 11);
    at.all->made = 0;
    at.all->failing = k;
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

TEST_CASE("a step that fails leaves parameters on a device as before, or says that it did not") {
  constexpr optimizer::momentum momentum{.learning_rate = 0.1f};
  constexpr optimizer::momentum limited{.learning_rate = 0.1f,
                                        .clip = lamina::clip_by_global_norm(1.0f)};
  const auto check = [](const std::pair<int, int>& found, int as_before, int said) {
    INFO(found.first << " as before, " << found.second << " said");
    CHECK(found.first >= as_before);
    CHECK(found.second >= said);
  };
  SECTION("updates that ride on products") { check(tear_each(test::classes, momentum), 8, 5); }
  SECTION("updates of whole gradients") { check(tear_each(test::classes, limited), 20, 5); }
  SECTION("a loop") { check(tear_each(test::steps, momentum), 8, 2); }
  SECTION("tables of which rows are read") { check(tear_each(test::kept_words, momentum), 8, 1); }
  SECTION("lengths that the host reads") { check(tear_each(test::ragged, momentum, 3), 8, 1); }
}
TEST_CASE("a label out of range is told after the updates on a device, and no step follows") {
  using P = std::remove_const_t<decltype(test::classes)>;
  test::dense_samples s(9);
  s.label[4] = 5;
  failing_device at;
  lamina::model m{test::classes, 3};
  lamina::device_trainer<P, optimizer::sgd, failing_device> t(at, {}, m);
  CHECK_THROWS_WITH(t.step(s.batch<P>(0, 9)), test::wrong_label_message);
  CHECK_THROWS_WITH(t.step(s.batch<P>(0, 3)), Catch::Contains("an error in an earlier step came"));
  CHECK_THROWS_WITH(t.copy_to_host(), Catch::Contains("an error in an earlier step came"));
  CHECK(m.get(0)(0, 0) == lamina::model{test::classes, 3}.get(0)(0, 0));
  t.copy_to_device();
  t.set_steps(0);
  t.step(s.batch<P>(0, 3));
}

TEST_CASE("every call of a training on a device may fail") {
  SECTION("dense") { CHECK(fail_each(test::classes) > 50); }
  SECTION("a loop that is recorded") { CHECK(fail_each(test::steps) > 50); }
  SECTION("sequences of new lengths, and tables of which rows are read") {
    CHECK(fail_each(test::kept_words) > 50);
  }
  SECTION("as many steps as sequences are long") { CHECK(fail_each(test::ragged, 3) > 50); }
}
