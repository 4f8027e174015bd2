// SPDX-License-Identifier: Apache-2.0
// lamina/operators/control/array/common_slot_sequences.hpp - stores the LoD (the offsets of
// sequences) of a tensor with its slot in an array of tensors. All engines share this code.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/engine/common/dynamic_rows.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace engine {

/// Stores the sequence offsets of `domain` with slot i. For each LoD level, the outermost first, it
/// stores the number of sequences, then the begin of each sequence, and the end of the last one.
template <class Call, class Array>
void keep_sequences(const Call& c, int domain, Array& to, int i) {
  const int levels = levels_of(c, domain);
  if (levels == 0) return;
  int numbers = 0;
  for (int l = 0; l < levels; ++l) numbers += c.sequences(domain_above(c, domain, l)).count + 2;
  int* at = to.write_offsets(i, numbers - 1);
  for (int l = levels; l-- > 0;) {
    const sequence_rows all = c.sequences(domain_above(c, domain, l));
    *at++ = all.count;
    for (int s = 0; s <= all.count; ++s) *at++ = all.count == 0 ? 0 : all.begin(s);
  }
}

/// Gives `domain` the number of rows and the sequences that are stored with slot i.
template <class Call, class Array>
void take_sequences(const Call& c, int domain, const Array& from, int i) {
  const int levels = c.makes_rows() ? levels_of(c, domain) : 0;
  if (levels == 0 || from.sequences(i) == 0) return c.set_rows(domain, from.rows(i));
  const int* at = from.offsets(i);
  c.set_rows(domain_above(c, domain, levels), *at);
  for (int l = levels; l-- > 0;) {
    const int n = *at++;
    make_sequences(c, domain_above(c, domain, l), n, [&](int s) { return at[s + 1] - at[s]; });
    at += n + 1;
  }
}

}}}  // namespace lamina::engine
