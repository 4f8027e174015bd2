// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/launch/kubelet_word.hpp - a word as the kubelet passes it on.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <string_view>

namespace lamina::inline LAMINA_ABI::distributed {

/// A word for the command, the arguments or a variable of a container. The kubelet replaces
/// `$(NAME)` by the value of a variable and `$$` by `$`, and it changes a byte above 127 that
/// follows a single `$`; so each `$` is written as `$$`. Nothing replaces what comes from a secret
/// or a ConfigMap.
LAMINA_COLD inline std::string kubelet_word(std::string_view word) {
  std::string written;
  for (const char c : word) written += c == '$' ? std::string("$$") : std::string(1, c);
  return written;
}

}  // namespace lamina::inline LAMINA_ABI::distributed
