#include "driver/jobs.hpp"

#include <gmock/gmock.h>

#include <algorithm>

namespace nuna::compiler {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

std::vector<Job> jobs(const std::vector<std::string>& arguments, const std::string& nvcc = "") {
  Installation installation;
  installation.nvcc = nvcc;
  installation.self = "/n/bin/nunacc";
  installation.include_folders = {"/n/include"};
  installation.runtime_folder = "/n/lib";
  return plan_jobs(read_command_line(arguments), installation, "/t");
}

template <class T>
const T& at(const std::vector<Job>& all, std::size_t i) {
  return std::get<T>(all.at(i));
}

TEST(Jobs, CompileACudaFileInTwoPassesAndJoinThem) {
  const auto all = jobs({"-c", "-DX", "-O2", "folder/a.cu"});
  ASSERT_THAT(all, SizeIs(1));
  const auto& job = at<CudaCompilation>(all, 0);
  EXPECT_EQ("a.o", job.object);
  for (const auto* pass : {&job.device_pass, &job.host_pass}) {
    EXPECT_THAT(pass->words, Contains("-DX"));
    EXPECT_THAT(pass->words, Contains("folder/a.cu"));
  }
  EXPECT_THAT(job.host_pass.words, Contains("-O2"));
  EXPECT_THAT(job.device_pass.words, Not(Contains("-O2")));
  EXPECT_THAT(job.device_pass.words, Contains("-ffp-contract=off"));
  EXPECT_THAT(job.join.words, Contains(job.host_object));
  EXPECT_THAT(job.join.words, Contains(job.device.object));
  EXPECT_EQ("nuna:" + job.device.id, job.blob_text);
}

TEST(Jobs, CodeOfFilesAndOfDeviceLinksTellsTheAudit) {
  const auto all = jobs({"--audit", "a.cu", "-o", "program"});
  EXPECT_TRUE(at<CudaCompilation>(all, 0).device.audit);
  EXPECT_TRUE(at<DeviceLink>(all, 1).device.audit);
  EXPECT_FALSE(at<CudaCompilation>(jobs({"-c", "a.cu"}), 0).device.audit);
}

TEST(Jobs, PassesOfDeviceObjectsAgreeOnWhatIsStatic) {
  const auto all = jobs({"-rdc=true", "-c", "a.cu"});
  const auto& job = at<CudaCompilation>(all, 0);
  auto unit = [](const Command& pass) {
    const auto found = std::find_if(pass.words.begin(), pass.words.end(),
                                    [](const std::string& word) { return word.rfind("-cuid=", 0) == 0; });
    return found != pass.words.end() ? *found : "none";
  };
  EXPECT_NE("none", unit(job.host_pass));
  EXPECT_EQ(unit(job.device_pass), unit(job.host_pass));
}

TEST(Jobs, RefuseFilesOfUnknownKinds) {
  EXPECT_THAT([] { jobs({"a.cu", "b.txt"}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("b.txt: a file of this kind is not compiled")));
}

TEST(Jobs, TellImagesOfEquallyNamedFilesApart) {
  const auto one = jobs({"-c", "x/a.cu", "-o", "x/a.o"});
  const auto other = jobs({"-c", "y/a.cu", "-o", "y/a.o"});
  EXPECT_NE(at<CudaCompilation>(one, 0).device.id, at<CudaCompilation>(other, 0).device.id);
}

TEST(Jobs, LinkDeviceCodeOfAllFilesBeforeTheProgram) {
  const auto all = jobs({"-rdc=true", "a.cu", "b.o", "-o", "program", "-L", "libs", "-lparts"});
  ASSERT_THAT(all, SizeIs(3));
  EXPECT_TRUE(at<CudaCompilation>(all, 0).device_object);
  const auto& device = at<DeviceLink>(all, 1);
  EXPECT_THAT(device.from, ElementsAre(at<CudaCompilation>(all, 0).object, "b.o", "libs/libparts.a"));
  EXPECT_FALSE(device.required);
  const auto& program = at<HostLink>(all, 2);
  EXPECT_EQ(device.object, program.device_link);
  EXPECT_THAT(program.command.words, Contains("-lnuna_cudart"));
}

TEST(Jobs, ExplainWithoutCompiling) {
  const auto all = jobs({"--explain", "-DX", "-c", "--explain", "a.cu", "b.cpp", "c.cu"});
  ASSERT_THAT(all, SizeIs(2));
  const auto& job = at<Explanation>(all, 0);
  EXPECT_EQ("a.cu", job.source);
  EXPECT_THAT(job.device_pass.words, Contains("-DX"));
  EXPECT_THAT(job.device_pass.words, Contains(job.device.bitcode.at(0)));
  EXPECT_NE(job.device.bitcode, at<Explanation>(all, 1).device.bitcode);
  EXPECT_THAT([] { jobs({"--explain", "b.cpp"}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("no CUDA source")));
}

TEST(Jobs, CompileBesidesWritingModels) {
  EXPECT_EQ("m.json", read_command_line({"--model", "m.json", "a.cu"}).model);
  EXPECT_THAT(jobs({"--model=m.json", "-c", "a.cu"}), SizeIs(1));
}

TEST(Jobs, TakeWhatNvccTakesWithAWarning) {
  EXPECT_THAT(at<CudaCompilation>(jobs({"-c", "a.cu"}), 0).host_pass.words,
              Contains("-Wno-error=c++11-narrowing"));
  EXPECT_THAT(at<Command>(jobs({"-c", "a.c"}), 0).words, Contains("-Wno-error=implicit-int"));
  EXPECT_THAT(at<Command>(jobs({"-c", "a.c"}), 0).words, Not(Contains("-Wno-error=register")));
}

TEST(Jobs, HaveNvccMakePtxOfTheOldestGpuThatIsAskedFor) {
  const auto all = jobs({"-c", "-DX", "-std=c++17", "-gencode=arch=compute_90,code=sm_90", "-gencode",
                         "arch=compute_80,code=[sm_80,sm_86]", "a.cu"},
                        "/c/bin/nvcc");
  const auto& job = at<CudaCompilation>(all, 0);
  EXPECT_THAT(job.ptx_pass.words, testing::IsSupersetOf({"/c/bin/nvcc", "-ptx", "-arch=compute_80", "-DX",
                                                         "-std=c++17", "a.cu"}));
  EXPECT_EQ(job.ptx_pass.words.back(), job.device.ptx);
}

TEST(Jobs, HaveNvccMakePtxOfTheCodeThatModelsAreOfWhereNoGpuIsAskedFor) {
  const auto all = jobs({"-c", "a.cu"}, "nvcc");
  EXPECT_THAT(at<CudaCompilation>(all, 0).ptx_pass.words, testing::Contains("-arch=compute_80"));
}

TEST(Jobs, MakePtxOnlyWhereItCanBe) {
  for (const auto& all :
       {jobs({"-c", "a.cu"}), jobs({"-c", "--ptx=off", "a.cu"}, "nvcc"), jobs({"-dc", "a.cu"}, "nvcc")}) {
    EXPECT_THAT(at<CudaCompilation>(all, 0).ptx_pass.words, testing::IsEmpty());
    EXPECT_EQ("", at<CudaCompilation>(all, 0).device.ptx);
  }
}

TEST(Jobs, LeaveTheRuntimeOutWhereThatIsAskedFor) {
  const auto all = jobs({"-cudart", "none", "a.o", "-o", "program"});
  EXPECT_THAT(at<HostLink>(all, 1).command.words, Not(Contains("-lnuna_cudart")));
}

TEST(Jobs, NameTheObjectInDependencies) {
  const auto all = jobs({"-c", "-MD", "a.cu", "-o", "out/a.o"});
  EXPECT_THAT(at<CudaCompilation>(all, 0).host_pass.words, Contains("out/a.o"));
  EXPECT_THAT(at<CudaCompilation>(all, 0).host_pass.words, Contains("out/a.d"));
  EXPECT_THAT(at<CudaCompilation>(all, 0).device_pass.words, Not(Contains("-MD")));
}

TEST(Jobs, RefuseWhatMakesNoSense) {
  auto planning = [](std::vector<std::string> arguments) { return [arguments] { jobs(arguments); }; };
  EXPECT_THAT(planning({"-O3"}), ThrowsMessage<std::runtime_error>(HasSubstr("no input files")));
  EXPECT_THAT(planning({"-c", "a.cu", "b.cu", "-o", "x.o"}),
              ThrowsMessage<std::runtime_error>(HasSubstr("-o names one file")));
  EXPECT_THAT(planning({"-c", "a.o"}), ThrowsMessage<std::runtime_error>(HasSubstr("no source file")));
  EXPECT_THAT(planning({"-ptx", "a.cu"}), ThrowsMessage<std::runtime_error>(HasSubstr("nvcc -ptx")));
}

}  // namespace
}  // namespace nuna::compiler
