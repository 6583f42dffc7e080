// SPDX-License-Identifier: Apache-2.0
// main() of a program that contains the tests of several files (SFFT_JOIN_TESTS). A link to the program that
// has the name of one of these files runs the tests of this file.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

/// The tests of one suite that are in a file, and filter patterns for the others.
struct Selection {
  int count = 0;
  std::string others;  // a colon follows each pattern
};

/// The names of programs from tests/video begin with "video_", those of the files do not.
bool is_in(const testing::TestInfo& test, const std::string& program) {
  const std::string stem = fs::path(test.file()).stem().string();
  return program == stem || program == "video_" + stem;
}

/// Checks that exactly one link runs each test: it is in a test file, not in a header, and no other file has
/// a test of the same name.
bool every_test_has_a_link(const testing::UnitTest& all) {
  std::set<std::string> names;
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      const std::string name = std::string(suite.name()) + "." + test.name();
      if (!test.file() || !std::string_view(test.file()).ends_with("_test.cpp")) {
        std::fprintf(stderr, "%s is in no file that ends in _test.cpp, so no link runs it\n", name.c_str());
        return false;
      }
      if (!names.insert(name).second) {
        std::fprintf(stderr, "two files of this program have a test %s\n", name.c_str());
        return false;
      }
    }
  }
  return true;
}

Selection select(const testing::TestSuite& suite, const std::string& program) {
  Selection result;
  for (int i = 0; i < suite.total_test_count(); ++i) {
    const testing::TestInfo& test = *suite.GetTestInfo(i);
    if (is_in(test, program)) {
      ++result.count;
    } else {
      result.others += std::string(suite.name()) + "." + test.name() + ":";
    }
  }
  if (result.count == 0) {
    result.others = std::string(suite.name()) + ".*:";
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  if (!every_test_has_a_link(all)) {
    return 1;
  }

  const std::string program = fs::path(argv[0]).filename().string();
  if (!program.ends_with("_tests")) {  // the program itself runs all
    Selection selection;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
      const Selection found = select(*all.GetTestSuite(i), program);
      selection.count += found.count;
      selection.others += found.others;
    }
    if (selection.count == 0) {
      std::fprintf(stderr, "%s: this program contains no test of a file with this name\n", program.c_str());
      return 1;
    }
    std::string& filter = testing::GTEST_FLAG(filter);
    filter += (filter.find('-') == std::string::npos ? "-" : ":") + selection.others;
  }
  return RUN_ALL_TESTS();
}
