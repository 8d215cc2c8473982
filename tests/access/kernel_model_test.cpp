#include "access/kernel_model.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace nuna::access {
namespace {

/// out[y * width + x] = in[...], guarded by x < width.
KernelModel example() {
  KernelModel model;
  model.name = "_Z4copyPfPKfi";
  for (int i = 0; i < 3; ++i) model.parameters.push_back({.kind = Parameter::Kind::block_size, .axis = i});
  for (int i = 0; i < 3; ++i) model.parameters.push_back({.kind = Parameter::Kind::grid_size, .axis = i});
  model.parameters.push_back({.argument = 2});
  model.pointers = {{.argument = 0}, {.argument = 1}, {.variable = "table"}};
  Polynomial x{{1, {kBlockSize}, kBlockIndex}, {1, {}, kThreadIndex}};
  Access write{.kind = Access::Kind::write, .pointer = 0, .bytes = 4, .at = {"copy.cu", 7}};
  write.first_byte =
      Polynomial{{4, {kScalars}, kBlockIndex + 1}, {4, {kBlockSize}, kBlockIndex}, {4, {}, kThreadIndex}};
  write.domain = {{{{1, {kScalars}, kNoVariable},
                    {-1, {kBlockSize}, kBlockIndex},
                    {-1, {}, kThreadIndex},
                    {-1, {}, kNoVariable}}}};
  Access read{.kind = Access::Kind::read, .pointer = 2, .bytes = 4, .exact = false};
  model.accesses = {write, read};
  model.assumptions = {{.value = x, .at = {"copy.cu", 6}}};
  model.refusals = {{"calls foo, whose body is elsewhere", {"copy.cu", 9}},
                    {"computes", {"copy.cu", 10}, true}};
  model.work = {{.at = {"copy.cu", 7}, .loads = 1, .stores = 1, .integer_operations = 3}};
  return model;
}

TEST(KernelModels, AreWrittenAndReadBack) { EXPECT_EQ(read_model(write_model(example())), example()); }

std::string problem_of(const KernelModel& model) {
  try {
    read_model(write_model(model));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "none";
}

TEST(KernelModels, ThatPointNowhereAreRefused) {
  EXPECT_EQ(problem_of(example()), "none");
  auto model = example();
  model.accesses[0].pointer = 3;
  EXPECT_EQ(problem_of(model), "a kernel's model: an access through a pointer that is not there");
  model = example();
  model.accesses[0].first_byte->push_back({1, {}, kExtra});
  EXPECT_EQ(problem_of(model), "a kernel's model: there is no variable 6");
  model = example();
  model.assumptions[0].value[0].parameters = {7};
  EXPECT_EQ(problem_of(model), "a kernel's model: there is no parameter 7");
  model = example();
  model.parameters.erase(model.parameters.begin());
  EXPECT_NE(problem_of(model), "none");
  model = example();
  model.parameters.back().bytes = 3;
  EXPECT_EQ(problem_of(model), "a kernel's model: a parameter of 3 bytes");
}

TEST(KernelModels, OfBrokenTextAreRefused) {
  EXPECT_THROW(read_model(""), std::runtime_error);
  EXPECT_THROW(read_model("{}"), std::runtime_error);
  EXPECT_THROW(read_model("[1, 2]"), std::runtime_error);
  auto text = write_model(example());
  text.replace(text.find("\"extra\":0"), 9, "\"extra\":[]");
  EXPECT_THROW(read_model(text), std::runtime_error);
}

}  // namespace
}  // namespace nuna::access
