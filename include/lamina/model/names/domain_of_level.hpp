// SPDX-License-Identifier: Apache-2.0
// lamina/model/names/domain_of_level.hpp - the row domain of one level of nested sequences.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/block.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Returns the row domain of level `level` of the sequences to which rows of `domain` belong. Level
/// 0 is the outermost level, and -1 the innermost. Returns -1 if there is no such level.
template <class Program>
constexpr int domain_of_level(const Program& p, int domain, int level) {
  int above = level < 0 ? -1 - level : lod_level_of(p, domain) - 1 - level;
  if (above < 0 || above >= lod_level_of(p, domain)) return -1;
  for (; above > 0; --above) domain = p.domains[domain].parent;
  return domain;
}

}}}  // namespace lamina::detail
