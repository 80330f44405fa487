// available_cpus_test -- control groups of both versions, from given files, as containers and hosts show them.
#include "faio/scheduler/available_cpus.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace faio::scheduler {
namespace {

namespace fs = std::filesystem;

/// A little machine in a folder: mountinfo, membership and group folders.
class AvailableCpus : public testing::Test {
 protected:
  AvailableCpus() : _folder(fs::path(testing::TempDir()) / ("faio_cpus_" + std::to_string(::getpid()))) {
    fs::create_directories(_folder);
    write("mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n");
    write("cgroup", "");
  }
  ~AvailableCpus() override { fs::remove_all(_folder); }

  void write(const fs::path& name, const std::string& text) {
    fs::create_directories((_folder / name).parent_path());
    std::ofstream(_folder / name) << text;
  }
  void mount_v2(const std::string& root, const std::string& folder) {
    write("mountinfo", "22 1 0:20 / /proc rw - proc proc rw\n30 22 0:26 " + root + " " + (_folder / folder).string() +
                           " rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void mount_v1(const std::string& root, const std::string& folder) {
    write("mountinfo", "31 22 0:27 / /elsewhere rw - cgroup cgroup rw,memory\n30 22 0:26 " + root + " " +
                           (_folder / folder).string() + " rw,nosuid - cgroup cgroup rw,cpu,cpuacct\n");
  }
  cgroup_files files() const { return {_folder / "cgroup", _folder / "mountinfo"}; }

 private:
  fs::path _folder;
};

TEST_F(AvailableCpus, HasNoQuotaWhereNothingLimitsIt) {
  EXPECT_EQ(cpu_quota(files()), std::nullopt);
  EXPECT_GE(available_cpus(files()), 1U);
}

TEST_F(AvailableCpus, HasNoQuotaWhereTheFilesAreMissing) {
  EXPECT_EQ(cpu_quota({"/nonexistent/cgroup", "/nonexistent/mountinfo"}), std::nullopt);
  EXPECT_GE(available_cpus({"/nonexistent/cgroup", "/nonexistent/mountinfo"}), 1U);
}

TEST_F(AvailableCpus, ReadsTheQuotaOfVersion2) {
  mount_v2("/", "groups");
  write("cgroup", "0::/user.slice/app\n");
  write("groups/user.slice/app/cpu.max", "150000 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(files()).value(), 1.5);
}

TEST_F(AvailableCpus, TakesTheTightestGroupUpToTheRoot) {
  mount_v2("/", "groups");
  write("cgroup", "0::/a/b/c\n");
  write("groups/a/cpu.max", "50000 100000\n");
  write("groups/a/b/cpu.max", "max 100000\n");
  write("groups/a/b/c/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(files()).value(), 0.5);
  EXPECT_EQ(available_cpus(files()), 1U) << "half a processor is one worker";
}

TEST_F(AvailableCpus, KnowsThatMaxIsNoLimit) {
  mount_v2("/", "groups");
  write("cgroup", "0::/app\n");
  write("groups/app/cpu.max", "max 100000\n");
  EXPECT_EQ(cpu_quota(files()), std::nullopt);
}

TEST_F(AvailableCpus, SeesAContainersOwnGroupAsTheRootOfItsMount) {
  mount_v2("/", "groups");
  write("cgroup", "0::/\n");
  write("groups/cpu.max", "200000 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(files()).value(), 2);
}

TEST_F(AvailableCpus, LooksAtTheMountItselfWhenItsMembershipIsToldFromOutside) {
  mount_v1("/docker/1234", "groups");
  write("cgroup", "4:cpu,cpuacct:/docker/1234\n1:name=systemd:/docker/1234\n");
  write("groups/cpu.cfs_quota_us", "100000\n");
  write("groups/cpu.cfs_period_us", "50000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(files()).value(), 2);

  mount_v1("/docker/5678", "groups");  // not even the same group
  EXPECT_DOUBLE_EQ(cpu_quota(files()).value(), 2);
}

TEST_F(AvailableCpus, ReadsTheQuotaOfVersion1) {
  mount_v1("/", "groups");
  write("cgroup", "5:cpuset:/other\n4:cpu,cpuacct:/app\n0::/unrelated\n");
  write("groups/cpu.cfs_quota_us", "-1\n");
  write("groups/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(files()), std::nullopt) << "-1 is no limit";
  write("groups/app/cpu.cfs_quota_us", "250000\n");
  write("groups/app/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(files()).value(), 2.5);
}

TEST_F(AvailableCpus, DoesNotTakeCpusetForCpu) {
  mount_v1("/", "groups");
  write("cgroup", "5:cpuset:/app\n");
  write("groups/app/cpu.cfs_quota_us", "250000\n");
  write("groups/app/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cpu_quota(files()), std::nullopt);
}

TEST_F(AvailableCpus, IsOneForAThreadThatIsBoundToOneProcessor) {
  std::thread([this] {
    cpu_set_t now;
    ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; ++i) {
      if (CPU_ISSET(i, &now)) {
        CPU_SET(i, &one);
        break;
      }
    }
    ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(available_cpus(files()), 1U);
  }).join();
}

}  // namespace
}  // namespace faio::scheduler
