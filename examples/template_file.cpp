// SPDX-License-Identifier: Apache-2.0
// Template::save(), load() and from_support(), Plan::keep_in(): templates outlive the process that learned
// them, and so do their plans.
#include <complex>
#include <cstdio>
#include <string>
#include <vector>

#include "sfft/sfft.hpp"

int main(int count, char** arguments) {
  const std::string path = count > 1 ? arguments[1] : "example.sfft";

  // Known frequencies make a template without a frame to learn from.
  const std::vector<std::int64_t> known{3, 17, 400};
  const sfft::Template tmpl = sfft::Template::from_support(sfft::Shape{1024}, sfft::Domain::complex, known);
  // A plan kept with it needs no second search.
  const sfft::PlanOptions options{.path = sfft::Path::comb};
  const sfft::Plan<float> plan(tmpl, options);
  plan.keep_in(tmpl).save(path);  // an existing file is replaced as a whole or not at all

  const sfft::Template loaded = sfft::Template::load(path);
  std::printf("%s: %lld frequencies of a signal of %s points\n", path.c_str(),
              static_cast<long long>(loaded.k()), loaded.shape().to_string().c_str());
  for (const std::string& kept : loaded.kept_plans()) std::printf("plan kept: %s\n", kept.c_str());
  const bool started_from_it = sfft::Plan<float>(loaded, options).info().kept;

  // Errors are exceptions with a code and a sentence that says what to change.
  bool refused = false;
  try {
    sfft::Template::load(path + ".missing");
  } catch (const sfft::Error& error) {
    std::printf("as expected: %s\n", error.what());
    refused = error.code() == sfft::ErrorCode::file_unreadable;
  }
  std::remove(path.c_str());
  const std::vector<std::int64_t> support(loaded.support().begin(), loaded.support().end());
  return refused && support == known && started_from_it ? 0 : 1;
}
