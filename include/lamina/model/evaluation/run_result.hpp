// SPDX-License-Identifier: Apache-2.0
// lamina/model/evaluation/run_result.hpp - reads the cost and the metrics of a program from a
// machine after a run.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/names/cpp_type_of.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/plan/run_time_tables.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

template <class P>
constexpr bool is_metric(int name) {
  const name_desc& n = P::desc.names[name];
  return n.key == nullptr && n.output >= 0 && n.output != P::desc.cost && is_number<P>(n.output) &&
         P::desc.variables[n.output].kind == variable_kind::temporary;
}

/// Returns the value of variable V of program P, which must be a single real number, after a run of
/// a machine.
template <class P, int V, class Machine>
auto number_in(Machine& machine) {
  using number = typename cpp_type_of<P::desc.variables[V < 0 ? 0 : V].type>::type;
  const void* const at = machine.template address<V>();
  if (at == nullptr) __builtin_unreachable();  // never happens; without it g++ warns about null
  return *static_cast<const number*>(at);
}

}  // namespace detail

/// The metrics of a program: the layers that the user named and that return a single number, such
/// as `layer::accuracy(..., {.name = "accuracy"})`.
template <program_type P>
struct program_metrics {
  static constexpr int count = [] {
    int n = 0;
    for (int i = 0; i < counts_of<P>.names; ++i) n += detail::is_metric<P>(i) ? 1 : 0;
    return n;
  }();
  struct list {
    int variable[bound(count)];
    bool is_double[bound(count)];
    std::string_view name[bound(count)];
  };
  /// Returns the value of metric i after a run.
  template <class Machine>
  static double value(Machine& machine, int i) {
    const float* const at = machine.address(all.variable[i]);
    if (at == nullptr) __builtin_unreachable();  // never happens; without it g++ warns about null
    return all.is_double[i] ? *reinterpret_cast<const double*>(at) : static_cast<double>(*at);
  }
  static constexpr list all = [] {
    list l{};
    int n = 0;
    for (int i = 0; i < counts_of<P>.names; ++i)
      if (detail::is_metric<P>(i)) {
        l.variable[n] = P::desc.names[i].output;
        l.is_double[n] = P::desc.variables[P::desc.names[i].output].type == dtype::float64;
        l.name[n++] =
            std::string_view(run_time_program<P>::desc.characters + P::desc.names[i].offset,
                             static_cast<std::size_t>(P::desc.names[i].length));
      }
    return l;
  }();
};

/// The result of evaluator::test: the mean cost of all samples, and the metrics of the pass.
struct test_result {
  struct metric_value {
    std::string name;
    double value;
  };
  std::int64_t samples = 0;
  double cost = 0;
  std::vector<metric_value> metrics;

  /// Returns the value of the metric with this name; throws lamina::error if there is none.
  LAMINA_API LAMINA_COLD double metric(std::string_view name) const;
};

#if LAMINA_DEFINES

double test_result::metric(std::string_view name) const {
  for (const metric_value& m : metrics)
    if (m.name == name) return m.value;
  text known;
  for (const metric_value& m : metrics) known << (&m == metrics.data() ? "" : ", ") << m.name;
  LAMINA_THROW error(text() << "lamina: test: expected the name of a metric, found '" << name
                            << "'; the program has: "
                            << (metrics.empty() ? text() << "none" : known));
}

#endif  // LAMINA_DEFINES

}}  // namespace lamina
