// SPDX-License-Identifier: Apache-2.0
// lamina/reader/reader.hpp - readers and all their decorators.
#pragma once

#include <lamina/core/config.hpp>

#include <lamina/reader/adaptor.hpp>
#include <lamina/reader/batch.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/reader/buffered.hpp>
#include <lamina/reader/cache.hpp>
#include <lamina/reader/chain.hpp>
#include <lamina/reader/compose.hpp>
#include <lamina/reader/cursor.hpp>
#include <lamina/reader/first_n.hpp>
#include <lamina/reader/generator.hpp>
#include <lamina/reader/map.hpp>
#include <lamina/reader/random.hpp>
#include <lamina/reader/shard.hpp>
#include <lamina/reader/shuffle.hpp>
#include <lamina/reader/skip_n.hpp>
#include <lamina/reader/split.hpp>
#include <lamina/reader/xmap.hpp>
