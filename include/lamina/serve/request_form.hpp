// SPDX-License-Identifier: Apache-2.0
// lamina/serve/request_form.hpp - the inputs and outputs that a request to a model must have.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <lamina/core/dtype.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/model/any_model.hpp>
#include <lamina/serve/model_request.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace serve {

/// The data layers of a model, and the outputs that a request can select. These are outputs of
/// numbers that have a row per sample or per element of sequences. A cost has no rows: it is one
/// number for a whole mini-batch, which may contain other requests, so it cannot be selected.
struct request_form {
  std::vector<any_variable> inputs, outputs;

  explicit request_form(const any_model& m) : inputs(m.inputs()), outputs(m.outputs()) {
    std::erase_if(outputs, [](const any_variable& v) {
      return v.shape.empty() || v.shape[0] != -1 || v.type == dtype::boolean;
    });
  }

  /// Whether both forms accept the same requests.
  bool operator==(const request_form& other) const {
    return same(inputs, other.inputs) && same(outputs, other.outputs);
  }
  const any_variable* input(std::string_view name) const { return find(inputs, name); }
  const any_variable* output(std::string_view name) const { return find(outputs, name); }

  /// Checks a request and returns its number of samples. If the request names no output, sets its
  /// outputs to the names of all outputs. Throws lamina::error with the expected and the found
  /// values if the request does not fit this form or has more than `most` samples.
  int require(model_request& request, int most) const {
    std::int64_t samples = -1;
    for (const any_variable& wanted : inputs) {
      const auto named = [&](const named_values& v) { return v.name == wanted.name; };
      const auto count = std::count_if(request.inputs.begin(), request.inputs.end(), named);
      if (count != 1)
        fail(wanted.name, text() << "expected it once, found it " << count << " times");
      const named_values& given =
          *std::find_if(request.inputs.begin(), request.inputs.end(), named);
      const std::int64_t found = require(wanted, given);
      if (samples >= 0 && found != samples)
        fail(wanted.name, text() << "expected " << samples
                                 << " samples as in the other inputs, found " << found);
      samples = found;
    }
    for (const named_values& given : request.inputs)
      if (input(given.name) == nullptr)
        throw error(text() << "lamina: inputs: expected " << detail::names_of(inputs) << ", found '"
                           << given.name << "'");
    if (samples < 1 || samples > most)
      throw error(text() << "lamina: request: expected 1 to " << most << " samples, found "
                         << samples);
    for (const std::string& name : request.outputs)
      if (output(name) == nullptr)
        throw error(text() << "lamina: outputs: expected " << detail::names_of(outputs)
                           << ", found '" << name << "'");
    if (request.outputs.empty())
      for (const any_variable& v : outputs) request.outputs.push_back(v.name);
    return static_cast<int>(samples);
  }

 private:
  static bool same(const std::vector<any_variable>& a, const std::vector<any_variable>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(), [](const any_variable& x, const any_variable& y) {
          return x.name == y.name && x.type == y.type && x.shape == y.shape && x.levels == y.levels;
        });
  }
  static const any_variable* find(const std::vector<any_variable>& all, std::string_view name) {
    for (const any_variable& v : all)
      if (v.name == name) return &v;
    return nullptr;
  }
  [[noreturn]] static void fail(std::string_view input, const text& what) {
    throw error(text() << "lamina: input " << input << ": " << what);
  }
  /// Checks the values of one input and returns their number of samples.
  static std::int64_t require(const any_variable& wanted, const named_values& given) {
    if (given.type != wanted.type)
      fail(given.name,
           text() << "expected " << name_of(wanted.type) << ", found " << name_of(given.type));
    bool fits = given.shape.size() == wanted.shape.size() && !given.shape.empty() &&
                given.shape[0] >= 0 && given.shape[0] <= 0x7fffffff;
    std::int64_t columns = 1;
    for (std::size_t i = 1; fits && i < given.shape.size(); ++i) {
      fits = given.shape[i] == wanted.shape[i];
      columns *= wanted.shape[i];
    }
    if (!fits)
      fail(given.name, text() << "expected the shape " << text().list(wanted.shape) << ", found "
                              << text().list(given.shape));
    const std::int64_t bytes = given.shape[0] * columns * size_of(wanted.type);
    if (static_cast<std::int64_t>(given.bytes.size()) != bytes)
      fail(given.name, text() << "expected " << bytes << " bytes for the shape "
                              << text().list(given.shape) << ", found " << given.bytes.size());
    if (wanted.levels == 0) {
      if (!given.lengths.empty()) fail(given.name, text("expected no lengths, found some"));
      return given.shape[0];
    }
    if (wanted.levels > 1)
      fail(given.name,
           text() << "expected at most one level of sequences, found " << wanted.levels);
    std::int64_t sum = 0;
    for (const int n : given.lengths) {
      if (n < 0) fail(given.name, text() << "expected lengths of at least 0, found " << n);
      sum += n;
    }
    if (sum != given.shape[0])
      fail(given.name,
           text() << "expected lengths with the sum " << given.shape[0] << ", found " << sum);
    return static_cast<std::int64_t>(given.lengths.size());
  }
};

}}}  // namespace lamina::serve
