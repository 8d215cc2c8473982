#include "common/image.hpp"

#include <png.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <memory>

#include "nuna/error.hpp"

namespace apps {
namespace {

static_assert(sizeof(Colour) == 3, "rows of colours are given to libpng as they are");

std::uint8_t to_byte(float share) {
  return std::uint8_t(std::lround(255.0f * std::clamp(share, 0.0f, 1.0f)));
}

float mix(float from, float to, float share) { return from + (to - from) * share; }

// libpng is C code that may leave by longjmp only; an exception must not cross it, so a failure is kept for
// later.
struct Sink {
  FileWriter& out;
  std::exception_ptr failure;
};

void write_chunk(png_structp png, png_bytep bytes, std::size_t count) {
  auto& sink = *static_cast<Sink*>(png_get_io_ptr(png));
  if (sink.failure) return;
  try {
    sink.out.write(bytes, count);
  } catch (...) {
    sink.failure = std::current_exception();
  }
}

[[noreturn]] void stop_png(png_structp png, png_const_charp) { png_longjmp(png, 1); }
void ignore_warning(png_structp, png_const_charp) {}

struct PngWriter {
  PngWriter() : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, stop_png, ignore_warning)) {
    if (png != nullptr) info = png_create_info_struct(png);
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;
  ~PngWriter() { png_destroy_write_struct(&png, &info); }
  png_structp png;
  png_infop info = nullptr;
};

// Holds no object with a destructor: setjmp returns here a second time when libpng gives up.
bool write_all(png_structp png, png_infop info, Sink* sink, png_uint_32 width, png_uint_32 height,
               png_bytepp rows) {
  if (setjmp(png_jmpbuf(png)) != 0) return false;
  png_set_write_fn(png, sink, write_chunk, nullptr);
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_image(png, rows);
  png_write_end(png, nullptr);
  return true;
}

}  // namespace

Colour diverging(float value, float ground) {
  if (std::isnan(value)) return {0, 255, 0};
  const float strength = std::sqrt(std::min(std::fabs(value), 1.0f));  // weak waves are seen too
  const Colour end = value < 0 ? Colour{24, 60, 190} : Colour{190, 24, 36};
  const auto channel = [&](std::uint8_t full) {
    return to_byte(mix(ground, float(full) / 255.0f, strength));
  };
  return {channel(end.red), channel(end.green), channel(end.blue)};
}

float percentile_of_size(const std::vector<float>& values, double share) {
  std::vector<float> sizes;
  sizes.reserve(values.size());
  for (const float v : values) {
    if (v != 0.0f && std::isfinite(v))
      sizes.push_back(std::fabs(v));  // untouched points say nothing about the gain
  }
  if (sizes.empty()) return 1.0f;
  const auto nth = sizes.begin() + std::ptrdiff_t(double(sizes.size() - 1) * std::clamp(share, 0.0, 1.0));
  std::nth_element(sizes.begin(), nth, sizes.end());
  return *nth;
}

void write_png(FileWriter& out, const Image& image) {
  if (image.width() < 1 || image.height() < 1) {
    throw nuna::Error(nuna::ErrorCode::invalid_argument, "the picture '" + out.name() + "' has no pixels");
  }
  std::vector<png_bytep> rows;
  rows.reserve(static_cast<std::size_t>(image.height()));
  for (int r = 0; r < image.height(); ++r) {
    rows.push_back(const_cast<png_bytep>(&image.at(0, r).red));  // libpng's type; it only reads
  }
  PngWriter writer;
  Sink sink{out, nullptr};
  const bool whole =
      writer.info != nullptr && write_all(writer.png, writer.info, &sink, png_uint_32(image.width()),
                                          png_uint_32(image.height()), rows.data());
  if (sink.failure) std::rethrow_exception(sink.failure);
  if (!whole) out.fail(ENOMEM);
}

}  // namespace apps
