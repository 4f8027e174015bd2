// SPDX-License-Identifier: Apache-2.0
// What each fuzz target does with one input.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <lamina/core/messages/error.hpp>

namespace lamina { inline namespace LAMINA_ABI {
struct program_message;
}}  // namespace lamina

namespace fuzz {

// One a reader.
void json(std::string_view bytes);
void proto(std::string_view bytes);
void parameters(std::string_view bytes);
void inference_model(std::string_view bytes);
void onnx(std::string_view bytes);
void npy(std::string_view bytes);
void npz(std::string_view bytes);
void safetensors(std::string_view bytes);
void tar(std::string_view bytes);

void recordio(std::string_view bytes);

// One per data set, of its archive without compression; that of flowers is of its MAT files.
void cifar(std::string_view bytes);
void flowers(std::string_view bytes);
void mq2007(std::string_view bytes);
void sentiment(std::string_view bytes);
void voc2012(std::string_view bytes);
void conll05(std::string_view bytes);
void imdb(std::string_view bytes);
void imikolov(std::string_view bytes);
void movielens(std::string_view bytes);
void wmt14(std::string_view bytes);
void wmt16(std::string_view bytes);

/// Makes a program of what was read, as for the executor.
void load(lamina::program_message message, const std::string& source);

/// Ends the process, as a finding, unless a property holds.
inline void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "this does not hold: %s\n", property);
  std::abort();
}

/// Calls read(); an input may be refused by a format_error whose offset lies in it, by nothing
/// else. Returns whether it was read.
template <class Read>
bool accepts(std::string_view bytes, Read read) {
  try {
    read();
    return true;
  } catch (const lamina::format_error& e) {
    require(e.offset() <= bytes.size(), "an error's offset lies in the file");
    require(!e.file().empty(), "an error names the file");
    return false;
  }
}

/// A folder of this process, in memory where the system has such.
const std::string& folder();

}  // namespace fuzz
