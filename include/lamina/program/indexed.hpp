// SPDX-License-Identifier: Apache-2.0
// lamina/program/indexed.hpp - names of repeated blocks: a prefix and a number.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Composes "block_3" from "block" and 3, for layers that are recorded in a loop; with a third part
/// "block_3.first":
///   for (int i = 0; i < 12; ++i)
///     h = layer::fc<64>(h, {.name = lamina::indexed("block", i)});
/// Parameters then have the names "block_3.w_0" and "block_3.b_0". The text lives until the end of
/// the statement that made it. A negative index does not compile.
class indexed {
 public:
  constexpr indexed(std::string_view prefix, int index, std::string_view part = {}) {
    if (index < 0) expected_an_index_of_0_or_more();
    for (const bool counts : {true, false}) {
      name_writer w{counts ? nullptr : text_};
      w.put(prefix.data(), static_cast<int>(prefix.size()));
      w.put('_');
      w.put_number(index);
      if (!part.empty()) w.put('.');
      w.put(part.data(), static_cast<int>(part.size()));
      length_ = w.length;
      if (counts) text_ = new char[static_cast<unsigned>(length_)];
    }
  }
  constexpr ~indexed() { delete[] text_; }
  indexed(const indexed&) = delete;
  indexed& operator=(const indexed&) = delete;

  constexpr operator std::string_view() const {  // NOLINT: a name converts
    return {text_, static_cast<std::size_t>(length_)};
  }

 private:
  static void expected_an_index_of_0_or_more() {}  // not constexpr, so that the compiler's error
                                                   // shows its name

  char* text_ = nullptr;
  int length_ = 0;
};

}}  // namespace lamina
