// SPDX-License-Identifier: Apache-2.0
// lamina/io/compiled/model_writer.hpp - what model_files.hpp calls: functions that see no type of a
// program.
#pragma once

#include <lamina/core/config.hpp>

#include <string>
#include <vector>

#include <lamina/core/file.hpp>
#include <lamina/io/compiled/compiled_io.hpp>
#include <lamina/io/inference_files.hpp>
#include <lamina/io/model_values.hpp>

namespace lamina::inline LAMINA_ABI::detail::inline LAMINA_IO_ABI {

void write_inference_model(const file_path& directory, const model_values& from,
                           const std::vector<std::string>& targets, const inference_files& files);
void write_persistables(const file_path& directory, const model_values& from,
                        const std::string& filename);
void read_persistables(const file_path& directory, const model_setter& to,
                       const std::string& filename);

}  // namespace lamina::inline LAMINA_ABI::detail::inline LAMINA_IO_ABI
