// SPDX-License-Identifier: Apache-2.0
// Ranks that keep the accumulators of their shards alone, as threads of this process: training in
// several calls, files, and what a rank cannot do by itself.

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "distributed/thread_group.hpp"
#include "io/temporary_folder.hpp"
#include <catch2/catch.hpp>

#include <lamina/lamina.hpp>

namespace {

namespace layer = lamina::layer;
namespace optimizer = lamina::optimizer;
namespace reader = lamina::reader;

// Its first layer has more than a page in each shard of four ranks, so that others are released.
constexpr auto net = lamina::program([](lamina::block& main) {
  auto x = layer::data<"x", float, 64>(main);
  auto y = layer::data<"y", std::int64_t>(main);
  auto h = layer::batch_norm(layer::fc<512>(x), {.act = lamina::activation::tanh});
  return layer::mean(layer::softmax_with_cross_entropy(layer::fc<3>(h), y));
});
using model_type = lamina::model<std::remove_const_t<decltype(net)>>;

auto samples() {
  std::vector<std::tuple<std::array<float, 64>, std::int64_t>> all;
  for (std::size_t i = 0; i < 30; ++i) {
    auto& [x, y] = all.emplace_back();
    for (std::size_t k = 0; k < 64; ++k) x[k] = static_cast<float>((i * 7 + k * k) % 11) / 5;
    y = static_cast<std::int64_t>(i % 3);
  }
  return all;
}
auto batches() { return samples() | reader::shuffle(30, 2) | reader::batch(13); }
std::vector<float> values_of(const model_type& m) {
  std::vector<float> all;
  for (int i = 0; i < m.parameter_arrays(); ++i) {
    const auto a = m.get(i);
    all.insert(all.end(), a.data(), a.data() + a.size());
  }
  return all;
}
/// A check in the thread of a rank.
void check(bool is_right) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  CHECK(is_right);
}
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const lamina::error& e) {
    return e.what();
  }
  return "";
}
template <class F>
std::vector<float> trained(F&& f) {
  model_type m{net};
  f(m);
  return values_of(m);
}
lamina::train_options options(test::thread_group& w, int passes) {
  return {.passes = passes, .threads = 4 / w.size(), .world = &w};
}
const optimizer::adam adam{.learning_rate = 0.01f};
const optimizer::adam clipped{.learning_rate = 0.01f, .clip = lamina::clip_by_global_norm(0.05f)};
constexpr const char* part =
    "lamina: train: expected the .world of the earlier training, of whose state this process has a "
    "part and rank 0 all";

}  // namespace

TEST_CASE("ranks go on with their shards of the accumulators, in several calls", "[threads]") {
  const auto expected = trained([](auto& m) {
    const lamina::train_options two{.passes = 2, .threads = 4};
    adam.train(m, batches(), two);
    adam.train(m, batches(), two);
    clipped.train(m, batches(), two);
    adam.train(m, batches(), two);
  });
  for (const int ranks : {2, 4}) {
    const auto found = test::results_in_ranks(ranks, [](test::thread_group& w) {
      return trained([&](auto& m) {
        adam.train(m, batches(), options(w, 2));
        check(m.training().is_part == (w.rank() > 0));
        adam.train(m, batches(), options(w, 0));  // changes nothing
        check(m.training().is_part == (w.rank() > 0));
        adam.train(m, batches(), options(w, 2));
        // With a clip by norm, each rank needs all accumulators, and afterwards its shard.
        clipped.train(m, batches(), options(w, 2));
        check(!m.training().is_part);
        adam.train(m, batches(), options(w, 1));
        adam.train(m, batches(), options(w, 1));
      });
    });
    for (int r = 0; r < ranks; ++r) CHECK(found.at(r) == expected);
  }
}

TEST_CASE("accumulators that begin with other numbers than 0 are divided too", "[threads]") {
  const optimizer::adagrad adagrad{.learning_rate = 0.1f, .initial_accumulator_value = 0.5f};
  const auto expected =
      trained([&](auto& m) { adagrad.train(m, batches(), {.passes = 3, .threads = 4}); });
  const auto found = test::results_in_ranks(4, [&](test::thread_group& w) {
    return trained([&](auto& m) {
      adagrad.train(m, batches(), options(w, 1));
      adagrad.train(m, batches(), options(w, 2));
    });
  });
  for (int r = 0; r < 4; ++r) CHECK(found.at(r) == expected);
}

TEST_CASE("after a training in ranks, rank 0 goes on alone, and others only anew", "[threads]") {
  const auto expected = trained([](auto& m) {
    adam.train(m, batches(), {.passes = 2, .threads = 4});
    adam.train(m, batches(), {.threads = 2});
  });
  const auto anew = trained([](auto& m) {
    adam.train(m, batches(), {.passes = 2, .threads = 4});
    m.forget_training();
    adam.train(m, batches(), {.threads = 2});
  });
  const auto found = test::results_in_ranks(2, [](test::thread_group& w) {
    return trained([&](auto& m) {
      adam.train(m, batches(), options(w, 2));
      if (w.rank() > 0) {
        check(error_of([&] { adam.train(m, batches(), {.threads = 2}); }).starts_with(part));
        m.forget_training();
      }
      adam.train(m, batches(), {.threads = 2});
    });
  });
  CHECK(found.at(0) == expected);
  CHECK(found.at(1) == anew);
  // Another type of optimizer begins anew without an error.
  test::in_ranks(2, [](test::thread_group& w) {
    model_type m{net};
    adam.train(m, batches(), options(w, 1));
    optimizer::momentum{.learning_rate = 0.01f}.train(m, batches(), {});
  });
}

TEST_CASE("a state of which a rank has a part is none for rank 0 of another world", "[threads]") {
  model_type m{net};
  test::in_ranks(2, [&](test::thread_group& w) {
    model_type mine{net};
    adam.train(mine, batches(), options(w, 1));
    if (w.rank() == 1) m = std::move(mine);
  });
  const auto errors = test::errors_of(2, [&](test::thread_group& w) {
    model_type other{net};
    try {
      adam.train(w.rank() == 0 ? m : other, batches(), options(w, 1));
    } catch (const lamina::error& e) {
      w.fail(e.what());
      throw;
    }
  });
  CHECK(errors.at(0).starts_with(part));
}

TEST_CASE("an error in a pass of ranks leaves no state to go on from", "[threads]") {
  const auto is_kept = [](const auto& opt) {
    const auto kept = test::results_in_ranks(2, [&](test::thread_group& w) {
      model_type m{net};
      lamina::train_options given = options(w, 3);
      given.on_event = [](const lamina::event& e) {
        if (e.kind == lamina::event_kind::end_pass && e.pass == 1) throw lamina::error("enough");
      };
      check(error_of([&] { opt.train(m, batches(), given); }).find("enough") != std::string::npos);
      return m.training().optimizer != nullptr;
    });
    return kept.at(0) || kept.at(1);
  };
  CHECK(!is_kept(adam));
  CHECK(!is_kept(clipped));           // each rank has all accumulators
  CHECK(!is_kept(optimizer::sgd{}));  // there are none
}

TEST_CASE("a trainer in ranks saves and loads divided accumulators", "[threads]") {
  const temporary_folder made;
  const std::string first = made.path() + "/first", second = made.path() + "/second";
  const auto expected =
      trained([](auto& m) { adam.train(m, batches(), {.passes = 4, .threads = 4}); });
  const auto compare = [&](int ranks, auto&& f) {
    CAPTURE(ranks);
    const auto found = test::results_in_ranks(ranks, [&](test::thread_group& w) {
      return trained([&](auto& m) {
        lamina::trainer t{m, adam, options(w, 1)};
        f(t);
      });
    });
    for (int r = 0; r < ranks; ++r) CHECK(found.at(r) == expected);
  };
  compare(4, [&](auto& t) {
    t.pass(batches());
    t.save(first);
    t.save(second);  // the same again, without a step
    for (int i = 1; i < 4; ++i) t.pass(batches());
  });
  for (const int ranks : {1, 2, 4})
    compare(ranks, [&](auto& t) {
      t.load(second);
      for (int i = 1; i < 4; ++i) t.pass(batches());
    });
  // Into a trainer that has made steps, and from there into a file before another step.
  compare(2, [&](auto& t) {
    for (int i = 0; i < 3; ++i) t.pass(batches());
    t.load(first);
    t.save(second);
    for (int i = 1; i < 4; ++i) t.pass(batches());
  });
  compare(1, [&](auto& t) {
    t.load(second);
    for (int i = 1; i < 4; ++i) t.pass(batches());
  });
  // With gradients apart from updates.
  const auto apart = [&](auto& t, bool saves) {
    for (int i = 0; i < 5; ++i) {
      t.backward(samples());
      t.update();
      if (saves && i % 2 == 0) t.save(first);
    }
  };
  model_type one{net};
  {
    lamina::trainer t{one, adam, {.threads = 4}};
    apart(t, false);
  }
  const auto found = test::results_in_ranks(2, [&](test::thread_group& w) {
    return trained([&](auto& m) {
      lamina::trainer t{m, adam, options(w, 1)};
      apart(t, true);
    });
  });
  CHECK(found.at(0) == values_of(one));
  CHECK(found.at(1) == values_of(one));
}

TEST_CASE("checkpoints of divided accumulators go on with another number of ranks", "[threads]") {
  const temporary_folder made;
  const auto expected =
      trained([](auto& m) { adam.train(m, batches(), {.passes = 4, .threads = 4}); });
  std::map<int, std::vector<float>> found;
  int passes = 0;
  for (const int ranks : {4, 2, 1, 4})
    found = test::results_in_ranks(ranks, [&, to = ++passes](test::thread_group& w) {
      return trained([&](auto& m) {
        lamina::train_options given = options(w, to);
        given.checkpoint = {
            .directory = made.path(), .every_batches = 2, .keep = 2, .resume = true};
        adam.train(m, batches(), given);
      });
    });
  for (int r = 0; r < 4; ++r) CHECK(found.at(r) == expected);
}

TEST_CASE("ranks send no accumulators at the ends of the passes of train", "[threads]") {
  const auto sent = [](const auto& opt) {
    return test::results_in_ranks(2, [&](test::thread_group& w) {
      model_type m{net};
      for (int i = 0; i < 2; ++i) opt.train(m, batches(), options(w, 3));
      return w.sent;
    });
  };
  const auto once = [](const auto& opt) {
    return test::results_in_ranks(2, [&](test::thread_group& w) {
      model_type m{net};
      for (int i = 0; i < 2; ++i) opt.train(m, batches(), options(w, 1));
      return w.sent;
    });
  };
  // What adam sends more, at the end of each call of train, does not depend on the passes.
  CHECK(sent(adam).at(1) - sent(optimizer::sgd{}).at(1) ==
        once(adam).at(1) - once(optimizer::sgd{}).at(1));
  CHECK(sent(adam).at(1) > sent(optimizer::sgd{}).at(1));
}

TEST_CASE("rank 0 alone saves a trainer between passes", "[threads]") {
  const temporary_folder made;
  const std::string alone = made.path() + "/alone", all = made.path() + "/all";
  for (const std::string& path : {alone, all})
    check(test::errors_of(2, [&](test::thread_group& w) {
            model_type m{net};
            lamina::trainer t{m, adam, options(w, 1)};
            for (int i = 0; i < 2; ++i) {
              t.pass(batches());
              if (w.rank() == 0 || path == all) t.save(path);
            }
          }).empty());
  const auto bytes = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  CHECK(bytes(alone).size() > 64 * 512 * sizeof(float) * 3);  // parameters and both moments
  CHECK(bytes(alone) == bytes(all));
}
