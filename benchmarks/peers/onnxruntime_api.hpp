// SPDX-License-Identifier: Apache-2.0
// lamina/benchmarks/peers/onnxruntime_api.hpp - ONNX Runtime by its C interface. The Python package
// has the shared library, but no header. The functions of the library are in a table whose order
// never changes, so this header calls the eight functions that it needs by their positions in the
// table.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <dlfcn.h>

namespace peer {

using handle = void*;

class runtime {
 public:
  explicit runtime(const char* library) {
    struct base {
      const handle* (*get_api)(std::uint32_t);
      const char* (*get_version)();
    };
    handle const lib = dlopen(library, RTLD_NOW);
    if (lib == nullptr) throw std::runtime_error(dlerror());
    const auto get = reinterpret_cast<const base* (*)()>(dlsym(lib, "OrtGetApiBase"));
    if (get == nullptr) throw std::runtime_error("no OrtGetApiBase");
    api_ = get()->get_api(1);
    call<3>(3 /* errors alone are logged */, "benchmark", &environment_);
    call<69>(1 /* arena */, 0, &memory_);
  }

  handle session(const std::string& model, int threads) const {
    handle options = nullptr, made = nullptr;
    call<10>(&options);
    call<24>(options, threads);
    call<7>(environment_, model.c_str(), options, &made);
    return made;
  }
  template <class T>
  handle tensor(std::vector<T>& data, const std::vector<std::int64_t>& shape) const {
    handle made = nullptr;
    constexpr int type = std::is_same_v<T, float> ? 1 /* float */ : 7 /* int64 */;
    call<49>(memory_, static_cast<void*>(data.data()), data.size() * sizeof(T), shape.data(),
             shape.size(), type, &made);
    return made;
  }
  void run(handle session, const std::vector<const char*>& input, const std::vector<handle>& in,
           const std::vector<const char*>& output, std::vector<handle>& out) const {
    call<9>(session, handle(nullptr), input.data(), in.data(), in.size(), output.data(), out.size(),
            out.data());
  }

 private:
  template <int Place, class... A>
  void call(A... a) const {
    handle const failure = reinterpret_cast<handle (*)(A...)>(api_[Place])(a...);
    if (failure == nullptr) return;
    throw std::runtime_error(reinterpret_cast<const char* (*)(handle)>(api_[2])(failure));
  }

  const handle* api_ = nullptr;
  handle environment_ = nullptr, memory_ = nullptr;
};

}  // namespace peer
