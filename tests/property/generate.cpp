#include "property/generate.hpp"

#include <algorithm>
#include <numeric>

#include "schedule/partition.hpp"

namespace nuna::property {
namespace {

using Rules = std::array<AxisRule, kMaxDims>;

AxisRule& at(Rules& rules, int axis) { return rules[static_cast<std::size_t>(axis)]; }

std::string text_of(const Rules& rules, int dims) {
  std::string text = "{";
  for (int a = 0; a < dims; ++a) {
    const AxisRule& r = rules[static_cast<std::size_t>(a)];
    if (a > 0) text += ", ";
    if (r.from == AxisRule::kAll) {
      text += "all";
    } else if (r.from == AxisRule::kFixed) {
      text += "[" + std::to_string(r.offset) + "+" + std::to_string(r.tile) + ")";
    } else {
      text += "t" + std::to_string(r.from) + "*" + std::to_string(r.tile) + "+" + std::to_string(r.offset);
      if (r.before + r.after > 0) text += " -" + std::to_string(r.before) + " +" + std::to_string(r.after);
    }
  }
  return text + "}";
}

// What one thread touches under rules: nuna/access_map.hpp, AxisRule.
PerThread by_rules(const Rules& rules, const Extents& extents) {
  return [rules, extents](const Box& thread, std::vector<Box>& elements) {
    Box box{extents};
    for (int a = 0; a < extents.dims; ++a) {
      const AxisRule& r = rules[static_cast<std::size_t>(a)];
      if (r.from == AxisRule::kAll) continue;
      if (r.from == AxisRule::kFixed) {
        box[a] = {r.offset, r.offset + r.tile};
        continue;
      }
      const Index first = thread[r.from].begin * r.tile + r.offset;
      box[a] = {std::max<Index>(first - r.before, 0), std::min(first + r.tile + r.after, extents[a])};
    }
    elements.push_back(box);
  };
}

MapSpec of_rules(const Rules& rules, const Extents& extents, int launch_dims) {
  MapSpec spec;
  spec.map = AccessMap(rules);
  spec.per_thread = by_rules(rules, extents);
  spec.text = text_of(rules, extents.dims);
  std::array<int, kMaxDims> followers{};
  for (int a = 0; a < extents.dims; ++a) {
    const AxisRule& r = rules[static_cast<std::size_t>(a)];
    if (r.from < 0 || r.from >= kMaxDims) continue;
    ++followers[static_cast<std::size_t>(r.from)];
    if (r.before + r.after > 0) spec.exclusive = false;
  }
  for (int a = 0; a < launch_dims; ++a)
    spec.exclusive = spec.exclusive && followers[static_cast<std::size_t>(a)] == 1;
  return spec;
}

MapSpec of_function(PerThread per_thread, const std::string& text, bool exclusive) {
  MapSpec spec;
  spec.per_thread = per_thread;
  spec.map = AccessMap(
      [per_thread](const Part& part, std::vector<Box>& elements) {
        for_each_thread(part.threads, [&](const Box& thread) { per_thread(thread, elements); });
      },
      nullptr);
  spec.text = text;
  spec.exclusive = exclusive;
  return spec;
}

// A rule that keeps threads [t.begin, t.end) inside an axis of `extent`, if any does.
AxisRule fitting(Random& random, int from, Interval t, Index extent) {
  AxisRule r{from};
  if (t.size() > extent) return AxisRule{};
  if (random.one_in(4)) r.tile = random.between(1, std::max<Index>(1, extent / t.size()));
  const Index span = t.size() * r.tile;
  r.offset = random.between(0, extent - span) - t.begin * r.tile;
  const Index straight = extent - t.end * r.tile;  // offset 0 is what programs have
  if (straight >= 0 && !random.one_in(4)) r.offset = 0;
  return r;
}

struct MapWish {
  bool writes = false;
  bool may = false;
  bool exclusive = false;
};

MapSpec random_rules(Random& random, const Extents& extents, const Domain& domain, const MapWish& wish) {
  const int dims = domain.box().dims;
  std::vector<int> launch_axes(static_cast<std::size_t>(dims));
  std::iota(launch_axes.begin(), launch_axes.end(), 0);
  if (random.one_in(3)) {
    for (int i = dims - 1; i > 0; --i)
      std::swap(launch_axes[static_cast<std::size_t>(i)],
                launch_axes[static_cast<std::size_t>(random.number(0, i))]);
  }
  const bool halo = !wish.exclusive && (wish.writes ? random.one_in(16) : random.one_in(2));
  const bool diagonal = !wish.exclusive && (!wish.writes || wish.may) && random.one_in(12);
  const Index radius = random.between(1, 3);
  Rules rules{};
  for (int a = 0; a < extents.dims; ++a) {
    AxisRule& r = at(rules, a);
    const bool follow = a < dims && (wish.exclusive || !random.one_in(wish.writes ? 8 : 5));
    if (!follow) {
      if (random.one_in(3)) {
        const Interval box = random.within(extents[a]);
        r = AxisRule{AxisRule::kFixed, box.size(), box.begin};
      }
      continue;
    }
    const int from = diagonal ? launch_axes[0] : launch_axes[static_cast<std::size_t>(a)];
    r = fitting(random, from, domain.box()[from], extents[a]);
    if (r.from < 0 || !halo) continue;
    r.before = random.one_in(3) ? random.between(0, 3) : radius;
    r.after = random.one_in(3) ? random.between(0, 3) : radius;
  }
  if (random.one_in(60)) {  // sometimes wrong
    AxisRule& r = at(rules, random.number(0, extents.dims - 1));
    if (r.from >= 0) r.offset += random.between(-3, 3);
    if (random.one_in(8)) r.from = dims;
  }
  return of_rules(rules, extents, dims);
}

// Element number n of the buffer, as a box of one.
Box element_at(const Extents& e, Index n) {
  Box box{e};
  box[2] = {n % e.size[2], n % e.size[2] + 1};
  box[1] = {n / e.size[2] % e.size[1], n / e.size[2] % e.size[1] + 1};
  box[0] = {n / e.size[2] / e.size[1], n / e.size[2] / e.size[1] + 1};
  return box;
}

Index thread_number(const Box& domain, const Box& thread) {
  Index n = 0;
  for (int a = 0; a < kMaxDims; ++a) n = n * domain[a].size() + thread[a].begin - domain[a].begin;
  return n;
}

MapSpec random_function(Random& random, const Extents& extents, const Domain& domain, const MapWish& wish) {
  const Box box = domain.box();
  const Index threads = box.count();
  const Index elements = extents.count();
  const Index wrong = random.one_in(60) ? 1 : 0;  // one slab beyond the end
  const auto place = [extents, elements, wrong](Index n) {
    Box b = element_at(extents, n % elements);
    if (wrong != 0 && n % elements == elements - 1) b[0].end += 1;
    return b;
  };
  const int kind = random.number(0, 3);
  if (kind == 0 && threads * 2 <= elements) {  // a strided union
    return of_function(
        [=](const Box& t, std::vector<Box>& out) { out.push_back(place(thread_number(box, t) * 2)); },
        "function: every second", true);
  }
  if (kind == 1 && threads <= elements) {
    const Index shift = random.between(0, elements - threads);
    return of_function(
        [=](const Box& t, std::vector<Box>& out) {
          out.push_back(place(threads - 1 - thread_number(box, t) + shift));
        },
        "function: backwards + " + std::to_string(shift), true);
  }
  if (kind == 2 &&
      (!wish.writes || (!wish.exclusive &&
                        random.one_in(4)))) {  // nothing, something or overlapping boxes, without any order
    const std::uint64_t salt = random.bits();
    return of_function(
        [=](const Box& t, std::vector<Box>& out) {
          Random own(mixed(salt, static_cast<std::uint64_t>(thread_number(box, t))));
          for (int n = own.number(0, 2); n > 0; --n) out.push_back(random_box(own, extents));
        },
        "function: any boxes", false);
  }
  if (threads > elements) return random_rules(random, extents, domain, wish);
  auto scattered = std::make_shared<std::vector<Index>>(static_cast<std::size_t>(elements));
  std::iota(scattered->begin(), scattered->end(), 0);
  for (Index i = elements - 1; i > 0; --i) {
    std::swap((*scattered)[static_cast<std::size_t>(i)],
              (*scattered)[static_cast<std::size_t>(random.between(0, i))]);
  }
  const bool shared =
      !wish.exclusive && threads > 1 && random.one_in(8);  // two threads touch the same element
  if (shared) (*scattered)[0] = (*scattered)[static_cast<std::size_t>(random.between(1, threads - 1))];
  return of_function(
      [=](const Box& t, std::vector<Box>& out) {
        out.push_back(place((*scattered)[static_cast<std::size_t>(thread_number(box, t))]));
      },
      shared ? "function: scattered, one twice" : "function: scattered", !shared);
}

MapSpec random_map(Random& random, const Extents& extents, const Domain& domain, const MapWish& wish) {
  if (random.one_in(6)) return random_function(random, extents, domain, wish);
  return random_rules(random, extents, domain, wish);
}

std::vector<double> random_weights(Random& random, int parts) {
  std::vector<double> weights;
  for (int i = 0; i < parts; ++i) weights.push_back(static_cast<double>(random.between(1, 5)));
  return weights;
}

// Cut along one axis, along several, or as Nuna likes; equal parts or not.
Domain random_cut(Random& random, Domain domain, access::Team team) {
  const int kind = random.number(0, 4);
  if (kind <= 1) return domain;
  const int axis = random.number(0, domain.box().dims - 1);
  if (kind == 2) {
    domain = domain.along(axis);
    return random.one_in(2) ? domain.weights(axis, random_weights(random, team.parts())) : domain;
  }
  std::array<int, kMaxDims> parts{1, 1, 1};
  int left = team.parts();
  for (int f = 2; left > 1;) {
    if (left % f != 0) {
      ++f;
      continue;
    }
    parts[static_cast<std::size_t>(random.number(0, domain.box().dims - 1))] *= f;
    left /= f;
  }
  domain = domain.parts(parts[0], parts[1], parts[2]);
  if (random.one_in(2))
    domain = domain.weights(axis, random_weights(random, parts[static_cast<std::size_t>(axis)]));
  return domain;
}

Box small_box(Random& random, const Extents& extents) {
  Box box{extents};
  for (int a = 0; a < extents.dims; ++a) {
    const Index size = random.between(1, std::max<Index>(1, extents[a] / 4));
    box[a].begin = random.between(0, extents[a] - size);
    box[a].end = box[a].begin + size;
  }
  return box;
}

// Mostly the shape of a buffer, so that launches fit; sometimes an interior, a face or a frame.
Domain random_domain(Random& random, const Extents& like, access::Team team, bool small) {
  Domain domain(like);
  if (small) {
    domain = Domain(small_box(random, like));
  } else if (random.one_in(3)) {
    domain = Domain(random_box(random, like));
  }
  if (random.one_in(2)) domain = domain.within(like);
  return random_cut(random, domain, team);
}

std::string text_of(const LaunchSpec& launch) {
  const Domain& d = launch.domain;
  std::string text = "launch over " + to_string(d.box()) + " within " + to_string(d.frame()) + ", block " +
                     to_string(launch.block) + ", parts " + std::to_string(d.parts_per_axis()[0]) + " x " +
                     std::to_string(d.parts_per_axis()[1]) + " x " + std::to_string(d.parts_per_axis()[2]) +
                     ", along " + std::to_string(d.along_axis());
  if (launch.device) text += ", on device " + std::to_string(*launch.device);
  for (const UseSpec& u : launch.uses) {
    text += std::string("; ") +
            (u.may                 ? "may_write"
             : u.reads && u.writes ? "read_write"
             : u.writes            ? "write"
                                   : "read") +
            " #" + std::to_string(u.buffer) + " " + u.map.text;
    if (u.device) text += " on device " + std::to_string(*u.device);
  }
  return text;
}

// One buffer by two arguments, where results would depend on whether they lie in the same place.
bool aliased(const LaunchSpec& launch) {
  for (std::size_t a = 0; a < launch.uses.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const UseSpec& x = launch.uses[a];
      const UseSpec& y = launch.uses[b];
      if (x.buffer == y.buffer && (x.writes || y.writes) && (x.device || y.device)) return true;
    }
  }
  return false;
}

// Parts of the launch, by their threads. Where cuts fall is not what is tested here.
std::vector<Box> parts_of(const LaunchSpec& launch, access::Team team) {
  const access::Cut cut = schedule::cut(launch.domain, launch.block, team_of(launch, team), "a launch");
  std::vector<Box> parts;
  for (int p = 0; p < cut.parts(); ++p) parts.push_back(cut.threads(p));
  return parts;
}

std::optional<ErrorCode> leaves(const UseSpec& use, const base::Shape& shape, const Domain& domain) {
  const Extents& extents = shape.extents;
  std::optional<ErrorCode> code;
  if (use.map.map.is_monotone()) {
    for (int a = 0; a < extents.dims; ++a) {
      const AxisRule& r = use.map.map.rule(a);
      if (r.from >= domain.box().dims) return ErrorCode::invalid_argument;
      if (r.from < 0) continue;
      const Interval t = domain.box()[r.from];
      if (t.begin * r.tile + r.offset < 0 || t.end * r.tile + r.offset > extents[a])
        return ErrorCode::out_of_bounds;
    }
    return code;
  }
  for_each_thread(domain.box(), [&](const Box& thread) {
    std::vector<Box> boxes;
    use.map.per_thread(thread, boxes);
    for (const Box& b : boxes) {
      if (!Box(extents).contains(b)) code = ErrorCode::out_of_bounds;
    }
  });
  return code;
}

// Which part touches each element, or -1; -2 - part where a second one does.
std::vector<int> touching_parts(const UseSpec& use, const base::Shape& shape, const std::vector<Box>& parts,
                                bool& twice) {
  std::vector<int> owner(static_cast<std::size_t>(shape.extents.count()), -1);
  std::vector<Box> boxes;
  for (int p = 0; p < static_cast<int>(parts.size()); ++p) {
    for_each_thread(parts[static_cast<std::size_t>(p)], [&](const Box& thread) {
      boxes.clear();
      use.map.per_thread(thread, boxes);
      for (const Box& b : boxes) {
        for_each_element(shape.extents, b, [&](Index e) {
          int& o = owner[static_cast<std::size_t>(e)];
          twice = twice || (o >= 0 && o != p);
          o = p;
        });
      }
    });
  }
  return owner;
}

bool writes_overlap(const LaunchSpec& launch, const std::vector<base::Shape>& buffers,
                    const std::vector<Box>& parts) {
  bool twice = false;
  std::vector<std::pair<int, std::vector<int>>> before;
  for (const UseSpec& use : launch.uses) {
    if (!use.writes) continue;
    std::vector<int> owner = touching_parts(use, buffers[static_cast<std::size_t>(use.buffer)], parts, twice);
    for (const auto& [buffer, other] : before) {
      if (buffer != use.buffer) continue;
      for (std::size_t e = 0; e < owner.size(); ++e)
        twice = twice || (owner[e] >= 0 && other[e] >= 0 && owner[e] != other[e]);
    }
    before.emplace_back(use.buffer, std::move(owner));
  }
  return twice;
}

}  // namespace

access::Team team_of(const LaunchSpec& launch, access::Team all) {
  return launch.device ? access::Team{1, 1} : all;
}

base::Shape random_shape(Random& random, Index most_elements, const std::vector<Index>& sizes) {
  base::Shape shape;
  shape.element_bytes = random.of(sizes);
  shape.extents.dims = random.number(1, 3);
  Index left = most_elements;
  for (int a = 0; a < shape.extents.dims; ++a) {
    const Index most = a + 1 == shape.extents.dims ? left : std::min<Index>(left, a == 0 ? 16 : 9);
    const Index size =
        random.one_in(10) ? 1 : random.between(std::max<Index>(1, most / 3), std::max<Index>(1, most));
    shape.extents.size[static_cast<std::size_t>(a)] = size;
    left = std::max<Index>(1, left / size);
  }
  return shape;
}

Box random_box(Random& random, const Extents& extents) {
  Box box{extents};
  for (int a = 0; a < extents.dims; ++a) {
    if (!random.one_in(3)) box[a] = random.within(extents[a]);
  }
  return box;
}

LaunchSpec random_launch(Random& random, const std::vector<base::Shape>& buffers, access::Team team,
                         const Taste& taste) {
  const auto buffer = [&] { return random.number(0, static_cast<int>(buffers.size()) - 1); };
  LaunchSpec launch;
  const int written = buffer();
  const Extents& like = buffers[static_cast<std::size_t>(written)].extents;
  const auto device = [&] { return random.number(0, team.parts() - 1); };
  if (random.one_in(5)) launch.device = device();
  launch.domain = random_domain(random, like, team_of(launch, team), taste.small);
  launch.block.dims = launch.domain.box().dims;
  for (int a = 0; a < launch.block.dims; ++a) {
    launch.block.size[static_cast<std::size_t>(a)] = random.one_in(3) ? random.between(1, 4) : 1;
  }
  const int arguments = random.number(1, taste.arguments);
  for (int n = 0; n < arguments; ++n) {
    UseSpec use;
    use.buffer = n == 0 ? written : buffer();
    const bool alone = std::none_of(launch.uses.begin(), launch.uses.end(),
                                    [&](const UseSpec& u) { return u.buffer == use.buffer; });
    const int mode = n == 0 ? random.number(1, 3) : random.one_in(6) ? random.number(1, 3) : 0;
    use.writes = mode >= 1;
    use.reads = mode == 0 || mode == 2;
    use.may = mode == 3;
    if (taste.exclusive && !alone) continue;
    use.map = random_map(random, buffers[static_cast<std::size_t>(use.buffer)].extents, launch.domain,
                         {use.writes, use.may, taste.exclusive && use.writes});
    if (taste.exclusive && use.writes && !use.map.exclusive) continue;
    if (random.one_in(5)) use.device = device();
    launch.uses.push_back(std::move(use));
  }
  launch.text = text_of(launch);
  return launch;
}

std::optional<ErrorCode> refusal(const LaunchSpec& launch, const std::vector<base::Shape>& buffers,
                                 access::Team team) {
  std::vector<Box> parts;
  try {
    parts = parts_of(launch, team);
  } catch (const Error& e) {
    return e.code();
  }
  for (const UseSpec& use : launch.uses) {
    if (const auto code = leaves(use, buffers[static_cast<std::size_t>(use.buffer)], launch.domain))
      return code;
  }
  if (aliased(launch)) return ErrorCode::invalid_argument;
  if (writes_overlap(launch, buffers, parts)) return ErrorCode::overlapping_writes;
  return std::nullopt;
}

}  // namespace nuna::property
