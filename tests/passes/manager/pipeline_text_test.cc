// The text of pipelines: what parses, what it prints, and where faults are.
#include "passes/registry/pipeline_text.h"

#include <gtest/gtest.h>

namespace torc::passes {
namespace {

/// The text of what `text` parses to, or the message of the error.
std::string reprinted(llvm::StringRef text) {
  llvm::Expected<std::vector<std::unique_ptr<Pass>>> passes = parsePipeline(text);
  if (!passes) return toString(passes.takeError());
  return pipelineText(*passes);
}

TEST(PipelineText, PrintsAllOptionsThatMeanSomethingWithTheirValues) {
  for (const auto& [text, printed] :
       {std::pair("expand-rings", "expand-rings"),
        {"infer-dependences", "infer-dependences{by=region}"},
        {"coalesce{}", "coalesce"},
        {"", ""},
        {"  ", ""},
        {"pipeline{chunks=16,bytes=1000}", "pipeline{chunks=16}"},
        {"pipeline{machine=machines/my.json,chunks=auto}",
         "pipeline{chunks=auto,bytes=67108864,machine=machines/my.json}"},
        {" expand-rings ,\n pipeline { chunks = 3 } , coalesce ",
         "expand-rings,pipeline{chunks=3},coalesce"},
        {"pipeline{chunks=3,chunks=5}", "pipeline{chunks=5}"}})
    EXPECT_EQ(reprinted(text), printed);
}

TEST(PipelineText, FaultsNameTheColumn) {
  EXPECT_EQ(reprinted("coalesce,frob"),
            "passes:1:10: error: there is no pass 'frob'; torc opt --list-passes names them");
  EXPECT_EQ(reprinted("coalesce,"),
            "passes:1:10: error: expected the name of a pass, found the end");
  EXPECT_EQ(reprinted(",coalesce"), "passes:1:1: error: expected the name of a pass, found ','");
  EXPECT_EQ(reprinted("coalesce}"), "passes:1:9: error: expected ',' or the end, found '}'");
  EXPECT_EQ(reprinted("coalesce{x=1}"),
            "passes:1:10: error: pass 'coalesce' has no option 'x' (it has none)");
  EXPECT_EQ(reprinted("pipeline{chunk=1}"),
            "passes:1:10: error: pass 'pipeline' has no option 'chunk' (options: chunks, bytes, "
            "machine, sends)");
  EXPECT_EQ(reprinted("pipeline{chunks}"),
            "passes:1:16: error: expected '=' after 'chunks', found '}'");
  EXPECT_EQ(reprinted("pipeline{chunks=2"),
            "passes:1:18: error: expected ',' or '}', found the end");
  EXPECT_EQ(reprinted("pipeline{=2}"), "passes:1:10: error: expected an option, found '='");
}

TEST(PipelineText, ValuesOutsideTheirRangeAreRefused) {
  for (const char* value : {"", "0", "4097", "99999999999999999999", "two", "-1", "1.5"}) {
    EXPECT_EQ(reprinted("pipeline{chunks=" + std::string(value) + "}"),
              "passes:1:17: error: option 'chunks' takes an integer from 1 to "
              "4096 or auto, not '" +
                  std::string(value) + "'");
  }
  EXPECT_EQ(reprinted("assign-colors{weights=fair}"),
            "passes:1:23: error: option 'weights' takes equal or balanced "
            "or overlapped, "
            "not 'fair'");
  EXPECT_EQ(reprinted("infer-dependences{by=luck}"),
            "passes:1:22: error: option 'by' takes region or phase, not "
            "'luck'");
}

}  // namespace
}  // namespace torc::passes
