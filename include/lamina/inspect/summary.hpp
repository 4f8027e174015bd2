// SPDX-License-Identifier: Apache-2.0
// lamina/inspect/summary.hpp - a table of the layers of a program with their shapes, parameters and
// flops.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <lamina/core/messages/text.hpp>
#include <lamina/inspect/work_counter.hpp>
#include <lamina/model/names/program_names.hpp>
#include <lamina/program/program.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A layer, that is, all operators whose results have the same layer name.
struct layer_summary {
  std::string name;
  std::string operators;        // "mul + elementwise_add + relu", without repetitions
  std::string output;           // the shape of its result: "[batch, 64]"
  std::int64_t parameters = 0;  // elements of the parameters that no earlier layer reads
  std::int64_t shared = 0;      // elements of the parameters that an earlier layer reads too
  double flops = 0;             // multiplications and additions of products and convolutions
};

/// The layers of a program, and the sums over all layers.
struct program_summary {
  std::vector<layer_summary> layers;
  // Elements of all parameters; a parameter that several layers read counts once.
  std::int64_t parameters = 0;
  std::int64_t trainable = 0;  // elements of parameters that an optimizer may change
  std::int64_t bytes = 0;      // bytes of all parameters
  double flops = 0;
  std::int64_t rows = 1;  // number of rows for which the flops are counted

  /// Returns a table like that of Keras: one line per layer, then the sums. Numbers in parentheses
  /// are the elements of parameters that are already counted at an earlier layer.
  std::string text() const;
};

namespace detail {

/// Returns "1,234,567" for 1234567.
LAMINA_COLD inline std::string with_commas(std::int64_t number) {
  std::string digits = lamina::text() << number;
  for (std::size_t at = digits.size(); at > 3 + (number < 0 ? 1u : 0u);)
    digits.insert(at -= 3, ",");
  return digits;
}

/// Makes the summary of a program.
class summary_maker {
 public:
  LAMINA_COLD summary_maker(const program_view& program, const report_options& run)
      : p_(program), run_(run), count_(p_, run_) {}

  LAMINA_COLD program_summary make() {
    made_.rows = run_.rows;
    row_of_.assign(static_cast<std::size_t>(p_.count.names), -1);
    first_user_.assign(static_cast<std::size_t>(p_.count.parameters), -1);
    last_user_ = first_user_;
    for (int k = 0; k < p_.count.operators; ++k)
      if (p_.operators[k].role == op_role::forward || p_.operators[k].role == op_role::loss)
        add(p_.operators[k]);
    for (int i = 0; i < p_.count.parameters; ++i) {
      const variable_desc& d = p_.variables[p_.parameters[i].variable];
      const std::int64_t n = elements(d);
      made_.parameters += n;
      made_.bytes += n * size_of(d.type);
      if (p_.parameters[i].trainable) made_.trainable += n;
    }
    for (const layer_summary& l : made_.layers) made_.flops += l.flops;
    return std::move(made_);
  }

 private:
  /// Adds an operator to the layer to which its first result belongs.
  void add(const operator_desc& op) {
    int result = -1;
    for (int at = op.outputs; at < op.end && result < 0; ++at)
      if (const int v = p_.arguments[at]; is_variable_of(op, at)) result = v;
    if (result < 0) return;
    const variable_desc& d = p_.variables[result];
    if (d.base < 0) return;
    int& row = row_of_[static_cast<std::size_t>(d.base)];
    if (row < 0) {
      row = static_cast<int>(made_.layers.size());
      layer_summary& l = made_.layers.emplace_back();
      name_writer length{nullptr};
      write_base(p_, p_.names, d.base, length);
      l.name.resize(static_cast<std::size_t>(length.length));
      name_writer w{l.name.data()};
      write_base(p_, p_.names, d.base, w);
    }
    layer_summary& l = made_.layers[static_cast<std::size_t>(row)];
    const std::string_view type = op.schema->type;
    if (!has_type(l.operators, type)) {
      if (!l.operators.empty()) l.operators += " + ";
      l.operators += type;
    }
    const int last = p_.names[d.base].output;
    l.output = shape_text(last >= 0 ? last : result);
    l.flops += count_.times(op.block) * count_.flops(op);
    for_each_argument(op, op.inputs, op.outputs, op.schema->inputs, [&](int v) {
      if (p_.variables[v].kind != variable_kind::parameter) return;
      const std::size_t i = static_cast<std::size_t>(p_.variables[v].index);
      if (first_user_[i] == row || last_user_[i] == row) return;
      (first_user_[i] < 0 ? l.parameters : l.shared) += elements(p_.variables[v]);
      if (first_user_[i] < 0) first_user_[i] = row;
      last_user_[i] = row;
    });
  }

  template <class F>
  void for_each_argument(const operator_desc& op, int at, int end, const slot_desc* descriptions,
                         const F& f) const {
    for (int s = 0; at < end; ++s)
      for (int n = op.schema->has_lists && descriptions[s].duplicable ? p_.arguments[at++] : 1;
           n > 0; --n, ++at)
        if (p_.arguments[at] >= 0) f(p_.arguments[at]);
  }
  /// The list of output arguments also contains the lengths of slots that are lists. Returns
  /// whether the argument at `at` is a variable and not such a length.
  bool is_variable_of(const operator_desc& op, int at) const {
    bool found = false;
    int n = op.outputs;
    for (int s = 0; n <= at && n < op.end; ++s) {
      int items = 1;
      if (op.schema->has_lists && op.schema->outputs[s].duplicable) items = p_.arguments[n++];
      found = at >= n && at < n + items;
      n += items;
    }
    return found && p_.arguments[at] >= 0;
  }
  static bool has_type(std::string_view operators, std::string_view type) {
    for (std::size_t at = 0; at < operators.size();) {
      const std::size_t end = (std::min)(operators.find(" + ", at), operators.size());
      if (operators.substr(at, end - at) == type) return true;
      at = end + 3;
    }
    return false;
  }
  std::int64_t elements(const variable_desc& d) const {
    std::int64_t n = 1;
    for (int i = 0; i < d.rank; ++i) n *= p_.dims[d.dims + i];
    return n;
  }
  std::string shape_text(int v) const {
    const variable_desc& d = p_.variables[v];
    lamina::text all("[");
    for (int i = 0; i < d.rank; ++i) {
      if (i > 0) all << ", ";
      const domain_desc& rows = p_.domains[d.rows];
      if (i > 0 || d.rows == once::domain)
        all << p_.dims[d.dims + i];
      else if (rows.length == 0)
        all << "batch";
      else
        all << std::string_view(p_.characters + rows.offset, static_cast<std::size_t>(rows.length));
    }
    return all << "]";
  }

  const program_view p_;
  const report_options run_;
  const work_counter count_;  // refers to p_ and run_
  program_summary made_;
  std::vector<int> row_of_;  // for each layer name, its row in the table
  // For each parameter, the first and the last layer that reads it, or -1.
  std::vector<int> first_user_, last_user_;
};

}  // namespace detail

LAMINA_COLD inline std::string program_summary::text() const {
  std::size_t widths[] = {5, 9, 6, 10};
  std::vector<std::string> cells;
  for (const layer_summary& l : layers) {
    std::string numbers = detail::with_commas(l.parameters);
    if (l.shared > 0) numbers += " (" + detail::with_commas(l.shared) + ")";
    const std::string_view row[] = {l.name, l.operators, l.output, numbers};
    for (std::size_t i = 0; i < 4; ++i) {
      widths[i] = (std::max)(widths[i], row[i].size());
      cells.emplace_back(row[i]);
    }
  }
  lamina::text all;
  const auto line = [&](const std::string* row, std::string_view work) {
    for (std::size_t i = 0; i < 4; ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      if (i < 3)
        all << row[i] << gap << "  ";
      else
        all << gap << row[i];
    }
    all << work << "\n";
  };
  const std::string head[] = {"layer", "operators", "output", "parameters"};
  line(head, "       Mflop");
  const std::string rule(widths[0] + widths[1] + widths[2] + widths[3] + 18, '-');
  all << rule << "\n";
  for (std::size_t i = 0; i < layers.size(); ++i)
    line(&cells[4 * i], std::string(lamina::text().print("%12.3f", layers[i].flops / 1e6)));
  all << rule << "\n";
  all << "parameters: " << detail::with_commas(parameters) << ", trained "
      << detail::with_commas(trainable) << ", fixed "
      << detail::with_commas(parameters - trainable);
  all.print("; %.1f KB\n", static_cast<double>(bytes) / 1024);
  all << "Mflop for " << rows << (rows == 1 ? " row" : " rows");
  return all.print(": %.3f\n", flops / 1e6);
}

/// Returns the layers of a program with the shape of their results, the number of their parameters
/// and their flops in a run, like Keras' `model.summary()`. A multiplication and an addition count
/// as two flops. Only matrix products and convolutions are counted.
///   std::puts(lamina::summary(digits).text().c_str());
///   std::puts(lamina::summary(translator, {.rows = 64, .tokens = 64 * 20}).text().c_str());
LAMINA_COLD inline program_summary summary(const program_view& program,
                                           const report_options& run = {}) {
  return detail::summary_maker(program, run).make();
}
template <program_type P>
program_summary summary(P, const report_options& run = {}) {
  return summary(P::view(), run);
}

}}  // namespace lamina
