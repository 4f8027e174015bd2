// SPDX-License-Identifier: Apache-2.0
// lamina/layers/record_rows.hpp - the types of rows that a mask selects, for programs from files.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/core/compile_time/fixed_string.hpp>
#include <lamina/core/rows.hpp>
#include <lamina/layers/layer_helper.hpp>

namespace lamina { inline namespace LAMINA_ABI {

/// A name for rows that a mask selects: `chosen<batch, row_key<"positive">>`.
template <fixed_string Name>
struct row_key {
  static constexpr auto name = Name;
};

namespace layer {

/// Declares the rows R = chosen<Of, row_key<"name">>, so that results of later operators may have
/// these rows; record<split_lod_tensor> makes them. Programs that are written by hand do not need
/// it, because layer::if_else declares its rows.
template <row_domain R>
constexpr void open_rows(const block& main) {
  program_builder& b = *main.builder;
  b.open_domain(&domain_mark<R>, R::key::name.view(), rows_of<typename R::parent>(b), R::kind, -1);
}

}  // namespace layer
}}  // namespace lamina
