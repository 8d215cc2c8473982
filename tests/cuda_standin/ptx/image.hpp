#pragma once
// Module images: PTX text, or a fat binary with PTX text in it.

#include <optional>
#include <string>

namespace standin::ptx {

/// The text that a card of this compute capability (90 is 9.0) can use; nothing if there is none, and then
/// `complaint` says why.
std::optional<std::string> text_of_image(const void* image, int capability, std::string& complaint);

}  // namespace standin::ptx
