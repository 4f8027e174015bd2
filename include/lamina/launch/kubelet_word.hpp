// SPDX-License-Identifier: Apache-2.0
// lamina/launch/kubelet_word.hpp - escapes a word that the kubelet expands.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Escapes a word for the command, the arguments or a variable of a container. The kubelet replaces
/// `$(NAME)` by the value of a variable and `$$` by `$`, and it corrupts a byte above 127 that
/// follows a single `$`; so each `$` is written as `$$`. Values from a secret or a ConfigMap are
/// not expanded.
LAMINA_COLD inline std::string kubelet_word(std::string_view word) {
  std::string written;
  for (const char c : word) written += c == '$' ? std::string("$$") : std::string(1, c);
  return written;
}

}}}  // namespace lamina::distributed
