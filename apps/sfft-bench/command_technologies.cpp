// SPDX-License-Identifier: Apache-2.0
// The subcommand technologies runs one FFT in every technology, and shows which ones are available and
// correct, and how fast they are.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/environment.hpp"
#include "bench/technologies/isolation.hpp"
#include "bench/technologies/kernel_sources.hpp"
#include "commands.hpp"
#include "kernels/runtime/output_file.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "run_control.hpp"
#include "setting.hpp"
#include "sfft/sfft.hpp"
#include "sfft_commit.hpp"

namespace sfft::apps {

namespace {

using Json = nlohmann::ordered_json;
namespace tech = sfft::technologies;

std::vector<tech::Problem> problems_of(const TechnologyOptions& options, bool quick) {
  const auto or_default = [quick](int given, int usual, int small) {
    return given > 0 ? given : quick ? small : usual;
  };
  std::vector<tech::Problem> problems;
  const int bits = or_default(options.bits_to, 26, 14);
  for (int b = options.bits_from; b <= bits; ++b) problems.push_back({b, 1, 1, false});
  const int bits_2d = or_default(options.bits_2d_to, 13, 7);
  for (int b = 6; b <= bits_2d; ++b) problems.push_back({b, 2, 1, false});
  const int batch = or_default(options.batch_bits, 24, 16);
  for (int b = 6; b <= 14 && b < batch; b += 2)
    problems.push_back({b, 1, std::int64_t{1} << (batch - b), false});
  if (problems.empty()) {
    throw Error(ErrorCode::invalid_argument,
                "no size is left: --from-bits is above --bits, and neither 2D nor batches");
  }
  return problems;
}

std::vector<tech::Entry> entries_of(const std::vector<std::string>& only) {
  std::vector<tech::Entry> all = tech::all_technologies();
  std::vector<std::string> names;
  for (const tech::Entry& entry : all) names.push_back(entry.name);
  std::vector<tech::Entry> chosen;
  for (const std::size_t i : selected(names, only)) {
    // The emulation only tests the kernels, so it runs only if named.
    if (!only.empty() || all[i].name != "emulation") chosen.push_back(all[i]);
  }
  return chosen;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "-";
  const auto number = value.get<double>();
  return number < 100 ? fmt::format("{:.2f}", number) : fmt::format("{:.0f}", number);
}

class Report {
 public:
  Report(const RunContext& context, const CommonOptions& common) : json_(common.json), quiet_(common.quiet) {
    if (!json_.empty()) const detail::OutputFile refused_before_the_work(json_);
    all_ = {{"schema", "sfft-technologies/1"},
            {"command", context.command},
            {"quick", context.quick},
            {"status", "running"},
            {"commit", SFFT_COMMIT},
            {"sfft", ""},
            {"processor", bench::processor()},
            {"technologies", Json::array()},
            {"rows", Json::array()}};
  }
  void facts(const Json& facts) {
    all_["technologies"].push_back(facts);
    if (quiet_) return;
    const auto reason = facts["skipped"].get<std::string>();
    const auto name = facts["technology"].get<std::string>();
    if (!reason.empty()) {
      fmt::print("\n{}: {}\n", name, reason);
    } else {
      fmt::print("\n{} on {} ({})\n  {:<16} {:>7} {:>5} {:>12} {:>12} {:>12} {:>10}\n", name,
                 facts["device"].get<std::string>(), facts["driver"].get<std::string>(), "", "threads",
                 "tile", "device us", "wall us", "submit us", "rel. L2");
    }
  }
  void row(const Json& row) {
    all_["rows"].push_back(row);
    const bool skipped = !row["skipped"].get<std::string>().empty();
    const bool wrong = !skipped && !row["passed"].get<bool>();
    if (row.value("kind", "") == "sincos") {
      if (!skipped) ++rows_;
    } else if (wrong) {
      ++wrong_;
    } else if (!skipped) {
      ++rows_;
    }
    if (quiet_ || (row.value("kind", "") == "sweep" && !wrong)) return;
    const auto problem = row["problem"].get<std::string>();
    const auto kind = row.value("kind", "");
    const std::string label = kind == "time" ? problem : problem + " " + kind;
    if (skipped) {
      fmt::print("  {:<16} {}\n", label, row["skipped"].get<std::string>());
      return;
    }
    const auto whole = [&](const char* key) {
      return row[key].is_null() ? std::string("-") : std::to_string(row[key].get<int>());
    };
    fmt::print("  {:<16} {:>7} {:>5} {:>12} {:>12} {:>12} {:>10}{}\n", label, whole("threads"), whole("tile"),
               text_of(row["device_us"]), text_of(row["wall_us"]), text_of(row["submit_us"]),
               row["relative_l2"].is_null() ? "-" : fmt::format("{:.1e}", row["relative_l2"].get<double>()),
               wrong ? "  above its bound" : "");
  }
  void finish(const std::string& status) {
    all_["status"] = status;
    all_["sfft"] = build_info();  // queries the driver; forked processes cannot use it afterwards
    all_["validated"] = rows_ + wrong_;
    all_["failures"] = wrong_;
    write();
    if (!quiet_) fmt::print("\n{} rows validated, {} above their bound\n", rows_ + wrong_, wrong_);
  }
  void write() const {
    if (!json_.empty())
      detail::write_whole(json_, all_.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  bool right() const { return wrong_ == 0; }

 private:
  std::string json_;
  bool quiet_;
  Json all_;
  int rows_ = 0, wrong_ = 0;
};

void measure_all(const TechnologyOptions& options, const CommonOptions& common, Report& report) {
  const std::vector<tech::Problem> problems = problems_of(options, common.quick);
  const std::vector<tech::Entry> entries = entries_of(options.only);
  // The largest problem needs four arrays on the CPU, plus the references.
  std::int64_t points = 0;
  for (const tech::Problem& problem : problems) points = std::max(points, problem.points());
  require_memory(tech::Material::bytes(problems) + 4 * 8 * points, "the largest of these problems");
  tech::Course course = tech::make_course(problems, common.quick);
  if (!options.threads.empty()) course.threads = options.threads;
  if (!options.tiles.empty()) course.tiles = options.tiles;
  course.all_devices = options.all_devices;
  tech::keep_code_in(options.keep_code);

  ProgressBar progress(static_cast<int>(entries.size()) + 1, common.quiet);
  tech::Sink sink;
  sink.doing = [&](const std::string& what) { progress.show(what); };
  sink.facts = [&](const Json& facts) {
    progress.clear();
    report.facts(facts);
  };
  sink.row = [&](const Json& row) {
    progress.clear();
    report.row(row);
  };
  sink.poll = [] { check_interrupt(); };

  tech::Material material(problems);
  tech::fill_material(material, options.patience_seconds, sink);
  progress.step();
  for (const tech::Entry& entry : entries) {
    check_interrupt();
    std::fflush(stdout);  // otherwise the child would print it again
    tech::run_isolated(entry, material, course, options.patience_seconds, sink);
    progress.step();
    report.write();
  }
}

}  // namespace

bool run_technologies(const TechnologyOptions& options, const CommonOptions& common,
                      const RunContext& context) {
  Report report(context, common);
  try {
    measure_all(options, common, report);
  } catch (const std::exception& error) {
    report.finish(error.what());
    throw;
  }
  report.finish("complete");
  return report.right();
}

}  // namespace sfft::apps
