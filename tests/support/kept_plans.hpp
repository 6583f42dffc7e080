// SPDX-License-Identifier: Apache-2.0
// Compares plans that were saved in a template file with those that the planner finds.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "sfft/plan.hpp"
#include "sfft/template_access.hpp"
#include "template/data/template_file.hpp"

namespace sfft::test {

inline std::vector<char> bytes_of(const Template& tmpl) {
  return detail::template_bytes(*detail::data_of(tmpl));
}

inline Template parsed(const std::vector<char>& bytes) {
  return detail::make_template(
      std::make_shared<const detail::TemplateData>(detail::parse_template(bytes, "test")));
}

/// Where the sections of a file of version 2 begin, by its documented header.
inline std::size_t sections_at(const std::vector<char>& bytes) {
  std::uint64_t end = 0;
  std::memcpy(&end, bytes.data() + 12, sizeof end);
  return end;
}

template <class Real>
void expect_same_bits(const Spectrum<Real>& a, const Spectrum<Real>& b) {
  EXPECT_EQ(*a.support, *b.support);
  EXPECT_EQ(a.values, b.values);
  EXPECT_EQ(a.standard_error, b.standard_error);
  EXPECT_EQ(a.quality.error_l2, b.quality.error_l2);
  EXPECT_EQ(a.quality.relative_error, b.quality.relative_error);
  EXPECT_EQ(a.quality.tail_energy, b.quality.tail_energy);
  EXPECT_EQ(a.quality.residual, b.quality.residual);
}

inline void expect_same_plan(const PlanInfo& a, const PlanInfo& b) {
  EXPECT_EQ(a.path, b.path);
  EXPECT_EQ(a.backend, b.backend);
  EXPECT_EQ(a.buckets, b.buckets);
  EXPECT_EQ(a.delays, b.delays);
  EXPECT_EQ(a.samples, b.samples);
  EXPECT_EQ(a.witness_samples, b.witness_samples);
  EXPECT_EQ(a.shortest_burst, b.shortest_burst);
  EXPECT_EQ(a.burst_miss, b.burst_miss);
  EXPECT_EQ(a.reference, b.reference);
  EXPECT_EQ(a.predicted_us, b.predicted_us);
  EXPECT_NEAR(a.predicted_error, b.predicted_error, 1e-6 * b.predicted_error);
  EXPECT_NEAR(a.noise_gain, b.noise_gain, 1e-6 * b.noise_gain);
}

}  // namespace sfft::test
