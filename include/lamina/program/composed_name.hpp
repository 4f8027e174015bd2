// SPDX-License-Identifier: Apache-2.0
// lamina/program/composed_name.hpp - composes names of layers, for functions that record layers and
// are called several times.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <string_view>

#include <lamina/program/names.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// Composes a name from parts: "layer_3_ffn.w_0" from "layer_", 3 and "_ffn.w_0", or "res2b.w_0"
/// from "res2", "b" and ".w_0". Use it if `indexed` cannot make the name. The text lives until the
/// end of the statement that made it.
class composed_name {
 public:
  constexpr composed_name(std::string_view before, int number, std::string_view after) {
    make(before, {}, number, after);
  }
  constexpr composed_name(std::string_view before, std::string_view part, std::string_view after) {
    make(before, part, -1, after);
  }
  constexpr ~composed_name() { delete[] text_; }
  composed_name(const composed_name&) = delete;
  composed_name& operator=(const composed_name&) = delete;

  constexpr operator std::string_view() const {  // NOLINT: a name converts
    return {text_, static_cast<std::size_t>(length_)};
  }

 private:
  // A number below 0 is omitted: names are counted from 0.
  constexpr void make(std::string_view before, std::string_view part, int number,
                      std::string_view after) {
    for (const bool counts : {true, false}) {
      name_writer w{counts ? nullptr : text_};
      w.put(before.data(), static_cast<int>(before.size()));
      w.put(part.data(), static_cast<int>(part.size()));
      if (number >= 0) w.put_number(number);
      w.put(after.data(), static_cast<int>(after.size()));
      length_ = w.length;
      if (counts) text_ = new char[static_cast<unsigned>(length_) + 1];
    }
  }

  char* text_ = nullptr;
  int length_ = 0;
};

}}  // namespace lamina
