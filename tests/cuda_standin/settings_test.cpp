// The text of NUNA_TEST_CUDA.

#include "settings.hpp"

#include <gtest/gtest.h>

namespace standin {
namespace {

TEST(SettingsTest, ReadsEverything) {
  std::string complaint;
  const auto settings = parse_settings(
      "devices=3,memory=256MiB,vmm=0,peer=0,rdma=0,handles=0,capability=80,hint=0,"
      "fail=cuMemCreate@3:CUDA_ERROR_OUT_OF_MEMORY,fail=cuInit@*:CUDA_ERROR_NO_DEVICE,slow=cuMemcpyAsync:"
      "500us,"
      "lose=1@20",
      complaint);
  ASSERT_TRUE(settings) << complaint;
  EXPECT_EQ(3, settings->devices);
  EXPECT_EQ(std::size_t{256} << 20, settings->memory_bytes);
  EXPECT_EQ(80, settings->capability);
  EXPECT_FALSE(settings->vmm || settings->peer || settings->rdma || settings->handles || settings->hint);
  const auto fault = settings->faults.find("cuMemCreate");
  ASSERT_NE(settings->faults.end(), fault);
  EXPECT_EQ(3u, fault->second.call);
  EXPECT_FALSE(fault->second.always);
  EXPECT_EQ(CUDA_ERROR_OUT_OF_MEMORY, fault->second.error);
  EXPECT_TRUE(settings->faults.find("cuInit")->second.always);
  EXPECT_EQ(500, settings->slowness.at("cuMemcpyAsync").count());
  EXPECT_EQ(20u, settings->losses.at(1));
}

TEST(SettingsTest, IsTwoCardsOfOneGibibyteWithoutText) {
  std::string complaint;
  const auto settings = parse_settings("", complaint);
  ASSERT_TRUE(settings);
  EXPECT_EQ(2, settings->devices);
  EXPECT_EQ(std::size_t{1} << 30, settings->memory_bytes);
  EXPECT_TRUE(settings->peer && settings->vmm && settings->hint);
}

TEST(SettingsTest, RefusesWhatItCannotRead) {
  for (const char* text :
       {"devices", "devices=65", "devices=x", "memory=1", "memory=0MiB", "vmm=2", "colour=red", "fail=cuInit",
        "fail=cuInit@0:CUDA_ERROR_NO_DEVICE", "fail=cuInit@1:NONSENSE", "fail=init@1:CUDA_ERROR_NO_DEVICE",
        "slow=cuInit:5ms", "lose=0", "lose=0@0", "fail=cuInit@1:CUDA_SUCCESS"}) {
    std::string complaint;
    EXPECT_FALSE(parse_settings(text, complaint)) << text;
    EXPECT_NE(std::string::npos, complaint.find(text)) << complaint;
  }
}

}  // namespace
}  // namespace standin
