// SPDX-License-Identifier: Apache-2.0
// Opens the output files before any work, then rewrites them after every group of rows.
#include "results.hpp"

#include <utility>

#include "kernels/base/output_file.hpp"

namespace sfft::apps {

Results::Results(RunContext context, std::string json, std::string csv, bool quiet)
    : context_(std::move(context)), json_(std::move(json)), csv_(std::move(csv)), table_(quiet) {
  for (const std::string* path : {&json_, &csv_}) {
    if (!path->empty()) const detail::OutputFile refused_before_the_work(*path);
  }
}

void Results::add(const std::vector<Row>& group, bool shown) {
  if (group.empty()) return;
  if (shown) table_.print(group);
  rows_.insert(rows_.end(), group.begin(), group.end());
  write();
}

void Results::finish(const std::string& status) {
  context_.status = status;
  if (!rows_.empty() || status == "complete") write();
}

void Results::write() const {
  if (!json_.empty()) detail::write_whole(json_, json_text(context_, rows_));
  if (!csv_.empty()) detail::write_whole(csv_, csv_text(rows_));
}

}  // namespace sfft::apps
