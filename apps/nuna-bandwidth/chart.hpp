#pragma once
// The chart, which a script beside this program draws: nuna-bandwidth-chart, with python3-matplotlib.

#include <string>

namespace nuna_bandwidth {

/// Draws the rows of a JSON file. Throws nuna::Error (unsupported) when the script or its library is not there, with what to
/// install; (input_output) when it fails otherwise.
void draw_chart(const std::string& json_file, const std::string& chart_file);

}  // namespace nuna_bandwidth
