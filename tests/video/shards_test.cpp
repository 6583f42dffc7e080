// SPDX-License-Identifier: Apache-2.0
// Tests shards: names, ranks from the environment, damaged files, and merging.
#include "video/shards/shard.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "sfft/error.hpp"
#include "video/report/encoding.hpp"
#include "video/report/report.hpp"
#include "video/shards/merge.hpp"
#include "video/shards/shard_file.hpp"

namespace sfft::video::shards_test {
namespace {

namespace fs = std::filesystem;

ErrorCode code_of(const std::function<void()>& action, const std::string& word = "") {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << error.what();
    return error.code();
  }
  ADD_FAILURE() << "no error";
  return ErrorCode::device;
}

EnvironmentLookup environment(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

TEST(Shard, PartsAreCountedFromOne) {
  EXPECT_EQ(parse_shard("2/8"), (Shard{2, 8}));
  EXPECT_EQ(parse_shard("1/1"), (Shard{1, 1}));
  for (const char* text : {"", "/", "1", "0/4", "5/4", "1/0", "-1/4", "1/4/2", "a/b", "1/", "/4", "1 /4",
                           "+1/4", "1/99999999999", "1/100001", "1.0/2"})
    EXPECT_EQ(code_of([&] { parse_shard(text); }), ErrorCode::invalid_argument) << text;
}

TEST(Shard, EveryInputIsHeldOnce) {
  for (const int count : {1, 2, 3, 7, 40}) {
    for (std::size_t input = 0; input < 30; ++input) {
      int holders = 0;
      for (int index = 1; index <= count; ++index) holders += Shard{index, count}.holds(input) ? 1 : 0;
      EXPECT_EQ(holders, 1) << input << " of " << count;
    }
  }
}

TEST(Shard, RanksComeFromTheEnvironment) {
  EXPECT_EQ(shard_from_environment(environment({{"OMPI_COMM_WORLD_RANK", "3"},
                                                {"OMPI_COMM_WORLD_SIZE", "4"},
                                                {"SLURM_PROCID", "0"},
                                                {"SLURM_NTASKS", "1"}})),
            (Shard{4, 4}));
  EXPECT_EQ(shard_from_environment(environment({{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}})), (Shard{1, 2}));
  EXPECT_EQ(shard_from_environment(environment({{"SLURM_PROCID", "6"}, {"SLURM_NTASKS", "16"}})),
            (Shard{7, 16}));
  EXPECT_EQ(code_of([] { shard_from_environment(environment({})); }, "mpirun"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([] {
              shard_from_environment(environment({{"SLURM_PROCID", "0"}}));
            }),
            ErrorCode::invalid_argument);
  for (const auto& [rank, size] :
       std::map<std::string, std::string>{{"4", "4"}, {"-1", "2"}, {"x", "2"}, {"0", "0"}, {"", ""}})
    EXPECT_EQ(code_of([&, rank = rank, size = size] {
                shard_from_environment(environment({{"PMI_RANK", rank}, {"PMI_SIZE", size}}));
              }),
              ErrorCode::invalid_argument)
        << rank << "/" << size;
}

TEST(Shard, NamesSortInOrder) {
  EXPECT_EQ(shard_file_name({2, 16}), "shard-02-of-16.jsonl");
  EXPECT_EQ(shard_file_name({2, 4}), "shard-2-of-4.jsonl");
  EXPECT_TRUE(is_shard_file_name("shard-02-of-16.jsonl"));
  for (const char* name :
       {"shard-02-of-16.json", "shard-a-of-16.jsonl", "shard-.jsonl", "x-shard-1-of-2.jsonl", ""})
    EXPECT_FALSE(is_shard_file_name(name)) << name;
}

class ShardFiles : public testing::Test {
 protected:
  ShardFiles()
      : folder_(fs::temp_directory_path() / ("sfft-shards-" + std::to_string(::getpid()) + "-" +
                                             testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~ShardFiles() override { fs::remove_all(folder_); }

  static ShardRun run(int index, int count, std::size_t inputs = 5) {
    return {{index, count}, {{"version", "1"}, {"k", "100"}}, inputs, 77};
  }
  static ShardRecord record(std::size_t input, RunStatus status = RunStatus::complete) {
    RunReport report;
    report.status = status;
    report.message = status == RunStatus::complete ? "" : "damaged \xff\n\"";
    report.input.path = "file-" + std::to_string(input);
    report.frames_read = static_cast<std::int64_t>(10 + input);
    return {input,          report.input.path,  "stamp", status == RunStatus::complete ? 0 : 3, status,
            report.message, json_report(report)};
  }
  std::string folder() const { return folder_.string(); }
  std::string path(int index, int count) const {
    return (folder_ / shard_file_name({index, count})).string();
  }
  std::string read(const std::string& path) const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  void write(const std::string& path, const std::string& text) const {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  }
  void fill(int index, int count, std::size_t inputs = 5) const {
    ShardFile file(folder(), run(index, count, inputs));
    for (std::size_t input = 0; input < inputs; ++input)
      if (Shard{index, count}.holds(input)) file.add(record(input));
  }

  fs::path folder_;
};

TEST_F(ShardFiles, ResumeKnowsWhatIsFinished) {
  {
    ShardFile file(folder(), run(2, 3));
    file.add(record(1));
    file.add(record(4, RunStatus::input_damaged));
    EXPECT_EQ(code_of([&] { ShardFile(folder(), run(2, 3)); }, "another process"),
              ErrorCode::file_unreadable);
  }
  ShardFile file(folder(), run(2, 3));
  EXPECT_NE(file.finished(1, "stamp"), nullptr);
  EXPECT_EQ(file.finished(1, "other stamp"), nullptr) << "the file has changed";
  EXPECT_EQ(file.finished(4, "stamp"), nullptr) << "it was damaged: it is read again";
  file.add(record(4));
  EXPECT_NE(file.finished(4, "stamp"), nullptr);
  const ShardContents contents = read_shard(file.path());
  EXPECT_EQ(contents.records.size(), 3U);
  EXPECT_FALSE(contents.cut);
}

TEST_F(ShardFiles, EveryTruncationIsWholeLinesOrACutOne) {
  fill(1, 2);
  const std::string whole = read(path(1, 2));
  const auto lines = static_cast<std::size_t>(std::count(whole.begin(), whole.end(), '\n'));
  ASSERT_EQ(lines, 4U);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string text = whole.substr(0, size);
    const ShardContents contents = parse_shard_lines(text, "file");
    const auto complete = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_EQ(contents.headed, complete > 0);
    EXPECT_EQ(contents.records.size(), complete > 0 ? complete - 1 : 0);
    EXPECT_EQ(contents.cut, !text.empty() && text.back() != '\n') << size;
    if (size % 97 != 0) continue;
    write(path(1, 2), text);
    fill(1, 2);  // resumes
    EXPECT_EQ(read_shard(path(1, 2)).whole_bytes, read(path(1, 2)).size());
  }
}

TEST(Shard, NumbersThatAreNotWholeAreRefused) {
  const auto closed = [](const std::string& body) {
    return body + fmt::format(R"(,"crc32":"{:08x}"}})", crc32_of(body)) + "\n";
  };
  const auto head = [&](const std::string& shards, const std::string& inputs) {
    return closed(R"({"schema":"sfft-video-shard/1","shard":1,"shards":)" + shards + R"(,"inputs":)" +
                  inputs + R"(,"inputs_crc32":7,"settings":{})");
  };
  EXPECT_TRUE(parse_shard_lines(head("2", "3"), "file").headed);
  for (const char* number :
       {"20666666666666.66", "1e300", "-1", "4294967298", "99999999999999999999", "\"2\""}) {
    EXPECT_FALSE(parse_shard_lines(head(number, "3"), "file").headed) << number;
    EXPECT_EQ(code_of([&] { parse_shard_lines(head(number, "3") + "x\n", "file"); }),
              ErrorCode::file_corrupt);
  }
  for (const char* number : {"3.5", "1e300", "-1"})
    EXPECT_FALSE(parse_shard_lines(head("2", number), "file").headed) << number;
}

TEST_F(ShardFiles, EveryFlippedByteIsSeen) {
  fill(1, 2);
  const std::string whole = read(path(1, 2));
  const std::size_t second = whole.find('\n', whole.find('\n') + 1);
  for (std::size_t i = 0; i < second; i += 3) {
    std::string text = whole;
    text[i] = static_cast<char>(text[i] ^ 1);
    const ErrorCode code = code_of([&] { parse_shard_lines(text, "file"); });
    EXPECT_TRUE(code == ErrorCode::file_corrupt || code == ErrorCode::file_version) << i;
  }
  std::string text = whole;
  text[text.size() - 10] = static_cast<char>(text[text.size() - 10] ^ 1);
  EXPECT_TRUE(parse_shard_lines(text, "file").cut) << "the last line counts as cut off";
}

TEST_F(ShardFiles, OtherFilesAreNotWrittenOver) {
  fs::create_directories(folder());
  write(path(1, 2), "somebody's notes\n");
  EXPECT_EQ(code_of([&] { ShardFile(folder(), run(1, 2)); }, "no file of a shard"), ErrorCode::file_corrupt);
  EXPECT_EQ(read(path(1, 2)), "somebody's notes\n");
  write(path(1, 2), "");
  fill(1, 2);
  EXPECT_EQ(read_shard(path(1, 2)).records.size(), 3U);
  ShardRun other = run(1, 2);
  other.settings[1].second = "200";
  EXPECT_EQ(code_of([&] { ShardFile(folder(), other); }, "k is 100, not 200"), ErrorCode::invalid_argument);
  other = run(1, 2);
  other.inputs_crc32 = 78;
  EXPECT_EQ(code_of([&] { ShardFile(folder(), other); }, "other names"), ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { ShardFile(folder(), run(1, 3)); }, "another number of shards"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { ShardFile(path(1, 2), run(1, 2)); }), ErrorCode::file_unreadable)
      << "a file as the folder";
}

TEST_F(ShardFiles, MergePutsRecordingsIntoTheirOrder) {
  for (const int index : {3, 1, 2}) fill(index, 3);
  const MergedRun merged = merge_shards({folder()});
  EXPECT_EQ(merged.status, RunStatus::complete);
  EXPECT_TRUE(merged.missing.empty());
  std::vector<std::string> reports;
  for (std::size_t input = 0; input < 5; ++input) reports.push_back(record(input).report);
  EXPECT_EQ(merged_json(merged), json_reports(reports, RunStatus::complete, ""));
  const std::string table = merged_csv(merged);
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 6);
  EXPECT_NE(merged_summary(merged).find("60 read"), std::string::npos);  // 10 + 11 + … + 14
}

TEST_F(ShardFiles, MergeKeepsTheLastOfSeveralLines) {
  ShardFile(folder(), run(1, 1, 2)).add(record(0, RunStatus::input_damaged));
  ShardFile(folder(), run(1, 1, 2)).add(record(1, RunStatus::input_damaged));
  MergedRun merged = merge_shards({folder()});
  EXPECT_EQ(merged.status, RunStatus::input_damaged);
  EXPECT_EQ(merged.recordings.size(), 2U);
  ShardFile(folder(), run(1, 1, 2)).add(record(0));
  merged = merge_shards({folder()});
  EXPECT_EQ(merged.recordings[0].status, RunStatus::complete);
  EXPECT_EQ(merged.recordings.size(), 2U);
}

TEST_F(ShardFiles, MergeRefusesWhatDoesNotBelongTogether) {
  fill(1, 2);
  fill(2, 2);
  EXPECT_EQ(code_of(
                [&] {
                  merge_shards({path(1, 2), path(1, 2)});
                },
                "both shard 1"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of(
                [&] {
                  merge_shards({folder(), path(2, 2)});
                },
                "both shard 2"),
            ErrorCode::invalid_argument);
  const std::string other = folder() + "/other";
  ShardRun foreign = run(2, 2);
  foreign.settings[0].second = "2";
  { ShardFile(other, foreign); }
  EXPECT_EQ(code_of(
                [&] {
                  merge_shards({path(1, 2), other});
                },
                "its version is 2, not 1"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_of([&] { merge_shards({folder() + "/none"}); }), ErrorCode::file_unreadable);
  fs::create_directories(folder() + "/empty");
  EXPECT_EQ(code_of([&] { merge_shards({folder() + "/empty"}); }, "no shards"), ErrorCode::file_unreadable);
}

TEST_F(ShardFiles, MergeSaysWhatIsMissing) {
  fill(1, 3);
  MergedRun merged = merge_shards({folder()});
  EXPECT_EQ(merged.status, RunStatus::interrupted);
  ASSERT_EQ(merged.missing.size(), 1U);
  EXPECT_NE(merged.missing[0].find("2 shards of 3 are missing: 2, 3"), std::string::npos)
      << merged.missing[0];
  fill(2, 3);
  ShardFile(folder(), run(3, 3));
  merged = merge_shards({folder()});
  ASSERT_EQ(merged.missing.size(), 1U);
  EXPECT_NE(merged.missing[0].find("shard 3 of 3 has not finished"), std::string::npos) << merged.missing[0];
  fs::remove(path(3, 3));
  const std::string whole = read(path(1, 3));
  write(path(1, 3), whole.substr(0, whole.size() - 20));
  merged = merge_shards({folder()});
  ASSERT_EQ(merged.missing.size(), 2U);
  EXPECT_NE(merged.missing[0].find("was killed while it wrote"), std::string::npos) << merged.missing[0];
  EXPECT_NE(merged.missing[1].find("--shard 3/3"), std::string::npos) << merged.missing[1];
}

}  // namespace
}  // namespace sfft::video::shards_test
