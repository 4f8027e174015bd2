// SPDX-License-Identifier: Apache-2.0
// The products of benchmarks/workloads/sgemm.cpp in OpenBLAS, oneDNN or libxsmm.
//
//   sgemm openblas|onednn|libxsmm LIBRARY FOLDER THREADS
//
// openblas and onednn are loaded at run time, and their C functions are declared here, so their
// packages with headers are not needed. libxsmm is a static library; it is available only if it was
// installed when this program was built.
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../job.hpp"
#include "../npy.hpp"
#include <dlfcn.h>
#if defined(WITH_LIBXSMM)
#include <libxsmm.h>
#endif

namespace {

/// c[m][n] = a[m][k] * b[k][n], row-major; with `turned`, b is [n][k].
using product =
    std::function<void(int m, int n, int k, const float* a, const float* b, bool turned, float* c)>;

#if defined(WITH_LIBXSMM)
/// Makes one kernel of libxsmm for the whole product. (The sgemm of libxsmm calls another library
/// for all but small products.) libxsmm expects column-major matrices, so each row-major matrix is
/// passed as its transpose.
product libxsmm_product() {
  libxsmm_init();
  return [](int m, int n, int k, const float* a, const float* b, bool turned, float* c) {
    if (turned) throw std::runtime_error("no kernel for a transposed operand");
    const float one = 1, zero = 0;
    const int flags = LIBXSMM_GEMM_FLAG_NONE;
    const libxsmm_smmfunction f =
        libxsmm_smmdispatch(n, m, k, &n, &k, &n, &one, &zero, &flags, nullptr);
    if (f == nullptr) throw std::runtime_error("no kernel for this shape");
    f(b, a, c);
  };
}
#else
product libxsmm_product() { throw std::runtime_error("built without libxsmm"); }
#endif

product open(const std::string& kind, const char* library) {
  if (kind == "libxsmm") return libxsmm_product();
  void* const lib = dlopen(library, RTLD_NOW);
  if (lib == nullptr) throw std::runtime_error(dlerror());
  const auto function = [&](const char* name) {
    void* const found = dlsym(lib, name);
    if (found == nullptr) throw std::runtime_error(dlerror());
    return found;
  };
  if (kind == "openblas") {
    const auto f =
        reinterpret_cast<void (*)(int, int, int, int, int, int, float, const float*, int,
                                  const float*, int, float, float*, int)>(function("cblas_sgemm"));
    return [f](int m, int n, int k, const float* a, const float* b, bool turned, float* c) {
      constexpr int row_major = 101, plain = 111, transposed = 112;
      f(row_major, plain, turned ? transposed : plain, m, n, k, 1, a, k, b, turned ? k : n, 0, c,
        n);
    };
  }
  using size = std::int64_t;
  const auto f =
      reinterpret_cast<int (*)(char, char, size, size, size, float, const float*, size,
                               const float*, size, float, float*, size)>(function("dnnl_sgemm"));
  return [f](int m, int n, int k, const float* a, const float* b, bool turned, float* c) {
    f('N', turned ? 'T' : 'N', m, n, k, 1, a, k, b, turned ? k : n, 0, c, n);
  };
}

workload::maker multiply(const product& f, bool is_gradient) {
  return [&f, is_gradient](const std::filesystem::path& folder, int) {
    auto a = std::make_shared<peer::array>(peer::read_npy(folder / "left.npy"));
    auto w = std::make_shared<peer::array>(peer::read_npy(folder / "weight.npy"));
    const int m = static_cast<int>(a->shape[0]), k = static_cast<int>(a->shape[1]);
    const int n = static_cast<int>(w->shape[is_gradient ? 0 : 1]);
    auto c = std::make_shared<std::vector<float>>(static_cast<std::size_t>(m) *
                                                  static_cast<std::size_t>(n));
    const auto run = [=, &f](int times) {
      for (int t = 0; t < times; ++t)
        f(m, n, k, a->floats.data(), w->floats.data(), is_gradient, c->data());
    };
    return workload::job{[=] {
                           run(1);
                           std::vector<float> some;
                           for (std::size_t i = 0; i < c->size(); i += 97) some.push_back((*c)[i]);
                           return some;
                         },
                         run};
  };
}

}  // namespace

int main(int count, char** argument) try {
  if (count != 5) return 2;
  const product f = open(argument[1], argument[2]);
  std::map<std::string, workload::maker> makers{{"Gdx20x256x1024", multiply(f, true)}};
  for (const char* name :
       {"G64x784x128", "G64x512x512", "G20x256x1024", "G1x512x512", "G1024x1024x1024"})
    makers[name] = multiply(f, false);
  return workload::serve(argument[3], std::stoi(argument[4]), makers);
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
