// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/common.hpp - how tags cut a sequence into chunks.
#pragma once

#include <string_view>

#include <lamina/engine/common/call_error.hpp>

namespace lamina::engine {

/// A scheme of tags within a chunk: how many there are, and, a bit each, which ones begin a chunk
/// whatever stands before it, and which ones end one whatever follows.
struct tag_scheme {
  int tags;
  unsigned begins, ends;
};

LAMINA_COLD inline tag_scheme tag_scheme_of(const operator_call& c) {
  const std::string_view name = text_of(c, 1);
  if (name == "IOB") return {2, 1, 0};
  if (name == "IOE") return {2, 0, 2};
  if (name == "IOBES") return {4, 9, 12};
  if (name == "plain") return {1, 0, 0};
  fail(c, {"expected the chunk_scheme IOB, IOE, IOBES or plain, found ", name});
}

}  // namespace lamina::engine
