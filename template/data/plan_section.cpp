// SPDX-License-Identifier: Apache-2.0
// Each section has a kind, a version, a length and a checksum, so that damaged or newer sections can be
// skipped. Every plan is checked before it is trusted.
#include "template/data/template_file.hpp"

#include <fmt/format.h>

#include <utility>

namespace sfft::detail {

namespace {

constexpr std::uint32_t kPlans = 1, kPlansVersion = 1;
constexpr std::uint32_t kMaxPlans = 64;
enum PlanFlag : std::uint32_t {
  kSingle = 1,
  kFromReference = 2,
  kFullPeriod = 4,
  kPageLocked = 8,
  kBursts = 16,  ///< two more numbers at the end; older libraries reject such plans
  kKnownPlanFlags = 31
};

void put_plan(ByteWriter& writer, const KeptPlan& plan) {
  const PlanKey& key = plan.key;
  writer.put((key.single ? kSingle : 0u) | (key.reference ? kFromReference : 0u) |
             (plan.full_period ? kFullPeriod : 0u) | (key.page_locked_frames ? kPageLocked : 0u) |
             (key.burst > 0 ? kBursts : 0u));
  writer.put(static_cast<std::uint32_t>(key.backend));
  writer.put(static_cast<std::uint32_t>(key.path));
  writer.put(static_cast<std::uint32_t>(plan.path));
  writer.put(static_cast<std::uint32_t>(key.effort));
  writer.put_text(key.library);
  writer.put_text(key.device);
  writer.put(key.accuracy);
  writer.put(key.max_samples);
  writer.put(key.batch);
  writer.put(key.seed);
  writer.put(plan.predicted_us);
  writer.put(plan.buckets);
  writer.put(plan.sigma);
  writer.put(static_cast<std::uint32_t>(plan.delays.size()));
  writer.put_array(plan.delays.data(), plan.delays.size());
  if (key.burst > 0) {
    writer.put(key.burst);
    writer.put(key.burst_miss);
  }
}

/// Reads an enumerator; `last` is the largest valid number.
template <class Enum>
Enum get_enum(ByteReader& reader, Enum last) {
  const auto value = reader.get<std::uint32_t>();
  if (value > static_cast<std::uint32_t>(last))
    reader.damaged("a plan in it has an unknown backend, path or effort");
  return static_cast<Enum>(value);
}

KeptPlan get_plan(ByteReader& reader) {
  KeptPlan plan;
  const auto flags = reader.get<std::uint32_t>();
  if ((flags & ~kKnownPlanFlags) != 0) reader.damaged("a plan in it has unknown flags");
  plan.key.single = (flags & kSingle) != 0;
  plan.key.reference = (flags & kFromReference) != 0;
  plan.full_period = (flags & kFullPeriod) != 0;
  plan.key.page_locked_frames = (flags & kPageLocked) != 0;
  plan.key.backend = get_enum(reader, Backend::cuda);
  plan.key.path = get_enum(reader, Path::dense);
  plan.path = get_enum(reader, Path::dense);
  plan.key.effort = get_enum(reader, PlanEffort::thorough);
  plan.key.library = reader.get_text();
  plan.key.device = reader.get_text();
  plan.key.accuracy = reader.get<double>();
  plan.key.max_samples = reader.get<double>();
  plan.key.batch = reader.get<std::int64_t>();
  plan.key.seed = reader.get<std::uint64_t>();
  plan.predicted_us = reader.get<double>();
  plan.buckets = reader.get<std::array<std::int64_t, 3>>();
  plan.sigma = reader.get<std::array<std::int64_t, 3>>();
  plan.delays = reader.get_vector<std::array<std::int64_t, 3>>(reader.get<std::uint32_t>());
  if ((flags & kBursts) != 0) {
    plan.key.burst = reader.get<double>();
    plan.key.burst_miss = reader.get<double>();
    if (!(plan.key.burst > 0)) reader.damaged("a plan in it looks for bursts of no length");
  }
  return plan;
}

std::vector<KeptPlan> get_plans(ByteReader reader, std::uint64_t template_checksum, const Shape& shape) {
  if (reader.get<std::uint64_t>() != template_checksum) reader.damaged("it belongs to another template");
  const auto count = reader.get<std::uint32_t>();
  if (count > kMaxPlans) reader.damaged(fmt::format("it says that it holds {} plans", count));
  std::vector<KeptPlan> plans;
  for (std::uint32_t i = 0; i < count; ++i) {
    plans.push_back(get_plan(reader));
    const std::string why = impossible(plans.back(), shape);
    if (!why.empty()) reader.damaged(fmt::format("a plan in it is impossible: {}", why));
  }
  if (!reader.at_end()) reader.damaged("there is more in it than its header says");
  return plans;
}

/// Reads one section and advances past it; returns what is wrong with its contents, or nothing.
std::string read_section(ByteReader& reader, std::uint64_t template_checksum, TemplateData& data) {
  const char* const start = reader.at();
  const auto kind = reader.get<std::uint32_t>();
  const auto version = reader.get<std::uint32_t>();
  const auto bytes = reader.get<std::uint64_t>();
  const char* const payload = reader.at();
  reader.skip(bytes);
  const auto covered = static_cast<std::size_t>(reader.at() - start);
  if (reader.get<std::uint64_t>() != Checksum::of(start, covered)) return "its checksum does not match";
  if (kind != kPlans) return fmt::format("this library knows no section of kind {}", kind);
  if (version != kPlansVersion)
    return fmt::format("it has format version {}, this library reads {}", version, kPlansVersion);
  try {
    data.plans = get_plans(ByteReader(payload, bytes), template_checksum, data.shape);
  } catch (const DamagedBytes& damage) {
    return damage.why;
  }
  return "";
}

}  // namespace

void put_plans(ByteWriter& writer, const TemplateData& data, std::uint64_t template_checksum) {
  ByteWriter payload;
  payload.put(template_checksum);
  payload.put(static_cast<std::uint32_t>(data.plans.size()));
  for (const KeptPlan& plan : data.plans) put_plan(payload, plan);
  const std::size_t start = writer.bytes().size();
  writer.put(kPlans);
  writer.put(kPlansVersion);
  writer.put(static_cast<std::uint64_t>(payload.bytes().size()));
  writer.put_array(payload.bytes().data(), payload.bytes().size());
  writer.put_checksum(start);
}

void read_sections(std::span<const char> sections, std::uint64_t template_checksum, TemplateData& data) {
  ByteReader reader(sections.data(), sections.size());
  const auto note = [&](const std::string& why) {
    if (data.plans_problem.empty()) data.plans_problem = why;
  };
  try {
    while (!reader.at_end()) {
      const std::string why = read_section(reader, template_checksum, data);
      if (!why.empty()) note(fmt::format("a section behind the template is ignored: {}", why));
    }
  } catch (const DamagedBytes& damage) {
    note(fmt::format("a section behind the template is ignored: {}", damage.why));
  }
}

}  // namespace sfft::detail
