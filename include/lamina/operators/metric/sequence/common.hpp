// SPDX-License-Identifier: Apache-2.0
// lamina/operators/metric/sequence/common.hpp - the tag schemes that divide a sequence into chunks.
#pragma once

#include <lamina/core/config.hpp>

#include <string_view>

#include <lamina/engine/common/call_error.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// A tag scheme: the number of tags and two bit masks. A tag that is in `begins` always begins a
/// chunk; a tag that is in `ends` always ends a chunk.
struct tag_scheme {
  int tags;
  unsigned begins, ends;
};

LAMINA_API_COLD tag_scheme tag_scheme_of(const operator_call& c);

#if LAMINA_DEFINES

tag_scheme tag_scheme_of(const operator_call& c) {
  const std::string_view name = text_of(c, 1);
  if (name == "IOB") return {2, 1, 0};
  if (name == "IOE") return {2, 0, 2};
  if (name == "IOBES") return {4, 9, 12};
  if (name == "plain") return {1, 0, 0};
  fail(c, {"expected the chunk_scheme IOB, IOE, IOBES or plain, found ", name});
}

#endif  // LAMINA_DEFINES

}}}  // namespace lamina::engine
