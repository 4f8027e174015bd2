// SPDX-License-Identifier: Apache-2.0
// lamina/core/rows.hpp - the meaning of a variable's leading dimension.
#pragma once

#include <lamina/core/config.hpp>

#include <cstdint>

#include <lamina/core/compile_time/fixed_string.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// How the rows of a domain are related to the rows of its parent.
enum class domain_kind : std::uint8_t {
  once,      // no rows
  batch,     // the samples
  sequence,  // one sequence per row of the parent; each element of it is a row
  subset,    // the rows of the parent for which a condition holds
  step       // the rows of the parent whose sequences have an element at a time step
};

/// The domain of variables whose whole shape is known during compilation, such as parameters and
/// scalars.
struct once {
  static constexpr domain_kind kind = domain_kind::once;
  static constexpr int domain = 0;
  static constexpr int lod_level = 0;
};

/// The domain with one row per sample. The number of samples is known when a mini-batch is fed.
struct batch {
  static constexpr domain_kind kind = domain_kind::batch;
  static constexpr int domain = 1;
  static constexpr int lod_level = 0;
};

/// The domain with one row per element of sequences, which a feed or an operator provides under
/// `Name`. Each row of `Parent` has one sequence: `tokens<"words">` are the words of sentences, one
/// sentence per sample. `tokens<"words", tokens<"sentences">>` are the words of the sentences of
/// documents, one document per sample. rows_of<R>(builder) returns the number of domain R in a
/// program. `Name` is given explicitly instead of deduced, because nvcc cannot deduce a template
/// argument of class type.
template <fixed_string Name, class Parent = batch>
struct tokens {
  using parent = Parent;
  static constexpr domain_kind kind = domain_kind::sequence;
  static constexpr auto name = Name;
  static constexpr int lod_level = Parent::lod_level + 1;
};

/// The domain of the rows of R that the condition of an if_else selects for one of its branches.
/// `Key` identifies the branch, so a layer that mixes the rows of two branches does not compile.
template <class R, class Key>
struct chosen {
  using parent = R;
  using key = Key;
  static constexpr domain_kind kind = domain_kind::subset;
  static constexpr int lod_level = 0;
};

/// The domain of the rows at one time step of sequences R: one row per sequence that is long
/// enough. `Key` identifies the loop over the steps.
template <class R, class Key>
struct at_step {
  using parent = typename R::parent;
  using key = Key;
  static constexpr domain_kind kind = domain_kind::step;
  static constexpr int lod_level = 0;
};

/// A variable whose address identifies the type R, because recording compares values and not types.
template <class R>
inline constexpr char domain_mark = 0;

/// Whether R names a row domain.
template <class R>
concept row_domain = requires {
  {R::kind};
  {R::lod_level + 0};
};

/// Whether variables of this domain have a leading dimension whose size is known at run time.
template <class R>
inline constexpr bool has_rows = R::kind != domain_kind::once;

/// Whether R is a domain of sequences: each of its rows belongs to a row of `R::parent`.
template <class R>
inline constexpr bool is_tokens = R::kind == domain_kind::sequence;

}}  // namespace lamina
