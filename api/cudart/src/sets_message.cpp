#include "sets_message.hpp"

#include <cstdint>
#include <cstring>
#include <utility>

#include "nuna/error.hpp"

namespace nuna::cudart {
namespace {

using Word = std::uint64_t;

class Writer {
 public:
  void add(Word word) { add_bytes(&word, sizeof word); }
  void add(const std::string& text) {
    add(text.size());
    add_bytes(text.data(), text.size());
  }
  void add(const ByteSet& set) {
    const std::vector<Word> words = set.words();
    add(words.size());
    add_bytes(words.data(), words.size() * sizeof(Word));
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  void add_bytes(const void* first, std::size_t count) {
    const auto* const begin = static_cast<const std::byte*>(first);
    bytes_.insert(bytes_.end(), begin, begin + count);
  }
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  Word word() {
    Word word = 0;
    copy_to(&word, sizeof word);
    return word;
  }
  std::string text() {
    std::string text(checked(word()), ' ');
    copy_to(text.data(), text.size());
    return text;
  }
  ByteSet set() {
    std::vector<Word> words(checked(word() * sizeof(Word)) / sizeof(Word));
    copy_to(words.data(), words.size() * sizeof(Word));
    return ByteSet::of_words(words);
  }
  void expect(Word wanted) {
    if (word() != wanted) refuse();
  }
  void expect_end() const {
    if (!bytes_.empty()) refuse();
  }

 private:
  [[noreturn]] static void refuse() {
    throw Error(ErrorCode::diverged, "ranks record different launches: let every rank make the same calls");
  }
  std::size_t checked(std::size_t count) const {
    if (count > bytes_.size()) refuse();
    return count;
  }
  void copy_to(void* to, std::size_t count) {
    if (checked(count) > 0) std::memcpy(to, bytes_.data(), count);
    bytes_ = bytes_.subspan(count);
  }
  std::span<const std::byte> bytes_;
};

std::vector<Word> head_of(const RecordedSets& sets) {
  return {static_cast<Word>(sets.axis()), static_cast<Word>(sets.parts()), sets.chunks().size()};
}

}  // namespace

std::vector<std::byte> message_of(const RecordedSets& sets) {
  Writer message;
  for (const Word word : head_of(sets)) message.add(word);
  for (const ChunkRange& chunk : sets.chunks()) {
    message.add(chunk.number);
    message.add(static_cast<Word>(chunk.addresses.begin));
  }
  for (int p = 0; p < sets.parts(); ++p) {
    const PartSets& part = sets.part(p);
    message.add(part.refusal().value_or(""));
    for (std::size_t c = 0; c < sets.chunks().size(); ++c) {
      message.add(part.reads(c));
      message.add(part.writes(c));
    }
  }
  return message.take();
}

std::optional<std::string> add_message(std::span<const std::byte> message, RecordedSets& sets) {
  Reader reader(message);
  for (const Word word : head_of(sets)) reader.expect(word);
  bool is_alike = true;
  for (const ChunkRange& chunk : sets.chunks()) {
    is_alike = reader.word() == chunk.number && is_alike;
    is_alike = reader.word() == static_cast<Word>(chunk.addresses.begin) && is_alike;
  }
  if (!is_alike) return "memory lies at other addresses on other ranks";
  for (int p = 0; p < sets.parts(); ++p) {
    PartSets& part = sets.part(p);
    if (std::string why = reader.text(); !why.empty()) part.refuse(std::move(why));
    for (std::size_t c = 0; c < sets.chunks().size(); ++c) {
      ByteSet reads = reader.set();
      part.set(c, std::move(reads), reader.set());
    }
  }
  reader.expect_end();
  return std::nullopt;
}

}  // namespace nuna::cudart
