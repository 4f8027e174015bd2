// SPDX-License-Identifier: Apache-2.0
// Programs that train by calls of minimize come back from files, with the same steps.
#include <catch2/catch.hpp>
#include <codegen/imported/trained_inner.imported>
#include <codegen/imported/trained_options.imported>
#include <codegen/imported/trained_rules.imported>
#include <codegen/imported_training.hpp>
#include <codegen/trained_programs.hpp>

namespace recorded = trained_programs;
using imported_training::saved;
using imported_training::text_of;

namespace {

lamina::tensor ids_of() { return lamina::tensor({5, 1}, std::vector<std::int64_t>{3, 6, 0, 3, 1}); }

}  // namespace

TEST_CASE("native minimize: saved training comes back, with the same steps") {
  using imported_program::random_tensor;
  imported_training::compare("trained_rules", recorded::rules, trained_rules,
                             {{{"x", random_tensor({6, 4})}, {"y", random_tensor({6, 1})}}});
  imported_training::compare("trained_options", recorded::options, trained_options,
                             {{{"ids", ids_of()}, {"y", random_tensor({5, 1})}}});
  imported_training::compare("trained_inner", recorded::inner, trained_inner,
                             {{{"x", random_tensor({6, 4})}}});
}

// ./test "native minimize: write the headers" after a change of the text.
TEST_CASE("native minimize: write the headers", "[.]") {
  const auto write = [](const std::string& name, const lamina::program_view& p) {
    lamina::write_file(imported_program::path_of(name), text_of(saved(p), name));
  };
  write("trained_rules", recorded::rules.view());
  write("trained_options", recorded::options.view());
  write("trained_inner", recorded::inner.view());
}
