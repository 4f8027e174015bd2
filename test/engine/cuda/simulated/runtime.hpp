// SPDX-License-Identifier: Apache-2.0
// test/engine/cuda/simulated/runtime.hpp - what a CUDA runtime and its devices do, on the host:
// streams that work when they like, memory that only the devices reach, captured graphs.
//
// It is stricter than a driver: what goes well by chance there is told here
// (`state::broken_rules`).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace test::simulated {

/// In which order streams do what they were asked for: as late as something waits for it, at once,
/// or now and then.
enum class schedule { late, early, random };

/// A node of a graph or a part of the work of a stream.
using step = std::function<void()>;
/// Nodes one after the other: what one stream has captured.
struct graph {
  std::vector<step> steps;
};
struct executable {
  graph recorded;
};
struct stream {
  int device;
  std::deque<step> work;
  graph* captured = nullptr;
  bool broken = false;
};
struct allocation {
  std::size_t bytes, mapped;
  char* pages;
  int device;
};

/// All devices of the machine, and what is asked of them.
struct state {
  // What a test sets.
  int devices = 1, processors = 2;
  std::size_t memory = std::size_t{1} << 30;
  schedule order = schedule::late;
  std::mt19937 random{5};
  /// The number of the call that fails; none below 0.
  int failing = -1;
  // What it sees.
  int calls = 0;
  std::vector<std::string> names;  // of the calls
  std::string failed, broken_rules;
  std::size_t in_use = 0;
  int graphs_launched = 0;

  std::recursive_mutex lock;
  std::map<char*, allocation> at_devices;  // by where it begins
  std::map<const char*, std::size_t> pinned;
  std::set<stream*> streams;
  std::set<graph*> graphs;
  std::set<executable*> executables;
  int inside = 0;  // how many steps are being run, one in another

  void tell(const std::string& rule) {
    if (broken_rules.find(rule) == std::string::npos) broken_rules += rule + "\n";
  }
  /// Whether nothing is left of what was asked for.
  bool gave_all_back() const {
    return at_devices.empty() && pinned.empty() && streams.empty() && graphs.empty() &&
           executables.empty();
  }
};
inline state now;
inline thread_local int current_device = 0;

/// Everything as at first, but what is held stays so.
inline void begin_test(schedule order = schedule::late, unsigned seed = 5) {
  now.devices = 1, now.processors = 2, now.memory = std::size_t{1} << 30;
  now.order = order, now.random.seed(seed);
  now.failing = -1, now.calls = 0, now.failed = now.broken_rules = {};
  now.names.clear();
  now.graphs_launched = 0;
  unsetenv("LAMINA_CUDA_GRAPHS");
}

/// Memory of the devices, whose pages the host cannot touch while no device works.
inline void open_memory(bool opens) {
  if (opens ? now.inside++ != 0 : --now.inside != 0) return;
  for (const auto& [begin, a] : now.at_devices)
    mprotect(a.pages, a.mapped, opens ? PROT_READ | PROT_WRITE : PROT_NONE);
}
struct device_access {
  device_access() { open_memory(true); }
  ~device_access() { open_memory(false); }
  device_access(const device_access&) = delete;
};
/// The allocation that has these bytes; null where none has.
inline const allocation* find_memory(const void* p, std::size_t bytes) {
  auto found = now.at_devices.upper_bound(const_cast<char*>(static_cast<const char*>(p)));
  if (found == now.at_devices.begin()) return nullptr;
  --found;
  const char* const begin = found->first;
  const bool inside = static_cast<const char*>(p) + bytes <= begin + found->second.bytes;
  return inside ? &found->second : nullptr;
}
inline bool is_pinned(const void* p, std::size_t bytes) {
  auto found = now.pinned.upper_bound(static_cast<const char*>(p));
  if (found == now.pinned.begin()) return false;
  --found;
  return static_cast<const char*>(p) + bytes <= found->first + found->second;
}
/// Addresses of the devices: all allocations, those that are gone too, lie in one range.
inline constexpr std::size_t address_range = std::size_t{1} << 36;
inline char* address_begin() {
  static char* const begin = static_cast<char*>(
      mmap(nullptr, address_range, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  return begin;
}
inline bool is_device_address(const void* p) {
  return p >= address_begin() && p < address_begin() + address_range;
}
/// New memory, which ends where its last page does: null where there is not so much.
inline void* allocate(std::size_t bytes, int device) {
  static std::size_t used = 0;
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t size = (bytes + 255) / 256 * 256, mapped = (size + page - 1) / page * page;
  if (bytes > now.memory - now.in_use || used + mapped + page > address_range) return nullptr;
  char* const pages = address_begin() + used;
  used += mapped + page;
  char* const begin = pages + (mapped - size);
  mprotect(pages, mapped, PROT_READ | PROT_WRITE);
  std::memset(pages, 0xff, mapped);
  if (now.inside == 0) mprotect(pages, mapped, PROT_NONE);
  now.at_devices[begin] = {bytes, mapped, pages, device};
  now.in_use += bytes;
  return begin;
}
inline void release(void* p) {
  const auto found = now.at_devices.find(static_cast<char*>(p));
  if (found == now.at_devices.end())
    return now.tell("memory is freed that is none of the device's");
  now.in_use -= found->second.bytes;
  madvise(found->second.pages, found->second.mapped, MADV_DONTNEED);
  mprotect(found->second.pages, found->second.mapped, PROT_NONE);
  now.at_devices.erase(found);
}

/// The arrays that a kernel is told of, wherever its arguments name them.
template <class Arguments>
std::vector<const void*> addresses_in(const Arguments& a) {
  std::vector<const void*> all;
  if constexpr (requires { a.of[0]; })
    for (const void* const p : a.of) all.push_back(p);
  if constexpr (requires { a.in[0].data, a.out[0].data; }) {
    for (const auto& x : a.in) all.push_back(x.data);
    for (const auto& x : a.out) all.push_back(x.data);
  }
  return all;
}
/// They are the device's, or pinned; the address behind the last element is one, too.
inline void check_addresses(const std::vector<const void*>& all, const char* kernel) {
  for (const void* const p : all) {
    if (p == nullptr || find_memory(p, 0) != nullptr || is_pinned(p, 0)) continue;
    now.tell(std::string(is_device_address(p) ? "memory that was freed" : "memory of the host") +
             " is given to " + kernel);
  }
}

inline void run_graph(const graph& g) {
  for (const step& s : g.steps) s();
}
/// Does the next work of a stream; false where there is none.
inline bool work_once(stream& s) {
  if (s.work.empty()) return false;
  const step next = std::move(s.work.front());
  s.work.pop_front();
  const device_access open;
  next();
  return true;
}
/// Does all that a stream was asked for.
inline void finish(stream& s) {
  const device_access open;
  while (work_once(s)) {
  }
}
inline void finish_device(int device) {
  for (stream* const s : now.streams)
    if (s->device == device) finish(*s);
}
/// Something was asked for: streams work as the order says.
inline void go_on() {
  if (now.order == schedule::late || now.streams.empty()) return;
  const device_access open;
  if (now.order == schedule::random) {
    for (int n = static_cast<int>(now.random() % 8); n > 0; --n) {
      auto s = now.streams.begin();
      std::advance(s, now.random() % now.streams.size());
      work_once(**s);
    }
    return;
  }
  for (bool any = true; any;) {
    any = false;
    for (stream* const s : now.streams) any = work_once(*s) || any;
  }
}
/// Asks a stream for some work, or captures it.
inline void add(stream& s, step work) {
  if (s.captured != nullptr) {
    s.captured->steps.push_back(std::move(work));
    return;
  }
  s.work.push_back(std::move(work));
  go_on();
}

}  // namespace test::simulated
