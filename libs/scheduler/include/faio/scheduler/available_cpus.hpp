// available_cpus -- how many processors this process may really use: its affinity and the quota of its container.
//
// A host with 64 processors that gives a container two of them still shows 64. Workers beyond what the container may use
// only wait for each other: the kernel stops all of them once the quota of a period is used up.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace faio::scheduler {

/// Where the kernel tells; other places for tests.
struct cgroup_files {
  std::filesystem::path membership = "/proc/self/cgroup";
  std::filesystem::path mounts = "/proc/self/mountinfo";
};

/// Any thread. Processors' worth of time that the control groups of this process allow, version 1 and 2, the tightest of all groups from
/// its own up to the root; empty when none of them limits it or the files cannot be read.
///     cpu_quota()  // docker run --cpus 1.5: 1.5    tests/available_cpus_test.cpp
[[nodiscard, gnu::visibility("default")]] std::optional<double> cpu_quota(const cgroup_files& files = {});

/// Any thread. The smaller of affinity and quota, the latter rounded up; at least 1. Files are read on each call.
[[nodiscard, gnu::visibility("default")]] std::size_t available_cpus(const cgroup_files& files = {});

}  // namespace faio::scheduler
