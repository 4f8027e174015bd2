// SPDX-License-Identifier: Apache-2.0
// lamina/distributed/servers/server_packet.hpp - packets of trainers and parameter servers.
#pragma once

#include <lamina/core/config.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/distributed/packet.hpp>
#include <lamina/distributed/servers/server_shards.hpp>
#include <lamina/train/parameter_sync.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace distributed {

/// The request or contents of a packet.
enum class packet_kind : std::int32_t {
  gradients,  // the gradients of a part of a mini-batch; the answer has the new parameters
  totals,     // as gradients, but the answer has the sums of the gradients
  state,      // requests the accumulators
  pause,      // the trainer waits for all others; the answer has parameters and accumulators
  leave,      // the training has ended; rank 0 adds all parameters
  scales,     // follows totals: the factors by which rows of sharded tables are updated
  rows,       // requests rows of sharded tables; the answer has them
  arrays,     // requests all rows of arrays, which rank 0 writes to a file
  answer
};

/// The first 64 bytes of a packet. `floats` floats follow, a multiple of 16, and then other bytes.
struct packet_head {
  packet_kind kind = packet_kind::answer;
  std::int32_t has = 0;       // gradients: the part has samples; leave: the parameters follow
  std::int32_t weighted = 0;  // gradients: they are already multiplied by their weights
  std::int32_t scalars = 0;   // the number of arguments of the update
  double weight = 1;          // the weight of the part
  double rate_factor = 1;
  std::int64_t steps = 0;  // the number of updates of the server so far
  std::uint64_t floats = 0;
  std::uint64_t reserved[2] = {};
};
static_assert(sizeof(packet_head) == 64);

/// Begins a packet with uninitialised floats.
LAMINA_COLD inline std::shared_ptr<packet> new_packet(const packet_head& head) {
  const auto made = std::make_shared<packet>();
  made->resize(sizeof head + head.floats * sizeof(float));
  std::memcpy(made->data(), &head, sizeof head);
  return made;
}
inline packet_head head_of(const packet& l) { return packet_reader(l).read<packet_head>(); }
/// Returns the floats of a packet.
inline float* floats_of(packet& l) {
  return reinterpret_cast<float*>(l.data() + sizeof(packet_head));
}
inline const float* floats_of(const packet& l) {
  return reinterpret_cast<const float*>(l.data() + sizeof(packet_head));
}
/// Returns a reader at the bytes after the floats. Throws lamina::error unless the packet has
/// `floats` floats.
LAMINA_COLD inline packet_reader behind_floats(const packet& l, std::size_t floats) {
  packet_reader reader(l);
  const std::size_t found = reader.read<packet_head>().floats;
  if (found != floats)
    throw error(text() << "lamina: distributed: expected a message of " << floats
                       << " numbers, found " << found);
  reader.take(floats * sizeof(float));
  return reader;
}

/// Returns the weight of a part of a mini-batch.
inline double weight_at(const part_weights& weights, std::size_t part, bool is_double) {
  const std::byte* const at = static_cast<const std::byte*>(weights.first) + part * weights.stride;
  double wide = 0;
  float narrow = 0;
  if (is_double)
    std::memcpy(&wide, at, sizeof wide);
  else
    std::memcpy(&narrow, at, sizeof narrow);
  return is_double ? wide : static_cast<double>(narrow);
}

/// Copies the ranges of a shard from arrays, which are numbered by parameter; copy_to copies them
/// back.
inline void copy_from(const std::vector<server_shards::range>& shard, float* const* arrays,
                      float* to) {
  for (const server_shards::range& a : shard) {
    std::memcpy(to, arrays[a.parameter] + a.first, a.size() * sizeof(float));
    to += a.size();
  }
}
inline void copy_to(const std::vector<server_shards::range>& shard, float* const* arrays,
                    const float* from) {
  for (const server_shards::range& a : shard) {
    std::memcpy(arrays[a.parameter] + a.first, from, a.size() * sizeof(float));
    from += a.size();
  }
}

}}}  // namespace lamina::distributed
