#include "property/script.hpp"

#include <cstdlib>

#include <algorithm>
#include <cstring>

#include "property/launching.hpp"

namespace nuna::property {
namespace {

using Changes = std::vector<std::pair<Index, unsigned char>>;
using Snapshot = std::shared_ptr<const Array>;

std::string text_of(Interval bytes) {
  return "[" + std::to_string(bytes.begin) + ", " + std::to_string(bytes.end) + ")";
}

// Compares bytes [first, ...) given by their dense offsets.
void compare_byte(const Array& want, Index at, unsigned char got, const std::string& what) {
  if (!want.has(at) || want.at(at) == got) return;
  throw Mismatch(what + ": byte " + std::to_string(at) + " (element " +
                 std::to_string(at / want.shape.element_bytes) + ") is " + std::to_string(got) +
                 ", expected " + std::to_string(want.at(at)));
}

void compare_box(const Array& want, const Box& box, const Bytes& got, const std::string& what) {
  std::size_t next = 0;
  if (static_cast<Index>(got.size()) != want.shape.of(box).bytes())
    throw Mismatch(what + ": a view of another size");
  for_each_byte(want.shape, want.shape.of(box), [&](Index at) { compare_byte(want, at, got[next++], what); });
}

void compare_range(const Array& want, Interval bytes, const Bytes& got, const std::string& what) {
  for (Index i = bytes.begin; i < bytes.end; ++i)
    compare_byte(want, i, got[static_cast<std::size_t>(i - bytes.begin)], what);
}

// Runs `call`, which must throw an Error of this code.
template <class F>
void expect_refused(ErrorCode code, const std::string& what, F call) {
  try {
    call();
  } catch (const Error& e) {
    if (e.code() == code) return;
    throw Mismatch(what + ": expected " + to_string(code) + ", but it was " + to_string(e.code()) + ": " +
                   e.what());
  }
  throw Mismatch(what + ": expected " + to_string(code) + ", but nothing was refused");
}

class Writer {
 public:
  Writer(std::uint64_t seed, int ranks) : random_(seed) {
    script_.team.ranks = random_.number(1, 4);
    if (ranks > 0) script_.team.ranks = ranks;
    script_.team.devices = random_.number(1, 4);
    if (random_.one_in(8)) script_.threads_per_device = 2;
    script_.overlap = random_.one_in(2);
    static const std::array<const char*, 6> kRoutes{"",
                                                    "mapped, staged",
                                                    "pipelined, staged",
                                                    "packed, direct",
                                                    "mapped, pipelined, packed",
                                                    "pipelined, direct"};
    script_.routes = kRoutes[static_cast<std::size_t>(random_.between(0, 5))];
    script_.chunk_bytes = static_cast<int>(random_.between(16, random_.one_in(2) ? 60 : 4000));
    const int buffers = random_.number(2, 3);
    const std::vector<Index> sizes = random_.one_in(2)
                                         ? std::vector<Index>{1, 2, 3, 4, 8, 12}
                                         : std::vector<Index>{random_.of<Index>({1, 2, 3, 4, 8, 12})};
    base::Shape first = random_shape(random_, random_.one_in(4) ? 200 : 70, sizes);
    for (int b = 0; b < buffers; ++b) {
      // often the same shape, so that launches over both fit
      base::Shape shape = b > 0 && !random_.one_in(3) ? first : random_shape(random_, 70, sizes);
      if (b == 0) shape = first;
      shape.element_bytes = random_.of(sizes);
      script_.shapes.push_back(shape);
      model_.emplace_back(shape);
    }
  }

  Script write() {
    for (int b = 0; b < buffers(); ++b) {
      if (!random_.one_in(4)) host_write(b);
    }
    const int calls = random_.number(10, 20);
    for (int c = 0; c < calls; ++c) add_call();
    for (int b = 0; b < buffers(); ++b) host_read(b, Box(shape(b).extents));
    return std::move(script_);
  }

 private:
  int buffers() const { return static_cast<int>(script_.shapes.size()); }
  int any() { return random_.number(0, buffers() - 1); }
  const base::Shape& shape(int b) const { return script_.shapes[static_cast<std::size_t>(b)]; }
  Array& model(int b) { return model_[static_cast<std::size_t>(b)]; }
  Snapshot snapshot(int b) { return std::make_shared<const Array>(model(b)); }
  Box box_of(int b) { return random_box(random_, shape(b).extents); }
  static AnyBuffer& of(RankSide& side, int b) { return *side.buffers[static_cast<std::size_t>(b)]; }

  void add(std::string text, std::function<void(RankSide&)> perform) {
    script_.steps.push_back({std::move(text), std::move(perform)});
  }

  void add_call() {
    const int b = any();
    switch (random_.number(0, 19)) {
      case 0:
        return host_read(b, box_of(b));
      case 1:
        return host_read_bytes(b);
      case 2:
        return random_.one_in(2) ? host_write(b) : host_write_bytes(b);
      case 3:
        return host_change(b);
      case 4:
        return host_change_bytes(b);
      case 5:
        return host_at(b);
      case 6:
        return local(b);
      case 7:
        return fill(b);
      case 8:
        return copy_box();
      case 9:
        return random_.one_in(2) ? copy_bytes() : copy_host_bytes(b);
      case 10:
        return again(b);
      case 11:
        return misuse(b);
      default:
        return launch();
    }
  }

  void launch() {
    Taste taste;
    taste.exclusive = script_.threads_per_device > 1 || script_.overlap;
    std::shared_ptr<const LaunchSpec> spec;
    std::optional<ErrorCode> refused;
    for (int draws = 0; draws < 5; ++draws) {  // most launches are legal
      spec = std::make_shared<const LaunchSpec>(random_launch(random_, script_.shapes, script_.team, taste));
      refused = refusal(*spec, script_.shapes, script_.team);
      if (!refused || random_.one_in(8)) break;
    }
    if (spec->uses.empty()) return;
    auto kernel = std::make_shared<const HashKernel>(*spec, model_, random_.bits());
    if (!refused) kernel->apply(spec->domain.box(), model_);
    const int repeats = !refused && random_.one_in(4) ? 2 : 1;
    add_launch(spec, kernel, refused);
    for (int n = 1; n < repeats; ++n) {  // the same launch again, from the caches
      auto next = std::make_shared<const HashKernel>(*spec, model_, random_.bits());
      next->apply(spec->domain.box(), model_);
      add_launch(spec, next, refused);
    }
  }

  void add_launch(const std::shared_ptr<const LaunchSpec>& spec,
                  const std::shared_ptr<const HashKernel>& kernel, std::optional<ErrorCode> refused) {
    const std::string text = spec->text + (refused ? std::string(": refused as ") + to_string(*refused) : "");
    add(text, [spec, kernel, refused](RankSide& side) {
      const auto launch = [&] {
        start(side.context, side.buffers, *spec, HashKernel::code(side.kind), kernel);
      };
      if (!refused) return launch();
      expect_refused(*refused, "the launch", launch);
    });
  }

  void host_read(int b, const Box& box) {
    add("read " + to_string(box) + " of #" + std::to_string(b), [b, box, want = snapshot(b)](RankSide& side) {
      compare_box(*want, box, of(side, b).read(box), "a host view");
    });
  }

  Interval range_of(int b) { return random_.within(shape(b).bytes()); }

  void host_read_bytes(int b) {
    const Interval bytes = range_of(b);
    add("read bytes " + text_of(bytes) + " of #" + std::to_string(b),
        [b, bytes, want = snapshot(b)](RankSide& side) {
          compare_range(*want, bytes, of(side, b).read_bytes(bytes), "a view of bytes");
        });
  }

  Bytes random_bytes(Index n) {
    Bytes bytes;
    for (Index i = 0; i < n; ++i) bytes.push_back(static_cast<unsigned char>(random_.bits()));
    return bytes;
  }

  // One in ten: rank 1 fills another byte somewhere, which is an error; rank 0's bytes stand.
  void host_write(int b) {
    const Box box = box_of(b);
    const Bytes bytes = random_bytes(shape(b).of(box).bytes());
    std::size_t next = 0;
    for_each_byte(shape(b), shape(b).of(box), [&](Index at) { model(b).put(at, bytes[next++]); });
    const bool unequal = script_.team.ranks > 1 && random_.one_in(10);
    const auto where = static_cast<std::size_t>(random_.between(0, static_cast<Index>(bytes.size()) - 1));
    add("write " + to_string(box) + " of #" + std::to_string(b) + (unequal ? ", unequal" : ""),
        [b, box, bytes, unequal, where](RankSide& side) {
          if (!unequal) return of(side, b).write(box, bytes);
          Bytes mine = bytes;
          if (side.context.rank() == 1) mine[where] ^= 0x55;
          expect_refused(ErrorCode::unequal_fill, "the write view", [&] { of(side, b).write(box, mine); });
        });
  }

  void host_write_bytes(int b) {
    const Interval range = range_of(b);
    const Bytes bytes = random_bytes(range.size());
    for (Index i = range.begin; i < range.end; ++i)
      model(b).put(i, bytes[static_cast<std::size_t>(i - range.begin)]);
    add("write bytes " + text_of(range) + " of #" + std::to_string(b),
        [b, range, bytes](RankSide& side) { of(side, b).write_bytes(range, bytes); });
  }

  // Another value than `than`, and neither of those that fresh memory may have, so that a change can be seen.
  static unsigned char changed(std::uint64_t than) { return static_cast<unsigned char>(1 + than % 254); }

  // New values for some of the bytes `at`, each by one rank or by several alike; rarely by two that differ.
  std::shared_ptr<std::vector<Changes>> changes_of(int b, const std::vector<Index>& at, bool& conflict,
                                                   std::vector<Index>& names) {
    auto by_rank = std::make_shared<std::vector<Changes>>(static_cast<std::size_t>(script_.team.ranks));
    const bool may_conflict = script_.team.ranks > 1 && random_.one_in(10);
    for (std::size_t n = 0; n < at.size(); ++n) {
      if (!random_.one_in(3)) continue;
      auto value = changed(random_.bits());
      const Array& before = model(b);
      if (before.has(at[n]) && before.at(at[n]) == value) value = changed(value);
      if (!may_conflict && !before.has(at[n]) && random_.one_in(8)) value = random_.one_in(2) ? 0 : 255;
      const int rank = random_.number(0, script_.team.ranks - 1);
      (*by_rank)[static_cast<std::size_t>(rank)].emplace_back(names[n], value);
      if (script_.team.ranks > 1 && random_.one_in(4)) {
        const int other = (rank + 1) % script_.team.ranks;
        auto theirs = value;
        if (may_conflict && random_.one_in(4)) {
          theirs = changed(value);
          if (before.has(at[n]) && before.at(at[n]) == theirs) theirs = changed(theirs);
          conflict = conflict || theirs != value;
        }
        (*by_rank)[static_cast<std::size_t>(other)].emplace_back(names[n], theirs);
        if (other < rank) value = theirs;  // the lower rank's stands
      }
      model(b).put(at[n], value);
    }
    return by_rank;
  }

  template <class F>
  void add_change(const std::string& text, const std::shared_ptr<std::vector<Changes>>& by_rank,
                  bool conflict, F change) {
    add(text + (conflict ? ", in conflict" : ""), [by_rank, conflict, change](RankSide& side) {
      const Changes& mine = (*by_rank)[static_cast<std::size_t>(side.context.rank())];
      if (!conflict) return change(side, mine);
      expect_refused(ErrorCode::conflicting_writes, "the read-write view", [&] { change(side, mine); });
    });
  }

  void host_change(int b) {
    const Box box = box_of(b);
    std::vector<Index> at;
    std::vector<Index> packed;
    for_each_byte(shape(b), shape(b).of(box), [&](Index byte) {
      packed.push_back(static_cast<Index>(at.size()));
      at.push_back(byte);
    });
    bool conflict = false;
    const auto by_rank = changes_of(b, at, conflict, packed);
    add_change("change " + to_string(box) + " of #" + std::to_string(b), by_rank, conflict,
               [b, box](RankSide& side, const Changes& mine) { of(side, b).change(box, mine); });
  }

  void host_change_bytes(int b) {
    const Interval range = range_of(b);
    std::vector<Index> at;
    for (Index i = range.begin; i < range.end; ++i) at.push_back(i);
    bool conflict = false;
    const auto by_rank = changes_of(b, at, conflict, at);
    add_change("change bytes " + text_of(range) + " of #" + std::to_string(b), by_rank, conflict,
               [b, range](RankSide& side, const Changes& mine) { of(side, b).change_bytes(range, mine); });
  }

  void host_at(int b) {
    const Box box = box_of(b);
    const int rank = random_.number(0, script_.team.ranks - 1);
    add("read " + to_string(box) + " of #" + std::to_string(b) + " on rank " + std::to_string(rank),
        [b, box, rank, want = snapshot(b)](RankSide& side) {
          const Bytes got = of(side, b).read_at(rank, box);
          if (side.context.rank() == rank) return compare_box(*want, box, got, "a read-back");
          if (!got.empty()) throw Mismatch("a read-back gave bytes to another rank");
        });
  }

  void local(int b) {
    add("local boxes of #" + std::to_string(b), [b, want = snapshot(b)](RankSide& side) {
      for (const Box& box : of(side, b).local_boxes()) {
        compare_box(*want, box, of(side, b).read_local(box), "local box " + to_string(box));
      }
    });
  }

  void fill(int b) {
    const Box box = box_of(b);
    const Bytes value = random_bytes(shape(b).element_bytes);
    std::size_t next = 0;
    for_each_byte(shape(b), shape(b).of(box),
                  [&](Index at) { model(b).put(at, value[next++ % value.size()]); });
    add("fill " + to_string(box) + " of #" + std::to_string(b),
        [b, box, value](RankSide& side) { of(side, b).fill(side.context, box, value.data()); });
  }

  void copy_box() {
    const int to = any();
    const int from = any();
    if (shape(to).element_bytes != shape(from).element_bytes ||
        shape(to).extents.dims != shape(from).extents.dims)
      return;
    Box to_box{shape(to).extents};
    Box from_box{shape(from).extents};
    for (int a = 0; a < shape(to).extents.dims; ++a) {
      const Index size = random_.between(1, std::min(shape(to).extents[a], shape(from).extents[a]));
      to_box[a].begin = random_.between(0, shape(to).extents[a] - size);
      from_box[a].begin = random_.between(0, shape(from).extents[a] - size);
      to_box[a].end = to_box[a].begin + size;
      from_box[a].end = from_box[a].begin + size;
    }
    const Array source = model(from);
    std::vector<Index> offsets;
    for_each_byte(shape(from), shape(from).of(from_box), [&](Index at) { offsets.push_back(at); });
    copy_model(source, offsets, to, to_box);
    add("copy " + to_string(from_box) + " of #" + std::to_string(from) + " to " + to_string(to_box) +
            " of #" + std::to_string(to),
        [to, from, to_box, from_box](RankSide& side) {
          of(side, to).copy_from(side.context, to_box, of(side, from), from_box);
        });
  }

  void copy_model(const Array& source, const std::vector<Index>& offsets, int to, const Box& to_box) {
    std::size_t next = 0;
    for_each_byte(shape(to), shape(to).of(to_box),
                  [&](Index at) { copy_byte(source, offsets[next++], to, at); });
  }
  void copy_byte(const Array& source, Index from, int to, Index at) {
    model(to).bytes[static_cast<std::size_t>(at)] = source.at(from);
    model(to).written[static_cast<std::size_t>(at)] = source.has(from) ? 1 : 0;
  }

  // Between two buffers, at any byte. What goes through the hosts must have been written.
  void copy_bytes() {
    const int to = any();
    const int from = any();
    const Interval source = range_of(from);
    const Index size = std::min(source.size(), shape(to).bytes());
    const Index target = random_.between(0, shape(to).bytes() - size);
    const Array before = model(from);
    for (Index i = 0; i < size; ++i) {
      if (!before.has(source.begin + i)) return;
    }
    for (Index i = 0; i < size; ++i) copy_byte(before, source.begin + i, to, target + i);
    add("copy " + std::to_string(size) + " bytes from " + std::to_string(source.begin) + " of #" +
            std::to_string(from) + " to " + std::to_string(target) + " of #" + std::to_string(to),
        [=](RankSide& side) {
          side.context.copy(of(side, to).address() + target, of(side, from).address() + source.begin,
                            static_cast<std::size_t>(size));
        });
  }

  // From host memory to a box of rows in the middle of a buffer, and back.
  void copy_host_bytes(int b) {
    const Index row_bytes = shape(b).extents[shape(b).extents.dims - 1] * shape(b).element_bytes;
    const Index rows_in_all = shape(b).bytes() / row_bytes;
    const Interval columns = random_.within(row_bytes);
    const Interval rows = random_.within(rows_in_all);
    const Bytes bytes = random_bytes(rows.size() * columns.size());
    for (Index r = 0; r < rows.size(); ++r) {
      for (Index c = 0; c < columns.size(); ++c) {
        model(b).put((rows.begin + r) * row_bytes + columns.begin + c,
                     bytes[static_cast<std::size_t>(r * columns.size() + c)]);
      }
    }
    add("copy rows " + text_of(rows) + ", bytes " + text_of(columns) + " of #" + std::to_string(b) +
            " from the host and back",
        [=](RankSide& side) {
          unsigned char* first = of(side, b).address() + rows.begin * row_bytes + columns.begin;
          const Extents extents{rows.size(), columns.size()};
          side.context.copy(Pitched{first, row_bytes}, ConstPitched{bytes.data(), columns.size()}, extents);
          Bytes back(bytes.size());
          side.context.copy(Pitched{back.data(), columns.size()}, ConstPitched{first, row_bytes}, extents);
          if (back != bytes) throw Mismatch("a copy to a buffer and back");
        });
  }

  // A new buffer in place of an old one, which may be in use.
  void again(int b) {
    if (!random_.one_in(3)) {
      add("wait", [b](RankSide& side) {
        if (b % 2 == 0) return side.context.wait();
        of(side, b).fence(side.context);
      });
      return;
    }
    model(b) = Array(shape(b));
    add("a new #" + std::to_string(b), [b, s = shape(b)](RankSide& side) {
      side.buffers[static_cast<std::size_t>(b)].reset();
      side.buffers[static_cast<std::size_t>(b)] = make_buffer(side.context, s);
    });
  }

  // Views outside the buffer.
  void misuse(int b) {
    Box box = Box(shape(b).extents);
    box[shape(b).extents.dims - 1].end += 1;
    add("a view of " + to_string(box) + " of #" + std::to_string(b) + ": refused", [b, box](RankSide& side) {
      expect_refused(ErrorCode::out_of_bounds, "the view", [&] { of(side, b).read(box); });
    });
  }

  Random random_;
  Script script_;
  std::vector<Array> model_;
};

}  // namespace

std::string Script::text() const {
  std::string all = std::to_string(team.ranks) + " ranks x " + std::to_string(team.devices) + " devices x " +
                    std::to_string(threads_per_device) + " threads" + (overlap ? ", overlapped" : "") +
                    (routes.empty() ? "" : ", " + routes) + ", chunks of " + std::to_string(chunk_bytes) +
                    "\n";
  for (std::size_t b = 0; b < shapes.size(); ++b) {
    all += "  #" + std::to_string(b) + ": " + to_string(shapes[b].extents) + " of " +
           std::to_string(shapes[b].element_bytes) + " bytes\n";
  }
  for (std::size_t s = 0; s < steps.size(); ++s)
    all += "  " + std::to_string(s) + ": " + steps[s].text + "\n";
  return all;
}

Script random_script(std::uint64_t seed, int ranks) { return Writer(seed, ranks).write(); }

void set_environment(const Script& script) {
  ::setenv("NUNA_OVERLAP", script.overlap ? "1" : "0", 1);  // the buffers are small
  ::setenv("NUNA_ROUTES", script.routes.c_str(), 1);
  ::setenv("NUNA_CHUNK", std::to_string(script.chunk_bytes).c_str(), 1);
}

void perform(const Script& script, Context& context, DeviceKind kind) {
  RankSide side{context, {}, kind};
  for (const base::Shape& s : script.shapes) side.buffers.push_back(make_buffer(context, s));
  for (std::size_t s = 0; s < script.steps.size(); ++s) {
    try {
      script.steps[s].perform(side);
    } catch (const std::exception& e) {
      throw Mismatch("rank " + std::to_string(context.rank()) + ", step " + std::to_string(s) + " (" +
                     script.steps[s].text + "): " + e.what());
    }
  }
  context.wait();
}

void perform(const Script& script, DeviceKind kind) {
  Options options;
  options.kind = kind;
  options.devices = script.team.devices;
  options.threads_per_device = script.threads_per_device;
  set_environment(script);
  Context::in_process(script.team.ranks, options, [&](Context& context) { perform(script, context, kind); });
  for (const char* name : {"NUNA_OVERLAP", "NUNA_ROUTES", "NUNA_CHUNK"}) ::unsetenv(name);
}

}  // namespace nuna::property
