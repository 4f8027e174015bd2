// SPDX-License-Identifier: Apache-2.0
// import lamina; - the headers of lamina as a C++20 module, for clang 19 or newer: lamina.hpp, data
// sets, metrics, checkpoints, and files of parameters.
//
// The headers of lamina and of xsimd stand behind `export`: a template finds functions of its
// arguments' namespaces only where a file can see them. All declarations belong to the global
// module (extern "C++"), so their names in object files are those of programs that include headers.
module;

// Intrinsics are `static`, and a module does not offer what is static to the files that import it.
// Without this word they are inline functions.
#if defined(__x86_64__) || defined(__i386__)
#include <mm_malloc.h>
#define static
#include <immintrin.h>
#undef static
#elif defined(__ARM_NEON)
#define static
#include <arm_neon.h>
#undef static
#endif

// Each header of another library that one of lamina's includes: behind `export`, it would be part
// of the module.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cmath>
#include <compare>
#include <complex>
#include <concepts>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <numbers>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <ranges>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
#if defined(__unix__) || defined(__APPLE__)
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/vfs.h>
#endif
#if !defined(LAMINA_HAS_ZLIB) || LAMINA_HAS_ZLIB
#if __has_include(<zlib.h>)
#include <zlib.h>
#endif
#endif
#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

export module lamina;

#pragma clang diagnostic ignored "-Winclude-angled-in-module-purview"
export extern "C++" {
#include <xsimd/xsimd.hpp>

#include <lamina/dataset/dataset.hpp>
#include <lamina/inspect/plan_text.hpp>
#include <lamina/inspect/program_text.hpp>
#include <lamina/inspect/summary.hpp>
#include <lamina/io/npz.hpp>
#include <lamina/io/parameter_tar.hpp>
#if __has_include(<nlohmann/json.hpp>)
#include <lamina/io/safetensors.hpp>
#endif
#include <lamina/lamina.hpp>
#include <lamina/metric/metric.hpp>
#include <lamina/train/fit.hpp>
}
