// SPDX-License-Identifier: Apache-2.0
// lamina/io/json/json_numbers.hpp - nested lists of numbers in JSON files.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <lamina/io/json/json_reader.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// The numbers of nested lists, row-major. Throws format_error, with the path of the list, if they
/// do not have the expected shape.
template <class Json>
class json_numbers {
 public:
  json_numbers(const json_reader<Json>& from, std::vector<int> shape) : shape_(std::move(shape)) {
    add(from.value(), from.path(), from.file(), 0);
  }

  const std::vector<float>& all() const { return numbers_; }
  float at(int i) const { return numbers_[static_cast<std::size_t>(i)]; }
  float at(int i, int j) const { return at(i * shape_[1] + j); }
  float at(int i, int j, int k) const { return at((i * shape_[1] + j) * shape_[2] + k); }

 private:
  void add(const Json& value, const std::string& path, const std::string& file,
           std::size_t dimension) {
    const json_reader<Json> from(value, path, file);
    if (dimension == shape_.size()) return numbers_.push_back(from.real());
    const auto wanted = static_cast<std::size_t>(shape_[dimension]);
    if (!value.is_array()) from.expected("a list of " + std::to_string(wanted));
    if (value.size() != wanted)
      from.fail("expected a list of " + std::to_string(wanted) + ", found " +
                std::to_string(value.size()));
    for (std::size_t i = 0; i < wanted; ++i)
      add(value[i], path + "[" + std::to_string(i) + "]", file, dimension + 1);
  }

  std::vector<int> shape_;
  std::vector<float> numbers_;
};

}}}  // namespace lamina::detail
