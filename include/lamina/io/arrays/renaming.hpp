// SPDX-License-Identifier: Apache-2.0
// lamina/io/arrays/renaming.hpp - maps the names of values in a file to the names of parameters.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>

namespace lamina { inline namespace LAMINA_ABI {

/// A function from the name of a value in a file to the name of a parameter; a value whose new name
/// is empty is left out. It is made from a list of pairs, a std::map or a function, and `a | b`
/// applies b to the result of a:
///   renaming{{"embed.weight", "words.w_0"}}    // other names stay as they are
///   rename_prefix("model.", "") | rename_suffix(".weight", ".w_0")
///   [](std::string_view name) { return "net_" + std::string(name); }
class renaming {
 public:
  /// Keeps every name.
  renaming() = default;
  /// Replaces the first name of each pair by the second, and keeps all other names.
  renaming(std::initializer_list<std::pair<const std::string, std::string>> names)
      : renaming(std::map<std::string, std::string>(names)) {}
  template <std::same_as<std::map<std::string, std::string>> Map>
  renaming(Map names)  // NOLINT: a map converts
      : change_([all = std::move(names)](std::string_view name) {
          const auto found = all.find(std::string(name));
          return found == all.end() ? std::string(name) : found->second;
        }) {}
  template <class Function>
  requires requires(const Function& f, std::string_view name) {
    { f(name) } -> std::convertible_to<std::string>;
  }
  renaming(Function f) : change_(std::move(f)) {}  // NOLINT: a function converts

  /// Returns the new name; an empty name stays empty.
  std::string operator()(std::string_view name) const {
    return name.empty() || !change_ ? std::string(name) : std::string(change_(name));
  }

 private:
  std::function<std::string(std::string_view)> change_{};
};

/// Returns the renaming that applies `first`, then `second`.
inline renaming operator|(renaming first, renaming second) {
  return
      [a = std::move(first), b = std::move(second)](std::string_view name) { return b(a(name)); };
}

/// Replaces the beginning of each name that begins with `from`; other names stay as they are.
inline renaming rename_prefix(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](std::string_view name) {
    return name.starts_with(from) ? to + std::string(name.substr(from.size())) : std::string(name);
  };
}
/// Replaces the end of each name that ends with `from`; other names stay as they are.
inline renaming rename_suffix(std::string from, std::string to) {
  return [from = std::move(from), to = std::move(to)](std::string_view name) {
    return name.ends_with(from) ? std::string(name.substr(0, name.size() - from.size())) + to
                                : std::string(name);
  };
}

/// The names of PyTorch's modules as those of lamina's layers with the same name: NAME.weight
/// becomes NAME.w_0, NAME.bias becomes NAME.b_0, and the moving statistics of a batch norm become
/// NAME.w_1 and NAME.w_2. Counters (num_batches_tracked) are left out. The prefixes "module." of
/// DataParallel and "_orig_mod." of torch.compile are removed.
inline renaming torch_names() {
  return [](std::string_view name) {
    constexpr std::string_view prefixes[] = {"module.", "_orig_mod."};
    constexpr std::pair<std::string_view, std::string_view> suffixes[] = {{".weight", ".w_0"},
                                                                          {".bias", ".b_0"},
                                                                          {".running_mean", ".w_1"},
                                                                          {".running_var", ".w_2"}};
    for (bool again = true; again;) {
      again = false;
      for (const std::string_view prefix : prefixes)
        if (name.starts_with(prefix)) name.remove_prefix(prefix.size()), again = true;
    }
    if (name.ends_with(".num_batches_tracked")) return std::string();
    for (const auto& [from, to] : suffixes)
      if (name.ends_with(from))
        return std::string(name.substr(0, name.size() - from.size())) + std::string(to);
    return std::string(name);
  };
}

}}  // namespace lamina
