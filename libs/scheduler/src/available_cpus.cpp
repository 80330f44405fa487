// available_cpus -- reads /proc/self/cgroup, finds the groups' folders by the mount table, and walks up to the root.
#include "faio/scheduler/available_cpus.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace faio::scheduler {
namespace {

namespace fs = std::filesystem;

/// A mounted hierarchy: `root` is the group that its folder shows, which need not be the root of all groups.
struct mount {
  std::string root;
  fs::path folder;
  bool version2;
};

bool has_word(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string each; std::getline(words, each, ',');) {
    if (each == word) return true;
  }
  return false;
}

/// Lines of mountinfo: id parent device root folder options... - type source super-options
std::vector<mount> find_mounts(const fs::path& table) {
  std::vector<mount> found;
  std::ifstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash));
    std::istringstream after(line.substr(dash + 3));
    std::string id, parent, device, root, folder, type, source, options;
    before >> id >> parent >> device >> root >> folder;
    after >> type >> source >> options;
    if (type == "cgroup2") found.push_back({root, folder, true});
    if (type == "cgroup" && has_word(options, "cpu")) found.push_back({root, folder, false});
  }
  return found;
}

/// The limit that one group sets for itself: version 2 "50000 100000" or "max 100000" in cpu.max, version 1 two files.
std::optional<double> quota_of(const fs::path& group, bool version2) {
  double quota = 0;
  double period = 0;
  if (version2) {
    std::ifstream file(group / "cpu.max");
    if (!(file >> quota >> period)) return std::nullopt;  // "max" is no number
  } else {
    std::ifstream quota_file(group / "cpu.cfs_quota_us");
    std::ifstream period_file(group / "cpu.cfs_period_us");
    if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  }
  if (quota <= 0 || period <= 0) return std::nullopt;  // version 1 says -1 for no limit
  return quota / period;
}

/// The tightest limit from the group at `path` up to the root of the mount.
std::optional<double> tightest(const mount& where, const std::string& path) {
  // A container may see its own group as the root of the mount while its membership is told from outside: then only the
  // mount's own folder is there to look at.
  fs::path inside = fs::path(path).lexically_relative(where.root);
  if (inside.empty() || *inside.begin() == "..") inside = ".";
  std::optional<double> least;
  for (;;) {
    if (const auto quota = quota_of(where.folder / inside, where.version2))
      least = std::min(least.value_or(*quota), *quota);
    if (inside == "." || inside.empty()) return least;
    inside = inside.parent_path();
  }
}

}  // namespace

std::optional<double> cpu_quota(const cgroup_files& files) {
  const auto mounts = find_mounts(files.mounts);
  std::optional<double> least;
  std::ifstream lines(files.membership);
  // hierarchy:controllers:path, where version 2 is hierarchy 0 without controllers.
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool version2 = controllers.empty();
    if (!version2 && !has_word(controllers, "cpu")) continue;
    for (const mount& each : mounts) {
      if (each.version2 != version2) continue;
      if (const auto quota = tightest(each, line.substr(second + 1))) least = std::min(least.value_or(*quota), *quota);
    }
  }
  return least;
}

std::size_t available_cpus(const cgroup_files& files) {
  std::size_t count = std::thread::hardware_concurrency();
  // As large as it takes: the kernel refuses a set smaller than its own.
  for (int processors = 1024; processors <= 1 << 20; processors *= 2) {
    cpu_set_t* const set = CPU_ALLOC(static_cast<std::size_t>(processors));
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(processors));
    const bool told = set != nullptr && ::sched_getaffinity(0, size, set) == 0;
    if (told) count = static_cast<std::size_t>(CPU_COUNT_S(size, set));
    CPU_FREE(set);
    if (told) break;
  }
  if (const auto quota = cpu_quota(files)) count = std::min(count, static_cast<std::size_t>(std::ceil(*quota)));
  return std::max<std::size_t>(count, 1);
}

}  // namespace faio::scheduler
