// A stencil in four styles: as the HPE paper's Listings 1 to 3 write it, and as Nuna would. See README.md.
//
//   ./hpe_styles                                   two devices
//   ./hpe_styles --devices 4 --planes 96 --steps 20

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "styles.hpp"

namespace {

int number(const std::string& name, const std::string& text, int least, int most) {
  std::size_t read = 0;
  int value = 0;
  try {
    value = std::stoi(text, &read);
  } catch (const std::exception&) {
    read = 0;
  }
  if (read == 0 || read != text.size() || value < least || value > most) {
    throw std::invalid_argument(name + " is \"" + text + "\": expected a whole number from " +
                                std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

// The same by plain loops.
std::vector<float> plain_loop(const hpe::Field& field) {
  constexpr nuna::Index kR = hpe::kRadius;
  const nuna::Extents all = field.extents(field.planes);
  const nuna::Box points = field.points(field.planes);
  const auto at = [&](nuna::Index z, nuna::Index y, nuna::Index x) {
    return static_cast<std::size_t>((z * all[1] + y) * all[2] + x);
  };
  const auto for_each_point = [&](auto f) {
    for (nuna::Index z = points[0].begin; z < points[0].end; ++z) {
      for (nuna::Index y = points[1].begin; y < points[1].end; ++y) {
        for (nuna::Index x = points[2].begin; x < points[2].end; ++x) f(z, y, x);
      }
    }
  };
  std::vector<float> in(static_cast<std::size_t>(all.count()));
  std::vector<float> out = in;
  for_each_point([&](auto z, auto y, auto x) { in[at(z, y, x)] = hpe::start_value(z, y, x); });
  for (int step = 0; step < field.steps; ++step) {
    for_each_point([&](auto z, auto y, auto x) {
      float sum = 0.3F * in[at(z, y, x)];
      for (nuna::Index r = 1; r <= kR; ++r) {
        sum += hpe::weight(r) * (in[at(z - r, y, x)] + in[at(z + r, y, x)] + in[at(z, y - r, x)] +
                                 in[at(z, y + r, x)] + in[at(z, y, x - r)] + in[at(z, y, x + r)]);
      }
      out[at(z, y, x)] = sum;
    });
    swap(in, out);
  }
  std::vector<float> result;
  for_each_point([&](auto z, auto y, auto x) { result.push_back(in[at(z, y, x)]); });
  return result;
}

std::uint32_t sum_of_bits(const std::vector<float>& values) {
  std::uint32_t sum = 2166136261U;
  for (const float value : values) sum = (sum ^ std::bit_cast<std::uint32_t>(value)) * 16777619U;
  return sum;
}

int run(int argc, char** argv) {
  hpe::Field field;
  int devices = 2;
  for (int a = 1; a < argc; a += 2) {
    const std::string name = argv[a];
    const std::string value = a + 1 < argc ? argv[a + 1] : "";
    if (name == "--devices") {
      devices = number(name, value, 1, 16);
    } else if (name == "--planes") {
      field.planes = number(name, value, 1, 4096);
    } else if (name == "--side") {
      field.rows = field.columns = number(name, value, 1, 4096);
    } else if (name == "--steps") {
      field.steps = number(name, value, 0, 100'000);
    } else {
      throw std::invalid_argument("unknown argument " + name +
                                  ": expected --devices, --planes, --side or --steps");
    }
  }
  if (field.planes < devices * hpe::kRadius) {
    throw std::invalid_argument(std::to_string(field.planes) + " planes for " + std::to_string(devices) +
                                " devices: each needs at least " + std::to_string(hpe::kRadius) +
                                ", which its neighbours read; give more --planes or fewer --devices");
  }

  struct Style {
    const char* text;
    std::vector<float> (*run)(const hpe::Field&, int);
  };
  const Style styles[] = {{"one launch over all devices", hpe::one_launch},
                          {"listing 1, halos through the host", hpe::listing_1},
                          {"listing 2, halos from device to device", hpe::listing_2},
                          {"listing 3, neighbours as arguments", hpe::listing_3}};
  std::printf("%lld x %lld x %lld points, %d steps, %d device(s)\n", static_cast<long long>(field.planes),
              static_cast<long long>(field.rows), static_cast<long long>(field.columns), field.steps,
              devices);
  const std::vector<float> wanted = plain_loop(field);
  bool good = true;
  for (const Style& style : styles) {
    const std::vector<float> result = style.run(field, devices);
    const bool same = sum_of_bits(result) == sum_of_bits(wanted) && result == wanted;
    std::printf("  %-40s %08x%s\n", style.text, sum_of_bits(result), same ? "" : "  OTHER BITS");
    good = good && same;
  }
  std::printf("%s\n", good ? "all the same bits as plain loops" : "WRONG");
  return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) try { return run(argc, argv); } catch (const std::exception& e) {
  std::fprintf(stderr, "hpe_styles: %s\n", e.what());
  return EXIT_FAILURE;
}
