// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluator.hpp - computes the activations of a model for given data, and its cost and
// metrics for a whole data set.
#pragma once

#include <lamina/core/config.hpp>

#include <limits>

#include <lamina/core/messages/text.hpp>
#include <lamina/core/place.hpp>
#include <lamina/model/evaluation/activation_view.hpp>
#include <lamina/model/evaluation/evaluator_options.hpp>
#include <lamina/model/evaluation/loops_on_threads.hpp>
#include <lamina/model/evaluation/metric_sums.hpp>
#include <lamina/model/evaluation/refused_evaluator.hpp>
#include <lamina/model/evaluation/run_result.hpp>
#include <lamina/model/evaluation/test_sums.hpp>
#include <lamina/model/feeding/feed.hpp>
#include <lamina/model/feeding/feeder.hpp>
#include <lamina/model/feeding/minibatch_position.hpp>
#include <lamina/model/model.hpp>
#include <lamina/model/names/domain_of_level.hpp>
#include <lamina/model/parameters/initialise_state.hpp>
#include <lamina/model/refused/refused_operator.hpp>
#include <lamina/model/sharded/row_fetcher.hpp>
#include <lamina/model/storage.hpp>
#include <lamina/plan/feed_mask.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/transform/clone_for_test.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Runs a program in test mode with the parameters of a model, and holds the activations. The model
/// must outlive the evaluator. Each thread needs its own evaluator; many evaluators may share a
/// model without a lock. The design document of PaddlePaddle: Evaluator.
template <program_type P, class Machine>
requires(!is_faulty<P>) class evaluator<P, Machine> {
  static_assert(
      check<detail::accepts_program<Machine>, typename detail::refused_operator<Machine>::type>,
      "lamina: a program in double: this computes in float alone");

 public:
  using program = for_test<P>;

  explicit evaluator(const model<P>& m, std::uint64_t seed = 0)
      : machine_({m.memory_of_all(), nullptr, nullptr}), seed_(seed), rows_read_(m) {
    detail::initialise_state<P>(machine_);
  }
  /// Makes an evaluator with several threads, which share the work of each call: `evaluator
  /// e{model, {.threads = 2}}`.
  evaluator(const model<P>& m, const evaluator_options& options) : evaluator(m, options.seed) {
    threads_ = detail::owned_threads(machine_, options.threads);
  }
  /// Makes an evaluator on a device: `evaluator e{model, lamina::cuda::place{0}}`, after the
  /// include of <lamina/lamina.cuh>. The constructor and refresh() copy the parameters to the
  /// device, so call refresh() after they have changed.
  template <class Place>
  requires requires(const Place& at) { at.number; }
  evaluator(const model<P>& m, const Place& at, std::uint64_t seed = 0)
      : machine_(m, at.number), seed_(seed) {
    detail::initialise_state<P>(machine_);
  }
  /// Makes an evaluator with weights rounded to bfloat16, which are half as large: `evaluator
  /// e{model, lamina::storage::bfloat16}`, after the include of
  /// <lamina/model/bfloat16/bfloat16_machine.hpp>. The constructor and refresh() round the weights,
  /// so call refresh() after they have changed.
  evaluator(const model<P>& m, storage::bfloat16_type how, std::uint64_t seed = 0)
      : machine_(m, how), seed_(seed) {
    detail::initialise_state<P>(machine_);
  }
  /// Reports a program in place of a model with a one-line error.
  template <class Q, class... More>
  requires(std::is_same_v<Q, P>) explicit evaluator(const Q& given, const More&...)
      : evaluator(static_cast<const model<P>&>(model<P>(given))) {
    static_assert(never<Q>,
                  "lamina: evaluator: expected a model, evaluator e{model}, found a program; put "
                  "lamina::model m{program} before it");
  }
  /// Reports a model of another program with a one-line error.
  template <program_type Q, class Options = evaluator_options>
  requires(!__is_same(Q, P)) explicit evaluator(const model<Q>&, const Options& = {})
      : evaluator(*static_cast<const model<P>*>(static_cast<const void*>(this))) {
    static_assert(check<is_faulty<Q>, expects_type<P>, gets_type<Q>>,
                  "lamina: evaluator: expected a model of its program, found that of another one");
  }
  /// Reports a temporary model with a one-line error.
  template <class... More>
  explicit evaluator(model<P>&& m, const More&...) : evaluator(static_cast<const model<P>&>(m)) {
    static_assert(never<P, More...>,
                  "lamina: evaluator: expected a model that outlives it, found a temporary one; "
                  "give the model a name: lamina::model m{program}");
  }
  /// Reports a construction without a model with a one-line error.
  template <class Q = P>
  evaluator() : evaluator(*static_cast<const model<P>*>(static_cast<const void*>(this))) {
    static_assert(never<Q>, "lamina: evaluator: expected a model, evaluator e{model}, found none");
  }
  /// Copies the parameters of the model again. Only evaluators on a device or with bfloat16 weights
  /// have copies.
  void refresh() { machine_.refresh(); }

  /// Computes all activations that depend only on the given data layers:
  /// `e.forward(feed<"image">(pixels))` needs no label. All feeds must have the same number of
  /// samples. An unknown name or another element type than the layer's is a compile-time error.
  /// Throws lamina::error if numbers of values do not match the layers or each other.
  template <class... Feed>
  void forward(Feed... feeds) {
    static_assert(sizeof...(Feed) > 0, "lamina: forward: feed at least one data layer");
    constexpr bool named = (detail::is_feed<Feed> && ...);
    static_assert(check<named, gets_type<Feed...>>,
                  "lamina: forward: expected feeds by name, forward(lamina::feed<\"x\">(values))");
    // These checks are not in a separate function, because a compiler's error about a feed would
    // show that function too.
    if constexpr (named && !(detail::feeds_nothing<Feed> || ...)) {
      constexpr bool once = detail::all_differ({Feed::name.view()...});
      static_assert(check<once, gets_type<detail::name_letters<Feed::name>...>>,
                    "lamina: forward: expected one feed for each data layer, found two of one "
                    "name");
      constexpr bool known = ((data_named<P>(Feed::name.view()) >= 0) && ...);
      using all = detail::known_data<P, !known>;
      static_assert(check<known, gets_type<detail::name_letters<Feed::name>...>, all>,
                    "lamina: feed: the program has no data layer of this name");
      rows_ = -1;
      given_ = 0;
      feeder_.clear();
      rows_read_.clear();
      (copy(feeds), ...);
      if constexpr ((is_copied<Feed> || ...)) {
        const batch_view<P> view = feeder_.view();
        rows_ = feeder_.rows();
        machine_.bind(view.rows);
        (feed_copied<Feed>(view), ...);
      }
      (take(feeds), ...);
      rows_read_.fetch(sharded_embedding::purpose::evaluation);
      constexpr unsigned long long given = mask_of<layer_of<Feed::name>...>();
      machine_.run(given, seed_, 0);
      given_ = given;
    }
  }

  /// Returns the activation of a layer or variable after forward(), as a view with the shape of the
  /// variable. Layers that the user named and variables that the program returns always keep their
  /// values. Other variables may be read only if no later value reuses their memory; otherwise the
  /// call does not compile. Throws lamina::error if the activation depends on data that the last
  /// forward() did not get.
  template <fixed_string Name>
  auto activation() {
    constexpr int found = variable_named<P>(Name.view());
    using known_names = detail::known_layers<P, (found < 0)>;
    static_assert(check<(found >= 0 || Name.is_refused()), detail::name_letters<Name>, known_names>,
                  "lamina: activation: the program has no layer or variable of this name");
    constexpr int v = found < 0 ? 0 : found;
    constexpr auto space = layout_of_variable<program, v>.slot.space;
    constexpr bool kept = keeps_value<program, v> && space != memory_space::parameter;
    static_assert(check<(kept || found < 0), detail::name_letters<Name>>,
                  "lamina: activation: this variable is not kept; name its layer, or return it "
                  "from the program");
    if constexpr (found >= 0) {
      require_fed<v>();
      return activation_view<program, v>(machine_);
    } else {
      return missing_view{};
    }
  }

  /// Reports a name among the function arguments with a one-line error.
  template <class Text>
  missing_view activation(const Text&) {
    static_assert(never<Text>,
                  "lamina: activation: expected the name as a template argument, "
                  "activation<\"output\">()");
    return {};
  }

  /// Returns the sequences s that the rows of an activation form after forward(), without a copy.
  /// Sequence i, below s.count, consists of the rows from s.begin(i) up to, but not including,
  /// s.end(i). Level 0 is the outermost level, and -1 the innermost: after a beam search, level 0
  /// has the hypotheses of each sample, and level 1 the words of each hypothesis.
  template <fixed_string Name, int Level = -1>
  sequence_view sequences() {
    constexpr int found = variable_named<P>(Name.view());
    using known_names = detail::known_layers<P, (found < 0)>;
    static_assert(check<(found >= 0 || Name.is_refused()), detail::name_letters<Name>, known_names>,
                  "lamina: activation: the program has no layer or variable of this name");
    constexpr int rows = program::desc.variables[found < 0 ? 0 : found].rows;
    constexpr int domain = detail::domain_of_level(program::desc, rows, Level);
    static_assert(check<(domain >= 0 || found < 0), gets<Level>, detail::name_letters<Name>>,
                  "lamina: sequences: the rows of this variable form no sequences of this level");
    constexpr int known = domain < 0 ? 0 : domain;
    if constexpr (requires { machine_.sequences(known); }) {
      return {machine_.sequences(known)};
    } else {
      const auto& now = machine_.memory().rows();
      return {{now.offsets[known], now.count[program::desc.domains[known].parent]}};
    }
  }

  /// Returns the cost after forward(). Throws lamina::error if the program has no cost, or if the
  /// cost depends on data that the last forward() did not get.
  real_of<P> cost() {
    constexpr int cost = P::desc.cost;
    if (cost < 0) LAMINA_THROW error("lamina: evaluator: the program has no cost");
    require_fed<cost>();
    return detail::number_in<P, cost>(machine_);
  }

  /// Computes all mini-batches of a pass of a reader. Returns the mean cost over all samples and
  /// the metrics of the pass. The metrics accuracy, auc and chunk_eval, and metrics that are
  /// quotients of sums, are computed from counts over the whole pass instead of averaged. Throws
  /// lamina::error if the reader has no samples, and if the data do not match the data layers. With
  /// several processes, `all` is their distributed::session. Each process then reads the whole data
  /// or only its shard, which may be empty, and all get the result over all samples. All training
  /// processes must call it; an error in one of them ends all.
  template <class Reader, class World = detail::no_world>
  requires(__is_same(World, detail::no_world) || requires(World & w) {
    w.gather_trainers(&w, 0, &w);
    w.fail("");
  }) test_result test(Reader&& batches, World&& all = World{}) {
    constexpr bool readable = reader::readable<Reader>;
    static_assert(check<readable, gets_type<Reader>>,
                  "lamina: reader: expected a reader: a copyable range, or a callable without "
                  "arguments (or of the pass number) that returns a range");
    constexpr bool batched = reader::yields_batches<Reader>;
    static_assert(check<batched, gets_type<reader::yield_of<Reader>>>,
                  "lamina: reader: expected mini-batches, ranges of samples: put | "
                  "lamina::reader::batch(n) after the reader");
    constexpr int layers = counts_of<P>.data;
    constexpr int fields = detail::fields_a_sample<layers, reader::yield_of<Reader>>;
    constexpr bool fits = fields == layers;
    static_assert(check<fits, expects<layers>, gets<fields>>,
                  "lamina: reader: a sample has one field for each data layer of the program");
    using fed = detail::field_check<P, reader::yield_of<Reader>, (fits && batched && readable)>;
    static_assert(check<fed::ok, typename fed::name, typename fed::expected, typename fed::found>,
                  "lamina: reader: a field holds what its data layer takes: as many numbers, and "
                  "integers where it takes integers");
    if constexpr (readable && batched && fits && fed::ok)
      return tested(batches, all);
    else
      return {};
  }

  /// Makes forward() and test() throw lamina::error at the first NaN; with `infinity`, also at the
  /// first infinity. The error names the layer, the operator and the row, in test() also the
  /// mini-batch and the sample. The check works on the CPU only, makes evaluation slower, and needs
  /// the include of <lamina/model/check_nan.hpp>.
  void check_nan(bool infinity = false) {
    constexpr const program_view& names = run_time_program<P>::view;
    constexpr bool can = requires { machine_.check_numbers(names, infinity); };
    static_assert(check<can>, "lamina: check_nan: expected an evaluator on the CPU");
    if constexpr (can) machine_.check_numbers(names, infinity);
  }

  /// Returns the machine, for callers that run it directly.
  Machine& machine() { return machine_; }

  /// Sets the statistics that metrics such as auc accumulate over calls to their initial values.
  void reset() { detail::initialise_state<P>(machine_); }

 private:
  template <class Reader, class World>
  test_result tested(Reader& batches, World& all) {
    detail::test_sums<program> sums;
    detail::run_or_fail_all(all, [&] { add_minibatches(batches, sums); });
    sums.all_reduce(machine_, all);
    return sums.result();
  }
  /// Runs the mini-batches of a reader and adds their costs and metrics to `sums`.
  template <class Reader>
  void add_minibatches(Reader& batches, detail::test_sums<program>& sums) {
    metric_rules<program>::begin_pass(machine_);
    minibatch_position position;
    for (auto&& batch : reader::begin_pass(batches)) {
      position.first_sample = sums.samples();
      LAMINA_TRY { feeder_.fill(batch); }
      LAMINA_CATCH(const row_error& e) { position.fail(e, e.row()); }
      const int n = feeder_.rows();
      if (n == 0) continue;
      given_ = 0;
      const batch_view<P> view = feeder_.view();
      detail::at_minibatch(position, view, [&] {
        rows_read_.feed(view);
        rows_read_.fetch(sharded_embedding::purpose::evaluation);
        view.feed_to(machine_);
        machine_.run(~0ull, seed_, 0);
      });
      ++position.batch;
      given_ = ~0ull;
      double cost_now = 0;
      if constexpr (P::desc.cost >= 0) cost_now = cost();
      sums.add(machine_, n, cost_now);
    }
  }

  /// Throws lamina::error if variable V depends on data that the last run did not get.
  template <int V>
  void require_fed() const {
    constexpr unsigned long long needed =
        V < 0 ? 0 : plan<program>::lowered.variables[V < 0 ? 0 : V].feeds;
    if ((needed & ~given_) != 0) not_fed(V, needed & ~given_);
  }
  [[noreturn]] LAMINA_COLD static void not_fed(int variable, unsigned long long missing) {
    int i = 0;
    while ((missing >> i & 1) == 0) ++i;
    text why("lamina: activation ");
    why << variable_name(run_time_program<P>::view, variable) << ": expected a feed of "
        << name_of_data(i);
    for (i += 64; i < counts_of<P>.data; i += 64) why << " and " << name_of_data(i);
    LAMINA_THROW error(why << " in the last forward(), found none");
  }

  static auto name_of_data(int i) {
    return variable_name(run_time_program<P>::view, run_time_program<P>::desc.data[i]);
  }
  /// The index of the data layer with this name; 0 for an unknown name, which forward() reports.
  template <fixed_string Name>
  static constexpr int layer_of = data_named<P>(Name.view()) < 0 ? 0 : data_named<P>(Name.view());

  /// Returns the bit mask for these data layers.
  template <int... Layer>
  static constexpr unsigned long long mask_of() {
    bool fed[bound(counts_of<P>.data)] = {};
    ((fed[Layer] = true), ...);
    return feed_mask(fed, counts_of<P>.data);
  }

  /// Whether a feed is copied instead of read in place. Feeds of sequences are copied, because the
  /// offsets of the sequences must be computed.
  template <class Feed>
  static constexpr bool is_copied = detail::is_feed_of_sequences<Feed> ||
                                    detail::data_layers_of<P>.of[layer_of<Feed::name>].parent >= 0;
  template <class Feed>
  void copy(Feed f) {
    constexpr int i = layer_of<Feed::name>;
    constexpr bool fits = detail::data_layers_of<P>.of[i].parent >= 0;
    if constexpr (detail::is_feed_of_sequences<Feed>) {
      static_assert(check<fits, detail::name_letters<Feed::name>>,
                    "lamina: feed: this data layer takes no sequences");
      if constexpr (fits) feeder_.template fill_layer<i>(f.values);
    } else if constexpr (fits) {
      const std::span<const typename Feed::value_type> one[] = {{f.values, f.count}};
      feeder_.template fill_layer<i>(one);
    }
  }
  template <class Feed>
  void feed_copied(const batch_view<P>& view) {
    if constexpr (is_copied<Feed>) {
      machine_.feed(layer_of<Feed::name>, view.data[layer_of<Feed::name>]);
      rows_read_.feed(view, layer_of<Feed::name>);
    }
  }

  template <class Feed>
  void take(Feed f) {
    if constexpr (!is_copied<Feed>) {
      constexpr int i = layer_of<Feed::name>;
      using T = typename Feed::value_type;
      constexpr variable_desc d = P::desc.variables[P::desc.data[i]];
      using expected = typename detail::cpp_type_of<d.type>::type;
      constexpr bool fits = __is_same(T, expected) || data_named<P>(Feed::name.view()) < 0;
      static_assert(check<fits, expects_type<expected>, gets_type<T>>,
                    "lamina: feed: the element type is that of the data layer");
      constexpr int columns = detail::data_layers_of<P>.of[i].columns;
      const std::size_t n = f.count / static_cast<std::size_t>(columns);
      if (f.count % static_cast<std::size_t>(columns) != 0)
        LAMINA_THROW error(text() << "lamina: feed " << name_of_data(i)
                                  << ": expected a multiple of " << columns << " values, found "
                                  << f.count);
      if (n > static_cast<std::size_t>((std::numeric_limits<int>::max)()))
        LAMINA_THROW error(text() << "lamina: feed: expected at most 2^31 - 1 rows, found " << n);
      if constexpr (d.rows == once::domain) {
        if (n != 1)
          LAMINA_THROW error(text() << "lamina: feed " << name_of_data(i) << ": expected "
                                    << columns << " values, found " << f.count);
        if (rows_ < 0) machine_.bind(1);  // a feed with rows binds their number again
      } else {
        if (rows_ >= 0 && static_cast<std::size_t>(rows_) != n)
          LAMINA_THROW error(text() << "lamina: feed " << name_of_data(i) << ": expected " << rows_
                                    << " rows as in the other feeds, found " << n);
        if (rows_ < 0) {
          rows_ = static_cast<int>(n);
          machine_.bind(rows_);
        }
      }
      machine_.feed(i, f.values);
      rows_read_.feed(i, f.values, f.count);
    }
  }

  Machine machine_;
  feeder<P> feeder_;
  std::uint64_t seed_;
  unsigned long long given_ = 0;  // bit mask of the data that the last run received
  int rows_ = -1;
  [[no_unique_address]] detail::row_fetcher<P> rows_read_{};
  detail::owned_threads threads_;
};

/// The evaluator type of a program, for class members: `lamina::evaluator_of<net> e_{model_}`.
template <const auto& Net>
using evaluator_of = evaluator<std::remove_cvref_t<decltype(Net)>>;

}}  // namespace lamina
