// SPDX-License-Identifier: Apache-2.0
// Arguments of a configuration have a name, a value and a type.
#include <cstdint>
#include <string>

#include <catch2/catch.hpp>

#include <lamina/cli/config_args.hpp>

using lamina::config_args;

TEST_CASE("arguments are read by name and type; what is not given has a default") {
  const config_args args("batch_size=64,rate=2.5e-3,data=./a=b/c,shuffled=True,raw=0,empty=");
  CHECK(args.get("batch_size", 128) == 64);
  CHECK(args.get("batch_size", std::size_t{1}) == 64);
  CHECK(args.get("rate", 1.f) == 2.5e-3f);
  CHECK(args.get("rate", 1.0) == 2.5e-3);
  CHECK(args.get("data", "") == "./a=b/c");
  CHECK(args.get("data", std::string()) == "./a=b/c");
  CHECK(args.get("shuffled", false));
  CHECK_FALSE(args.get("raw", true));
  CHECK(args.get("empty", "x").empty());
  CHECK(args.get("absent", 7) == 7);
  CHECK(args.get("absent", "x") == "x");
  CHECK(args.get("absent", true));
  CHECK_NOTHROW(args.require_all_read());
  CHECK(config_args().get("a", 1) == 1);
  CHECK(config_args("").get("a", 1) == 1);
  CHECK(config_args("a=1,").get("a", 0) == 1);
}

TEST_CASE("a value of another type is an error that names the argument") {
  const config_args args("n=3.5,big=300,sign=-1,yes=maybe,word=x,nothing=");
  CHECK_THROWS_WITH(args.get("n", 1),
                    "lamina: --config_args: n: expected a whole number, found '3.5'");
  CHECK_THROWS_WITH(args.get("big", std::int8_t{1}), Catch::Contains("whole number, found '300'"));
  CHECK_THROWS_WITH(args.get("sign", 1u), Catch::Contains("whole number, found '-1'"));
  CHECK_THROWS_WITH(args.get("yes", true),
                    "lamina: --config_args: yes: expected true or false, found 'maybe'");
  CHECK_THROWS_WITH(args.get("word", 1.f),
                    "lamina: --config_args: word: expected a number, found 'x'");
  CHECK_THROWS_WITH(args.get("nothing", 1), Catch::Contains("found ''"));
}

TEST_CASE("arguments are name=value, each once, and each is read") {
  CHECK_THROWS_WITH(config_args("a"), "lamina: --config_args: expected name=value, found 'a'");
  CHECK_THROWS_WITH(config_args("a=1,,b=2"), Catch::Contains("found ''"));
  CHECK_THROWS_WITH(config_args("=1"), Catch::Contains("found '=1'"));
  CHECK_THROWS_WITH(config_args("a=1,b=2,a=3"),
                    "lamina: --config_args: expected each name once, found 'a' twice");
  const config_args args("batchsize=3");
  CHECK_THROWS_WITH(
      args.require_all_read(),
      "lamina: --config_args: the configuration reads no 'batchsize'; it takes no arguments");
  CHECK(args.get("batch_size", 1) == 1);
  CHECK(args.get("rate", 1) == 1);
  CHECK_THROWS_WITH(args.require_all_read(),
                    "lamina: --config_args: the configuration reads no 'batchsize'; the nearest is "
                    "'batch_size'");
}
