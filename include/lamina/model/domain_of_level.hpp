// SPDX-License-Identifier: Apache-2.0
// lamina/model/domain_of_level.hpp - which rows a level of nested sequences has.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/program/block.hpp>

namespace lamina::inline LAMINA_ABI::detail {

/// The rows of level `level` of the sequences that rows `domain` form, counted from 0, the
/// outermost, or from -1, the innermost; -1 where there is no such level.
template <class Program>
constexpr int domain_of_level(const Program& p, int domain, int level) {
  int above = level < 0 ? -1 - level : lod_level_of(p, domain) - 1 - level;
  if (above < 0 || above >= lod_level_of(p, domain)) return -1;
  for (; above > 0; --above) domain = p.domains[domain].parent;
  return domain;
}

}  // namespace lamina::inline LAMINA_ABI::detail
