// SPDX-License-Identifier: Apache-2.0
// lamina/reader/kafka.hpp - reads the messages of a Kafka topic. Needs librdkafka: link -lrdkafka.
#pragma once

#include <lamina/core/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <librdkafka/rdkafka.h>

#include <lamina/core/messages/error.hpp>
#include <lamina/core/messages/text.hpp>
#include <lamina/reader/generator.hpp>
#include <lamina/reader/kafka_offsets.hpp>

namespace lamina { inline namespace LAMINA_ABI { namespace reader {

/// A message, and its position in the topic: partition, and offset in the partition.
struct kafka_message {
  int partition = 0;
  std::int64_t offset = 0;
  std::string key, value;
};

/// The order in which messages of different partitions are read. Messages of one partition keep
/// their order.
enum class kafka_order : std::uint8_t {
  turns,   // one message of each partition in turn, which is the same order in every run; waits if
           // the partition whose turn it is has no message yet
  arrival  // in the order of arrival, which differs between runs
};

/// Options of kafka_topic.
struct kafka_options {
  std::string brokers;  // "host:port,host:port"
  std::string topic;
  std::string group = "lamina";  // the name under which commit() stores offsets
  kafka_order order = kafka_order::turns;
  const std::atomic<bool>* stop = nullptr;        // true ends a pass that waits for messages
  int timeout_ms = 10000;                         // waiting time for the brokers' first answer
  std::map<std::string, std::string> settings{};  // settings of librdkafka: security.protocol, ...
};

/// A topic of Kafka as a reader. A pass yields the messages from the offsets `from` on and does not
/// end: it waits for new messages. The reader does not store offsets at the brokers. Instead, the
/// training program stores kafka_offsets in the file of the trainer, so that parameters and offsets
/// always belong together.
///
///   reader::kafka_offsets offsets;
///   trainer.keep(offsets);                               // in the trainer's file
///   if (exists(path)) trainer.load(path);
///   const reader::kafka_topic topic({.brokers = "localhost:9092", .topic = "clicks"}, offsets);
///   for (auto&& messages : reader::begin_pass(topic | reader::batch(16, true))) {
///     trainer.step(parse(messages));
///     for (const auto& m : messages) offsets.advance(m.partition, m.offset);
///     trainer.save(path);
///   }
///
/// Each pass opens a connection and begins at the same offsets `from`. It reads the partitions that
/// the topic has when the pass begins; partitions that are added later are read by the next pass.
class kafka_topic {
 public:
  /// Throws lamina::error if the options name no brokers or no topic.
  explicit kafka_topic(kafka_options options, kafka_offsets from = {})
      : options_(std::move(options)), from_(std::move(from)) {
    if (options_.brokers.empty() || options_.topic.empty())
      throw error("lamina: kafka_topic: expected brokers and a topic, found none");
  }

  /// Begins a pass. Throws lamina::error if the brokers do not answer, do not have the topic, or
  /// have already deleted the message at an offset.
  generator<kafka_message> operator()() const { return read(options_, from_); }

  /// Stores `offsets` at the brokers, so that monitoring tools show how far the group has read; the
  /// reader does not use them. With `wait` it waits for the answer and throws lamina::error if none
  /// arrives. Only one thread at a time may call it.
  void commit(const kafka_offsets& offsets, bool wait = false) {
    if (commits_ == nullptr) commits_ = std::make_shared<connection>(options_);
    commits_->commit(offsets, wait);
  }

 private:
  /// A consumer of librdkafka.
  class connection {
   public:
    explicit connection(kafka_options given) : options_(std::move(given)) {
      const kafka_options& options = options_;
      std::map<std::string, std::string> settings{
          {"bootstrap.servers", options.brokers},
          {"group.id", options.group},
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "error"},  // an offset that the brokers have deleted is an error
          {"fetch.wait.max.ms", "100"}};
      for (const auto& [name, value] : options.settings) settings[name] = value;
      ::rd_kafka_conf_t* const conf = ::rd_kafka_conf_new();
      char why[512];
      for (const auto& [name, value] : settings)
        if (::rd_kafka_conf_set(conf, name.c_str(), value.c_str(), why, sizeof why) !=
            RD_KAFKA_CONF_OK) {
          ::rd_kafka_conf_destroy(conf);
          fail(why);
        }
      handle_ = ::rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
      if (handle_ == nullptr) {
        ::rd_kafka_conf_destroy(conf);
        fail(why);
      }
    }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection() {
      for (::rd_kafka_queue_t* q : queues_) ::rd_kafka_queue_destroy(q);
      if (assigned_) ::rd_kafka_assign(handle_, nullptr);
      ::rd_kafka_destroy_flags(handle_, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }

    /// Requests the number of partitions from the brokers.
    int partitions() const {
      ::rd_kafka_topic_t* const topic =
          ::rd_kafka_topic_new(handle_, options_.topic.c_str(), nullptr);
      const ::rd_kafka_metadata_t* found = nullptr;
      const ::rd_kafka_resp_err_t e =
          ::rd_kafka_metadata(handle_, 0, topic, &found, options_.timeout_ms);
      ::rd_kafka_topic_destroy(topic);
      if (e != RD_KAFKA_RESP_ERR_NO_ERROR) fail(::rd_kafka_err2str(e));
      const int count = found->topic_cnt == 1 ? found->topics[0].partition_cnt : 0;
      const ::rd_kafka_resp_err_t of_topic =
          found->topic_cnt == 1 ? found->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
      ::rd_kafka_metadata_destroy(found);
      if (of_topic != RD_KAFKA_RESP_ERR_NO_ERROR) fail(::rd_kafka_err2str(of_topic));
      if (count < 1 || count > kafka_offsets::most_partitions)
        fail((text("expected 1 to ")
              << kafka_offsets::most_partitions << " partitions, found " << count));
      return count;
    }
    /// Starts reading all partitions.
    void begin(const kafka_offsets& from) {
      const int count = partitions();
      ::rd_kafka_topic_partition_list_t* const all = ::rd_kafka_topic_partition_list_new(count);
      for (int p = 0; p < count; ++p)
        ::rd_kafka_topic_partition_list_add(all, options_.topic.c_str(), p)->offset =
            from.next(p) < 0 ? RD_KAFKA_OFFSET_BEGINNING : from.next(p);
      for (int p = 0; p < count && options_.order == kafka_order::turns; ++p) {
        queues_.push_back(::rd_kafka_queue_get_partition(handle_, options_.topic.c_str(), p));
        ::rd_kafka_queue_forward(queues_.back(), nullptr);
      }
      const ::rd_kafka_resp_err_t e = ::rd_kafka_assign(handle_, all);
      ::rd_kafka_topic_partition_list_destroy(all);
      if (e != RD_KAFKA_RESP_ERR_NO_ERROR) fail(::rd_kafka_err2str(e));
      assigned_ = true;
      turn_ = from.turn() % count;
    }
    /// Waits for the next message and returns true; returns false if `stop` becomes true.
    bool next(kafka_message& to) {
      for (;;) {
        if (options_.stop != nullptr && *options_.stop) return false;
        constexpr int wait_ms = 50;
        ::rd_kafka_message_t* m = nullptr;
        if (queues_.empty()) {
          m = ::rd_kafka_consumer_poll(handle_, wait_ms);
        } else {
          m = ::rd_kafka_consume_queue(queues_[static_cast<std::size_t>(turn_)], wait_ms);
          if (m == nullptr) m = ::rd_kafka_consumer_poll(handle_, 0);  // connection errors
        }
        if (m == nullptr) continue;
        const struct guard {
          ::rd_kafka_message_t* m;
          ~guard() { ::rd_kafka_message_destroy(m); }
        } destroys{m};
        if (m->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
          to.partition = m->partition;
          to.offset = m->offset;
          to.key.assign(static_cast<const char*>(m->key), m->key_len);
          to.value.assign(static_cast<const char*>(m->payload), m->len);
          if (!queues_.empty()) turn_ = (turn_ + 1) % static_cast<int>(queues_.size());
          return true;
        }
        if (m->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
            m->err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE)
          fail(text("partition ") << m->partition << ": expected messages from offset " << m->offset
                                  << " on, found none: they were deleted, or never written");
        if (m->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
            m->err == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION ||
            m->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
            m->err == RD_KAFKA_RESP_ERR__FATAL)
          fail(::rd_kafka_message_errstr(m));
        // After other errors librdkafka reconnects by itself.
      }
    }
    void commit(const kafka_offsets& offsets, bool wait) const {
      ::rd_kafka_poll(handle_, 0);  // handles the answers to earlier commits
      ::rd_kafka_topic_partition_list_t* const all = ::rd_kafka_topic_partition_list_new(1);
      for (int p = 0; p < kafka_offsets::most_partitions; ++p)
        if (offsets.next(p) >= 0)
          ::rd_kafka_topic_partition_list_add(all, options_.topic.c_str(), p)->offset =
              offsets.next(p);
      const ::rd_kafka_resp_err_t e = all->cnt == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR
                                                    : ::rd_kafka_commit(handle_, all, wait ? 0 : 1);
      ::rd_kafka_topic_partition_list_destroy(all);
      if (e != RD_KAFKA_RESP_ERR_NO_ERROR) fail(::rd_kafka_err2str(e));
    }

   private:
    [[noreturn]] void fail(const std::string& why) const {
      throw error(text("lamina: kafka_topic ")
                  << options_.topic << " at " << options_.brokers << ": " << why);
    }

    const kafka_options options_;
    ::rd_kafka_t* handle_ = nullptr;
    std::vector<::rd_kafka_queue_t*> queues_;  // one per partition; empty for the order of arrival
    int turn_ = 0;
    bool assigned_ = false;
  };

  static generator<kafka_message> read(kafka_options options, kafka_offsets from) {
    connection c(std::move(options));
    c.begin(from);
    kafka_message m;
    while (c.next(m)) co_yield hand_over(std::move(m));
  }

  kafka_options options_;
  kafka_offsets from_;
  std::shared_ptr<connection> commits_;
};

}}}  // namespace lamina::reader
