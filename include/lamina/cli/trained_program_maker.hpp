// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trained_program_maker.hpp - selects the CPU or the device on which a program runs.
#pragma once

#include <lamina/core/config.hpp>

#include <memory>
#include <utility>

#include <lamina/cli/trained_program.hpp>
#include <lamina/cli/trained_program_of.hpp>
#include <lamina/core/messages/error.hpp>
#include <lamina/core/place.hpp>
#if defined(LAMINA_CUDA)
#include <lamina/cli/trained_at_device.hpp>
#include <lamina/engine/cuda/device/place_backend.hpp>
#endif

namespace lamina { inline namespace LAMINA_ABI { namespace detail {

/// Makes the trained_program of a program. `Places` are the places for which the program is
/// compiled.
template <class Places>
struct trained_program_maker;

template <>
struct trained_program_maker<host_places> {
  template <class P, class Opt, class Train, class Test>
  LAMINA_COLD static std::unique_ptr<trained_program> make(P program, Opt opt,
                                                           std::shared_ptr<Train> train,
                                                           std::shared_ptr<Test> test,
                                                           const trained_program_options& options) {
    if (options.use_gpu)
      throw error(
          "lamina: --use_gpu: expected a program that was compiled for a device, found one for the "
          "CPU alone: include <lamina/lamina.cuh> first, and compile its kernels by "
          "lamina_cuda(program) of CMake or by clang++ (docs/cuda.md)");
    return std::make_unique<trained_program_of<P, Opt, Train, Test, trained_at_host>>(
        program, std::move(opt), std::move(train), std::move(test), options, trained_at_host{});
  }
};

#if defined(LAMINA_CUDA)
template <>
struct trained_program_maker<all_places> {
  template <class P, class Opt, class Train, class Test>
  static std::unique_ptr<trained_program> make(P program, Opt opt, std::shared_ptr<Train> train,
                                               std::shared_ptr<Test> test,
                                               const trained_program_options& options) {
    using device = trained_at_device<engine::cuda::place_backend<cuda::float32_type>>;
    if (!options.use_gpu)
      return trained_program_maker<host_places>::make(program, std::move(opt), std::move(train),
                                                      std::move(test), options);
    return std::make_unique<trained_program_of<P, Opt, Train, Test, device>>(
        program, std::move(opt), std::move(train), std::move(test), options, device{options.gpu});
  }
};
#endif

}}}  // namespace lamina::detail
