// SPDX-License-Identifier: Apache-2.0
// laws/parts_law.hpp - checks the laws of parts of a mini-batch for one row of a table, on the
// executor:
//   - if plan/parts_form.hpp allows a number, then the number and its gradients can be combined by
//     its rule from those of two parts of a mini-batch. The number is the row's result, or its mean
//     or sum, with or without a mean or sum over the mini-batch before the operator;
//   - if row_meeting does not report that the rows of a result depend on each other, the result has
//     the same rows when the mini-batch is divided into two parts and when its rows are in another
//     order, for any dimension along which the operator may work.
// Programs are recorded while the test runs, so that the compiler does not have to compile a
// program for each row.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "executor/shared_executor.hpp"
#include <catch2/catch.hpp>
#include <laws/operator_row.hpp>

#include <lamina/operators/reduce/dimensions/definition.hpp>
#include <lamina/plan/parts_form.hpp>
#include <lamina/transform/append_backward.hpp>

namespace laws {

namespace detail {

template <class F>
struct record_function {
  using type = void;
};
template <class F>
struct record_function<lamina::program<F>> {
  using type = F;
};

/// A program that is recorded while the test runs.
struct recorded_now {
  std::unique_ptr<lamina::program_desc> desc = std::make_unique<lamina::program_desc>();
  std::vector<int> results;  // the variables that the record function returned

  recorded_now() {
    desc->cost = -1;
    desc->domains[0] = {lamina::domain_kind::once, -1, 0, 0, -1};
    desc->domains[1] = {lamina::domain_kind::batch, -1, 0, 0, -1};
    desc->count.domains = 2;
  }
};
inline void note(lamina::program_builder& b, std::vector<int>& to, int id) {
  b.outputs.push(id);
  to.push_back(id);
}
template <class T, class R, int... D>
void note_results(lamina::program_builder& b, std::vector<int>& to,
                  lamina::variable<T, R, D...> v) {
  note(b, to, v.id);
}
template <class... V>
void note_results(lamina::program_builder& b, std::vector<int>& to, const std::tuple<V...>& all) {
  std::apply([&](const auto&... v) { (note(b, to, v.id), ...); }, all);
}
template <class V, std::size_t N>
void note_results(lamina::program_builder& b, std::vector<int>& to, const std::array<V, N>& all) {
  for (const V& v : all) note(b, to, v.id);
}
template <class F>
recorded_now record_now() {
  recorded_now r;
  lamina::program_builder b(*r.desc);
  b.blocks.push({-1, -1});
  lamina::block main{&b, 0};
  note_results(b, r.results, [&] {
    if constexpr (requires { F{}.template operator()<float>(main); })
      return F{}.template operator()<float>(main);
    else
      return F{}(main);
  }());
  lamina::rename_rows(b);
  b.finish();
  return r;
}

}  // namespace detail

class parts_law {
 public:
  /// Checks the laws for a row.
  template <class F>
  void write(const std::string& name, F, const row_options& options = {}) {
    if constexpr (lamina::program_type<F>)
      check(name, detail::record_now<typename detail::record_function<F>::type>, options);
    else
      check(name, detail::record_now<F>, options);
  }

  /// How many numbers plan/parts_form.hpp allowed, and how many it refused.
  int allowed = 0, refused = 0;
  /// The operators that make rows of a result depend on other rows.
  std::set<std::string> meeting;

 private:
  using program = lamina::program_desc;
  using record = std::function<detail::recorded_now()>;
  enum class reduction { none, mean, sum };
  static constexpr std::size_t rows_if_any = 5;

  void check(const std::string& name, const record& made, const row_options& options) {
    INFO("row " << name);
    const detail::recorded_now as_is = made();
    if (is_exempt(*as_is.desc)) return;
    const std::size_t first = options.gradients ? 1 : 0;
    for (std::size_t i = 0; i < as_is.results.size(); ++i) {
      INFO("result " << i);
      check_number(made, options, i, reduction::none, reduction::none);
      if (i < first) continue;
      for (const reduction after : {reduction::mean, reduction::sum}) {
        check_number(made, options, i, after, reduction::none);
        for (const reduction before : {reduction::mean, reduction::sum})
          check_number(made, options, i, after, before);
      }
      check_rows(made, options, i, -1);
      for (int dim = 0; dim < 2; ++dim) check_rows(made, options, i, dim);
    }
  }

  /// Whether a program is exempt from the laws, because it computes different numbers in parts by
  /// design, or draws random numbers by row number.
  static bool is_exempt(const program& p) {
    for (int k = 0; k < p.count.operators; ++k) {
      const lamina::operator_desc& op = p.operators[k];
      const std::string_view type = op.schema->type;
      // Each part normalises by its own statistics, as docs/training.md says.
      if (op.schema->facts.random || type == "batch_norm") return true;
      // These operators add to counters, which the trainer sums over the parts.
      if (type == "auc" || op.schema->kind == lamina::operator_kind::update) return true;
    }
    return false;
  }

  // -- changes of a recorded program
  // ---------------------------------------------------------------

  static bool has_rows(const program& p, int v) { return p.variables[v].rows != 0; }
  static bool is_real(const program& p, int v) {
    return lamina::is_floating(p.variables[v].type) &&
           p.variables[v].kind == lamina::variable_kind::temporary;
  }
  static bool is_one_number(const program& p, int v) {
    const lamina::variable_desc& d = p.variables[v];
    int n = has_rows(p, v) ? 0 : 1;
    for (int i = 0; i < d.rank; ++i) n *= p.dims[d.dims + i];
    return n == 1;
  }
  static int number(lamina::program_builder& b, lamina::dtype type) {
    return b.add_variable(b.layer_name("number", {}), ".tmp_", 0, b.shape(1), 1, 0, type);
  }
  /// Records the sum or mean of all elements of v.
  static int reduced(lamina::program_builder& b, int v, reduction how) {
    const int made = number(b, b.variables[v].type);
    const int all[] = {0};
    const lamina::attribute_value dim = b.integer_list(all, 1);
    b.add_operator(how == reduction::sum ? lamina::schema_of<lamina::operators::reduce_sum>()
                                         : lamina::schema_of<lamina::operators::reduce_mean>(),
                   {v}, {made}, b.attribute_list(dim, false, true));
    return made;
  }
  /// Inserts a sum or mean over the mini-batch between the inputs and all operators. Each real
  /// input becomes one row, and each integer input becomes 1. Returns false for programs with rows
  /// of other domains.
  static bool reduce_inputs(program& p, reduction how) {
    if (p.count.domains != 2 || p.count.blocks != 1) return false;
    const int operators = p.count.operators, arguments = p.count.arguments,
              variables = p.count.variables;
    std::vector<lamina::operator_desc> old(p.operators, p.operators + operators);
    lamina::program_builder b(p);
    b.operators.count = 0;
    std::vector<int> instead(static_cast<std::size_t>(variables), -1);
    std::size_t k = 0;
    for (; k < old.size() && old[k].schema->kind == lamina::operator_kind::source; ++k)
      b.operators.push(old[k]);
    const int fed = b.data.count;
    for (int i = 0; i < fed; ++i) {
      const int v = b.data[i];
      lamina::variable_desc d = b.variables[v];
      const bool real = lamina::is_floating(d.type);
      std::vector<int> dims(p.dims + d.dims, p.dims + d.dims + d.rank);
      dims[0] = 1;
      const int at = b.dims.count;
      for (const int n : dims) b.dims.push(n);
      const int made = b.add_variable(b.layer_name("row", {}), ".tmp_", 0, at, d.rank, 0, d.type);
      instead[static_cast<std::size_t>(v)] = made;
      if (real) {
        const int first[] = {0};
        const lamina::attribute_value dim = b.integer_list(first, 1);
        b.add_operator(how == reduction::sum ? lamina::schema_of<lamina::operators::reduce_sum>()
                                             : lamina::schema_of<lamina::operators::reduce_mean>(),
                       {v}, {made}, b.attribute_list(dim, true, false));
      } else {
        const lamina::attribute_value shape = b.integer_list(dims.data(), d.rank);
        const int attributes = b.attribute_list(shape, static_cast<int>(d.type), 1.0, false);
        const int output = b.arguments.count;
        b.argument(made);
        b.operators.push({&lamina::schema_of<lamina::operators::fill_constant>(), output, output,
                          output + 1, attributes, 0, lamina::op_role::forward});
      }
    }
    for (; k < old.size(); ++k) {
      if (old[k].schema->kind == lamina::operator_kind::source) return false;
      b.operators.push(old[k]);
    }
    // The arguments also contain the lengths of lists, so only the variables in slots are replaced.
    for (const lamina::operator_desc& op : old)
      for (int s = 0, at = op.inputs; s < op.schema->input_count; ++s)
        for (int n = op.schema->inputs[s].duplicable ? p.arguments[at++] : 1; n > 0; --n, ++at)
          if (const int v = p.arguments[at];
              v >= 0 && at < arguments && instead[static_cast<std::size_t>(v)] >= 0)
            p.arguments[at] = instead[static_cast<std::size_t>(v)];
    for (int v = 0; v < variables; ++v) {
      lamina::variable_desc& d = p.variables[v];
      if (d.kind == lamina::variable_kind::data || d.rows != 1) continue;
      const int at = b.dims.count;
      for (int i = 0; i < d.rank; ++i) b.dims.push(p.dims[d.dims + i] < 0 ? 1 : p.dims[d.dims + i]);
      d.dims = at;
      d.rows = 0;
    }
    b.finish();
    return true;
  }

  // -- running
  // -------------------------------------------------------------------------------------

  static lamina::tensor random_value(const program& p, int v, std::size_t rows,
                                     const row_options& options) {
    const lamina::variable_desc& d = p.variables[v];
    lamina::tensor_shape shape;
    for (int i = 0; i < d.rank; ++i)
      shape.push_back(p.dims[d.dims + i] < 0 ? rows : static_cast<std::size_t>(p.dims[d.dims + i]));
    const bool real = lamina::is_floating(d.type);
    std::vector<float> values;
    for (std::size_t i = 0; i < lamina::size_of(shape); ++i) {
      const float x = lamina::random_uniform_at(
          11, static_cast<std::uint64_t>(v) + 1, i, real ? options.low : 0.f,
          real ? options.high : static_cast<float>(options.integers) - 0.001f);
      values.push_back(real ? x : std::floor(x));
    }
    return lamina::tensor(shape, values).cast(d.type);
  }
  static lamina::feed_map feed_of(const program& p, const row_options& options) {
    const lamina::program_view view = view_of(p);
    std::size_t rows = options.any_rows && options.feed.empty() ? rows_if_any : options.rows;
    if (!options.feed.empty()) rows = options.feed.begin()->second.top_count();
    lamina::feed_map feed;
    for (int i = 0; i < p.count.data; ++i) {
      const int v = p.data[i];
      const std::string name = lamina::variable_name(view, v);
      if (const auto given = options.feed.find(name); given != options.feed.end()) {
        feed[name] = given->second;
        continue;
      }
      const int levels = lamina::lod_level_of(view, p.variables[v].rows);
      if (levels == 0) {
        feed[name] = random_value(p, v, rows, options);
        continue;
      }
      const auto lengths = [](std::size_t n) {
        lamina::lod::level of;
        for (std::size_t s = 0; s < n; ++s) of.push_back(s % 3 == 0 ? 2 : s % 3 == 1 ? 1 : 3);
        return of;
      };
      lamina::lod sequences = lamina::lod::from_lengths({lengths(rows)});
      for (int l = 1; l < levels; ++l) sequences = sequences.below(lengths(sequences.rows()));
      feed[name] = lamina::lod_tensor(random_value(p, v, sequences.rows(), options), sequences);
    }
    return feed;
  }
  static lamina::feed_map part_of(const lamina::feed_map& feed, std::size_t first,
                                  std::size_t end) {
    lamina::feed_map part;
    for (const auto& [name, value] : feed) part[name] = value.slice(first, end);
    return part;
  }

  struct runner {
    const program& p;
    lamina::program_view view;
    lamina::basic_executor<double> executor;
    lamina::scope start;

    runner(const program& desc, const row_options& options) : p(desc), view(view_of(desc)) {
      executor.run_startup(view, start, 1);
      for (int i = 0; i < p.count.parameters; ++i) {
        const int v = p.parameters[i].variable;
        start.var(lamina::variable_name(view, v)) = random_value(p, v, 1, options);
      }
    }
    /// Runs the program with the same initial parameters in every run, and returns the wanted
    /// variables.
    std::map<int, lamina::lod_tensor> run(const lamina::feed_map& feed,
                                          const std::set<int>& wanted) {
      lamina::scope scope;
      for (const std::string& name : start.names()) scope.var(name) = start.get(name);
      std::vector<std::string> names;
      for (const int v : wanted) names.push_back(lamina::variable_name(view, v));
      std::vector<lamina::lod_tensor> found = executor.run(view, scope, feed, names);
      std::map<int, lamina::lod_tensor> by;
      std::size_t i = 0;
      for (const int v : wanted) by[v] = std::move(found[i++]);
      return by;
    }
  };

  // -- the laws
  // ------------------------------------------------------------------------------------

  /// A variable in the outermost block that has the rows of a domain, so that the number of rows is
  /// known from it.
  static int counted_by(const program& p, int domain) {
    for (int v = 0; v < p.count.variables; ++v)
      if (p.variables[v].rows == domain && p.variables[v].block == 0 && p.variables[v].rank > 0 &&
          (p.variables[v].kind == lamina::variable_kind::data ||
           p.variables[v].kind == lamina::variable_kind::temporary))
        return v;
    return -1;
  }

  void check_number(const record& made, const row_options& options, std::size_t result,
                    reduction after, reduction before) {
    detail::recorded_now r = made();
    program& p = *r.desc;
    int v = r.results[result];
    if (before != reduction::none && !reduce_inputs(p, before)) return;
    if (p.variables[v].block != 0 || (after != reduction::none && !is_real(p, v))) return;
    {
      lamina::program_builder b(p);
      if (after != reduction::none) v = reduced(b, v, after);
      if (!is_real(p, v) || !is_one_number(p, v)) return;
      b.cost = v;
      b.finish();
    }
    INFO((after == reduction::sum ? "the sum of it" : after == reduction::mean ? "the mean" : ""));
    INFO((before == reduction::sum    ? "after a sum"
          : before == reduction::mean ? "after a mean"
                                      : ""));
    const lamina::parts_form form = lamina::cost_form_of(p, v);
    if (!form) {
      CHECK(form.op >= 0);
      ++refused;
      return;
    }
    // For means over several kinds of rows the trainer divides by the number of rows of the whole
    // mini-batch.
    const bool divides = static_cast<bool>(form.quotient);
    if (!divides && !form.rule.is_sum && form.rule.mixes) return;
    {
      lamina::program_builder b(p);
      lamina::detail::add_gradients<true>(b);
      b.finish();
    }
    const lamina::feed_map feed = feed_of(p, options);
    if (feed.empty()) return;
    const std::size_t samples = feed.begin()->second.top_count();
    runner run(p, options);
    std::set<int> wanted{v};
    form.quotient.each([&](int part) { wanted.insert(part); });
    const int domain = divides ? form.quotient.domain : form.rule.domain;
    const int counted = counted_by(p, domain);
    REQUIRE(counted >= 0);
    wanted.insert(counted);
    std::map<int, int> gradients;  // from parameter to the variable of its gradient
    for (int g = 0; g < p.count.variables; ++g)
      if (p.variables[g].kind == lamina::variable_kind::gradient && p.variables[g].of >= 0 &&
          p.variables[p.variables[g].of].kind == lamina::variable_kind::parameter &&
          p.variables[g].block == 0 && p.variables[g].number < 0 &&
          std::string_view(p.variables[g].suffix) == "@GRAD")
        gradients[p.variables[g].of] = g, wanted.insert(g);
    const auto whole = run.run(feed, wanted);
    double value = form.rule.is_sum ? form.rule.added : 0, rows = 0;
    lamina::quotient_sums sums;
    std::vector<double> weights;
    std::vector<std::map<int, lamina::lod_tensor>> parts;
    for (const auto& [first, end] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, samples}}) {
      parts.push_back(run.run(part_of(feed, first, end), wanted));
      const auto number_of = [&](int of) { return parts.back().at(of).cast<double>().flat(0); };
      const double n = static_cast<double>(parts.back().at(counted).shape().at(0));
      rows += n;
      if (divides) {
        sums.add(form.quotient, n, number_of);
        weights.push_back(form.quotient.denominator < 0 ? 0
                                                        : number_of(form.quotient.denominator) *
                                                              (form.quotient.of_means ? n : 1));
      } else {
        weights.push_back(form.rule.is_sum ? 1 : n);
        value += weights.back() * (number_of(v) - (form.rule.is_sum ? form.rule.added : 0));
      }
    }
    double all = form.rule.is_sum ? 1 : rows;
    if (divides) {
      all = sums.denominator(form.quotient) * (form.quotient.of_means ? sums.rows : 1);
      value = sums.ratio(form.quotient);
    } else {
      value /= all;
    }
    compare(value, whole.at(v).cast<double>().flat(0));
    for (const auto& [parameter, g] : gradients) {
      INFO("gradient " << lamina::variable_name(run.view, g));
      const auto of_whole = whole.at(g).cast<double>();
      for (std::size_t i = 0; i < of_whole.size(); ++i) {
        double sum = 0;
        for (std::size_t t = 0; t < parts.size(); ++t)
          sum += weights[t] / all * parts[t].at(g).cast<double>().flat(i);
        compare(sum, of_whole.flat(i));
      }
    }
    ++allowed;
  }

  /// Compares the rows of a result with those computed in parts, and with those computed in another
  /// order. With dim 0 or higher, operators with an attribute `axis` work along this dimension of
  /// an input.
  void check_rows(const record& made, const row_options& options, std::size_t result, int dim) {
    detail::recorded_now r = made();
    program& p = *r.desc;
    const int v = r.results[result];
    if (!has_rows(p, v) || p.variables[v].block != 0) return;
    if (dim >= 0 && !works_along(p, dim)) return;
    INFO("along dimension " << dim << " (-1: as recorded)");
    const int met = lamina::detail::rows_met_at(p, v);
    if (met >= 0) {
      meeting.insert(p.operators[met].schema->type);
      return;
    }
    const lamina::feed_map feed = feed_of(p, options);
    if (feed.empty()) return;
    runner run(p, options);
    const std::size_t n = feed.begin()->second.top_count();
    lamina::lod_tensor whole;
    if (dim >= 0) {
      // An operator may throw, because not every operator can work along every dimension.
      try {
        whole = run.run(feed, {v}).at(v);
      } catch (const std::exception&) {
        return;
      }
      if (whole.top_count() != n) return;
    } else {
      whole = run.run(feed, {v}).at(v);
    }
    std::vector<lamina::lod_tensor> parts;
    for (const auto& [first, end] : {std::pair<std::size_t, std::size_t>{0, 1}, {1, n}})
      parts.push_back(run.run(part_of(feed, first, end), {v}).at(v));
    // In an order by rank the rows of all samples are in a different order, but the values computed
    // from them are the same.
    const bool ranked = has(p, "reorder_lod_tensor_by_rank");
    if (ranked)
      compare(ordered(lamina::lod_tensor::merge(parts)), ordered(whole));
    else
      compare(lamina::lod_tensor::merge(parts), whole);
    if (whole.top_count() != n || !is_of_samples(p, v) || ranked) return;
    lamina::feed_map turned;
    for (const auto& [name, value] : feed) turned[name] = reversed(value);
    compare(reversed(run.run(turned, {v}).at(v)), whole);
  }
  static bool works_along(program& p, int dim) {
    bool any = false;
    lamina::program_builder b(p);
    for (int k = 0; k < b.operators.count; ++k) {
      lamina::operator_desc& op = b.operators.items[k];
      for (int i = 0; i < op.schema->attribute_count; ++i) {
        const std::string_view name = op.schema->attributes[i].name;
        if (name != "axis" || op.schema->attributes[i].type == lamina::attribute_type::integers ||
            op.schema->facts.broadcasts || !keeps_shape(p, op))
          continue;
        if (op.attributes < 0) {
          const int at = b.attributes.count;
          for (int j = 0; j < op.schema->attribute_count; ++j)
            b.attributes.push({op.schema->attributes[j].number, 0, 0});
          op.attributes = at;
        }
        b.attributes.items[op.attributes + i].number = dim;
        any = true;
      }
    }
    b.finish();
    return any;
  }
  /// Whether an operator has one input with rows and a result of the same shape as that input.
  static bool keeps_shape(const program& p, const lamina::operator_desc& op) {
    if (op.schema->has_lists || op.schema->input_count != 1) return false;
    const int x = p.arguments[op.inputs];
    if (x < 0 || !has_rows(p, x)) return false;
    const lamina::variable_desc& from = p.variables[x];
    bool keeps = false;
    for (int at = op.outputs; at < op.end; ++at) {
      if (p.arguments[at] < 0) continue;
      const lamina::variable_desc& to = p.variables[p.arguments[at]];
      if (to.kind == lamina::variable_kind::tensor_array) return false;
      keeps = keeps ||
              (from.rank == to.rank &&
               std::equal(p.dims + from.dims, p.dims + from.dims + from.rank, p.dims + to.dims));
    }
    return keeps && from.kind != lamina::variable_kind::tensor_array;
  }
  /// Whether a variable has a row, or sequences, for each sample, in the order of the samples.
  static bool is_of_samples(const program& p, int v) {
    int d = p.variables[v].rows;
    while (d > 1 && p.domains[d].kind == lamina::domain_kind::sequence) d = p.domains[d].parent;
    return d == 1;
  }
  static bool has(const program& p, std::string_view type) {
    for (int k = 0; k < p.count.operators; ++k)
      if (p.operators[k].schema->type == type) return true;
    return false;
  }
  static lamina::lod_tensor ordered(const lamina::lod_tensor& value) {
    const auto all = value.cast<double>();
    std::vector<double> numbers(all.begin(), all.end());
    std::sort(numbers.begin(), numbers.end());
    const std::size_t n = numbers.size();
    return lamina::tensor({n}, numbers);
  }
  static lamina::lod_tensor reversed(const lamina::lod_tensor& value) {
    std::vector<lamina::lod_tensor> pieces;
    for (std::size_t i = value.top_count(); i-- > 0;) pieces.push_back(value.slice(i, i + 1));
    return lamina::lod_tensor::merge(pieces);
  }

  static void compare(double found, double expected) {
    if (std::isnan(expected) && std::isnan(found)) return;
    CHECK(std::abs(found - expected) <= 1e-6 * std::max(1.0, std::abs(expected)));
  }
  static void compare(const lamina::lod_tensor& found, const lamina::lod_tensor& expected) {
    CHECK(to_string(found.lod()) == to_string(expected.lod()));
    REQUIRE(found.shape() == expected.shape());
    const auto a = found.cast<double>(), b = expected.cast<double>();
    for (std::size_t i = 0; i < b.size(); ++i) {
      INFO("element " << i);
      compare(a.flat(i), b.flat(i));
    }
  }
};

}  // namespace laws
