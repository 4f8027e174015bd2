// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/sync/texts_of_ranks.hpp - exchanges a text of each process.
#pragma once

#include <lamina/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <lamina/distributed/process_group.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// Returns the texts of all ranks of a group, in the order of the ranks. All ranks must call it.
LAMINA_COLD inline std::vector<std::string> texts_of_ranks(process_group& group,
                                                           const std::string& mine) {
  const std::size_t ranks = static_cast<std::size_t>(group.size());
  const std::uint64_t bytes = mine.size();
  std::vector<std::uint64_t> lengths(ranks);
  group.gather(&bytes, sizeof bytes, lengths.data());
  const std::size_t longest =
      static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::string padded = mine, joined(longest * ranks, ' ');
  padded.resize(longest);
  group.gather(padded.data(), longest, joined.data());
  std::vector<std::string> all;
  for (std::size_t r = 0; r < ranks; ++r)
    all.push_back(joined.substr(r * longest, static_cast<std::size_t>(lengths[r])));
  return all;
}

}}}  // namespace lamina::distributed
