// SPDX-License-Identifier: Apache-2.0
// lamina/cli/trainer_config.hpp - a configuration: a program with its optimizer and its data. The
// flag --config selects it by name.
#pragma once

#include <lamina/core/config.hpp>

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <lamina/cli/config_args.hpp>
#include <lamina/cli/trained_program.hpp>
#include <lamina/cli/trained_program_maker.hpp>
#include <lamina/cli/trained_program_of.hpp>
#include <lamina/core/messages/check.hpp>
#include <lamina/core/place.hpp>
#include <lamina/model/names/cost_kind.hpp>
#include <lamina/optimizer/training_program.hpp>
#include <lamina/reader/begin_pass.hpp>
#include <lamina/train/passes/minibatch_check.hpp>
#include <lamina/train/reads_minibatches.hpp>

namespace lamina { inline namespace LAMINA_ABI {

namespace detail {

/// The base class of configurations. It does not depend on the type of the program.
class trainer_config_base {
 public:
  virtual ~trainer_config_base() = default;
  virtual const std::string& name() const = 0;
  virtual std::unique_ptr<trained_program> make(const config_args& args,
                                                const trained_program_options& options) const = 0;
};

/// A function that makes an object from the arguments of the command line.
template <class T>
concept made_from_args = std::invocable<const T&, const config_args&>;

/// Returns the object that was given to a configuration; if a function was given, calls it and
/// returns its result.
template <class T>
auto made(const T& given, [[maybe_unused]] const config_args& args) {
  if constexpr (made_from_args<T>)
    return given(args);
  else
    return given;
}

/// Returns the reader that was given to a configuration; if a function was given, calls it and
/// returns its result. Does not call the function, and returns null, if the job does not need the
/// reader, because the function may read whole files.
template <class T>
auto made_reader(const std::shared_ptr<T>& given, [[maybe_unused]] const config_args& args,
                 [[maybe_unused]] bool is_read) {
  if constexpr (made_from_args<T>)
    return is_read ? reader::share((*given)(args)) : nullptr;
  else
    return given;
}

template <class T>
using made_type = decltype(made(std::declval<const T&>(), std::declval<const config_args&>()));
template <class T>
using made_reader_type =
    typename decltype(made_reader(std::declval<const std::shared_ptr<T>&>(),
                                  std::declval<const config_args&>(), true))::element_type;

/// Whether R is a reader of mini-batches.
template <class R>
constexpr bool reads_batches = [] {
  if constexpr (reader::readable<R>)
    return reader::yields_batches<R>;
  else
    return false;
}();

/// Whether an optimizer can train a program. If not, causes a compile-time error with the reason,
/// unless an error about the program was already reported.
template <class P, class Opt>
constexpr bool trains() {
  if constexpr (is_faulty<P>)
    return false;
  else
    return is_trainable<P, Opt>() && cost_kind_of<P>() == cost_kind::number &&
           !reads_minibatches<P>() && counts_of<P>.parameters > 0 && accepts_gradients<P, Opt>;
}

}  // namespace detail

/// A configuration that a command line can run. It has a name, a program, an optimizer, a reader of
/// mini-batches for training and, optionally, a reader of mini-batches for tests.
///
///   return lamina::trainer_main(argc, argv,
///                               lamina::trainer_config{"vgg", vgg, adam, train, test});
///
/// In place of the optimizer and of each reader, a function of the arguments of --config_args may
/// be given. It is called when the command line selects the configuration:
///
///   [](const lamina::config_args& args) {
///     return open(args.get("data", "./reviews")) | reader::batch(args.get("batch_size", 128));
///   }
///
/// `--config=demo/vgg.py` selects "vgg": folders and the endings .py and .conf are ignored. The
/// class replaces the Python file trainer_config.py of PaddlePaddle v2.
template <class P, class Opt, class Train, class Test = detail::no_test_data, class Places = places>
class trainer_config final : public detail::trainer_config_base {
  static constexpr bool is_program = program_type<P>;
  static_assert(check<is_program, gets_type<P>>,
                "lamina: trainer_config: expected a program after the name, "
                "trainer_config{\"name\", program, optimizer, train_reader, test_reader}");
  static constexpr bool optimizes =
      !is_program || optimizer::optimizer_type<detail::made_type<Opt>>;
  static_assert(check<optimizes, gets_type<detail::made_type<Opt>>>,
                "lamina: trainer_config: expected an optimizer after the program, or a function of "
                "const lamina::config_args& that returns one");
  using optimizer_type = detail::made_type<Opt>;
  using train_type = detail::made_reader_type<Train>;
  using test_type = detail::made_reader_type<Test>;
  static constexpr bool reads =
      !is_program || !optimizes ||
      (detail::reads_batches<train_type> &&
       (std::is_same_v<Test, detail::no_test_data> || detail::reads_batches<test_type>));
  static_assert(check<reads, gets_type<train_type, test_type>>,
                "lamina: trainer_config: expected one or two readers of mini-batches after the "
                "optimizer, samples | lamina::reader::batch(n), or functions that return them");

 public:
  trainer_config(std::string_view name, P program, Opt optimizer, Train train_data)
      : name_(name),
        program_(program),
        opt_(std::move(optimizer)),
        train_(new Train(std::move(train_data))) {
    if constexpr (is_trainable()) detail::are_minibatches<P, train_type>();
  }
  trainer_config(std::string_view name, P program, Opt optimizer, Train train_data, Test test_data)
      : name_(name),
        program_(program),
        opt_(std::move(optimizer)),
        train_(new Train(std::move(train_data))),
        test_(new Test(std::move(test_data))) {
    if constexpr (is_trainable())
      if constexpr (detail::are_minibatches<P, train_type>())
        detail::are_minibatches<P, test_type>();
  }

  const std::string& name() const override { return name_; }
  LAMINA_COLD std::unique_ptr<trained_program> make(
      const config_args& args, const trained_program_options& options) const override {
    if constexpr (is_whole())
      return detail::trained_program_maker<Places>::make(
          program_, detail::made(opt_, args),
          detail::made_reader(train_, args, options.reads_train),
          detail::made_reader(test_, args, options.reads_test), options);
    else
      return nullptr;  // a compile-time error gives the reason
  }

 private:
  static constexpr bool is_trainable() {
    if constexpr (is_program && optimizes && reads)
      return detail::trains<P, optimizer_type>();
    else
      return false;
  }
  static constexpr bool is_whole() {
    if constexpr (!is_trainable())
      return false;
    else if constexpr (std::is_same_v<Test, detail::no_test_data>)
      return detail::are_minibatches<P, train_type>();
    else
      return detail::are_minibatches<P, train_type>() && detail::are_minibatches<P, test_type>();
  }

  std::string name_;
  P program_;
  Opt opt_;
  std::shared_ptr<Train> train_;
  std::shared_ptr<Test> test_;
};

}}  // namespace lamina
