// Values at exact steps, and Markdown. The answers are compared with sonde::Log on golden logs.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "query/markdown.h"
#include "query/query_testing.h"

namespace sonde::query {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// As in an address.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    constexpr std::string_view kHex = "0123456789ABCDEF";
    const auto byte = static_cast<unsigned char>(c);
    out += plain ? std::string(1, c) : std::string{'%', kHex[byte >> 4U], kHex[byte & 15U]};
  }
  return out;
}
std::string named(const Run& run, const Tag& tag) { return "run=" + escaped(run.name()) + "&tag=" + escaped(tag.name); }

// Calls `check(asked, run, tag)` for every tag of that kind in all golden logs. Returns how many there were.
template <class Check>
int for_all(TagKind kind, Check check) {
  int found = 0;
  for (const std::string_view writer : {"torch", "tensorboardx", "tensorflow", "tensorflow_v1", "keras"}) {
    Asked asked(kGolden + "/" + std::string(writer));
    for (const Run& run : asked.log().runs()) {
      for (const Tag& tag : run.tags()) {
        if (tag.kind != kind) continue;
        SCOPED_TRACE(std::string(writer) + " " + run.name() + " " + tag.name);
        check(asked, run, tag);
        ++found;
      }
    }
  }
  return found;
}

TEST(Steps, AreThoseThatWereRecorded) {
  EXPECT_GT(for_all(TagKind::images,
                    [](const Asked& asked, const sonde::Run& run, const Tag& tag) {
                      const Json steps(asked.get("steps?kind=images&" + named(run, tag)).body);
                      std::vector<double> expected;
                      const auto recorded = *run.values(tag.name, tag.kind);
                      for (const ValueRef& value : recorded) expected.push_back(static_cast<double>(value.step));
                      EXPECT_EQ(steps.numbers("/steps"), expected);
                      EXPECT_EQ(steps.text("/kind"), "images");
                      EXPECT_EQ(steps.size("/times"), expected.size());
                    }),
            3);
}

TEST(Histograms, HaveTheBinsOfTheFile) {
  EXPECT_GT(for_all(TagKind::histograms,
                    [](const Asked& asked, const sonde::Run& run, const Tag& tag) {
                      const Json all(asked.get("histograms?" + named(run, tag)).body);
                      const auto values = *run.values(tag.name, tag.kind);
                      ASSERT_EQ(all.size("/steps"), values.size());
                      for (std::size_t i = 0; i < values.size(); ++i) {
                        const auto buckets = *run.histogram(values[i]);
                        const std::string at = "/histograms/" + std::to_string(i);
                        ASSERT_EQ(all.size(at + "/count"), buckets.size());
                        for (std::size_t b = 0; b < buckets.size(); ++b) {
                          // Infinite edges are texts.
                          if (std::isfinite(buckets[b].left)) {
                            EXPECT_EQ(all.number(at + "/left/" + std::to_string(b)), buckets[b].left);
                          }
                          EXPECT_EQ(all.number(at + "/count/" + std::to_string(b)), buckets[b].count);
                        }
                      }
                      const Answer one =
                          asked.get("histograms?" + named(run, tag) + "&step=" + std::to_string(values.back().step));
                      EXPECT_EQ(Json(one.body).size("/histograms"), 1U);
                    }),
            3);
}

TEST(Histograms, AreEvenlySpreadOverTheRecordedSteps) {
  Asked asked(kGolden + "/torch");
  const Json two(asked.get("histograms?run=train&tag=weights&most=2").body);
  const auto values = *asked.log().run("train")->values("weights", TagKind::histograms);
  EXPECT_EQ(two.number("/total"), static_cast<double>(values.size()));
  EXPECT_THAT(two.numbers("/steps"), ElementsAre(values.front().step, values.back().step));
  EXPECT_EQ(asked.get("histograms?run=train&tag=weights&most=501").status, 400);
  EXPECT_EQ(asked.get("histograms?run=train&tag=weights&step=77").status, 404);
  EXPECT_EQ(asked.get("histograms?run=train&tag=none").status, 404);
  EXPECT_EQ(asked.get("histograms?run=train&tag=weights&kind=images").status, 400);
}

// A histogram with this many bins, each of `count` elements.
std::string histogram_of(std::int64_t step, std::size_t bins, double count) {
  std::vector<stats::Bucket> buckets(bins);
  for (std::size_t i = 0; i < bins; ++i) {
    buckets[i] = {.left = static_cast<double>(i), .right = static_cast<double>(i + 1), .count = count};
  }
  std::string summary;
  tfevents::put_histogram(summary, "h", buckets, true);
  std::string file;
  tfevents::put_summary_event(file, index::kStart, step, summary);
  return file;
}

// In the old form, whose counts are checked.
std::string old_histogram_of(std::int64_t step, double count) {
  std::string limits;
  base::put(limits, 1.0);
  base::put(limits, 2.0);
  std::string counts;
  base::put(counts, 1.0);
  base::put(counts, count);
  std::string histogram;
  wire::put_bytes(histogram, 6, limits);
  wire::put_bytes(histogram, 7, counts);
  std::string value;
  wire::put_bytes(value, 1, "h");
  wire::put_bytes(value, 5, histogram);
  std::string summary;
  wire::put_bytes(summary, 1, value);
  std::string file;
  tfevents::put_summary_event(file, index::kStart, step, summary);
  return file;
}

TEST(Histograms, ThatMakeNoSenseHideNoOther) {
  base::TempDir dir;
  index::append(dir / std::string("r/") + std::string(index::kEvents),
                index::version() + old_histogram_of(1, 1) + old_histogram_of(2, -1) + old_histogram_of(3, 1));
  const Asked asked(dir.path());
  const Json some(asked.get("histograms?run=r&tag=h").body);
  EXPECT_EQ(some.number("/total"), 3);
  EXPECT_THAT(some.numbers("/steps"), ElementsAre(1, 3));
  EXPECT_EQ(some.size("/times"), 2U);
  EXPECT_EQ(some.size("/histograms"), 2U);
  ASSERT_EQ(some.size("/left_out"), 1U);
  EXPECT_EQ(some.number("/left_out/0/step"), 2);
  EXPECT_THAT(some.text("/left_out/0/text"), HasSubstr("count"));
  EXPECT_EQ(Json(asked.get("histograms?run=r&tag=h&step=3").body).size("/left_out"), 0U);
  EXPECT_EQ(asked.get("histograms?run=r&tag=h&step=2").status, 404);
}

TEST(Histograms, WithManyBinsAreOfFewerSteps) {
  base::TempDir dir;
  std::string file = index::version();
  for (int step = 0; step < 10; ++step) file += histogram_of(step, 100'000, 1);
  index::append(dir / std::string("r/") + std::string(index::kEvents), file + histogram_of(10, 500'001, 1));
  const Asked asked(dir.path());
  const Json five(asked.get("histograms?run=r&tag=h&last=9").body);
  EXPECT_EQ(five.number("/total"), 10);
  EXPECT_THAT(five.numbers("/steps"), ElementsAre(0, 2, 4, 6, 9));
  const Json few(asked.get("histograms?run=r&tag=h&first=9").body);
  EXPECT_THAT(few.numbers("/steps"), ElementsAre(9));
  EXPECT_THAT(few.text("/left_out/0/text"), HasSubstr("more than 500,000 bins"));
  EXPECT_EQ(asked.get("histograms?run=r&tag=h&step=10").status, 413);
}

TEST(Text, ThatIsTooLongForAPageIsRejectedInOneSentence) {
  base::TempDir dir;
  std::string summary;
  tfevents::put_text(summary, "t", std::string((std::size_t{4} << 20) + 1, 'x'), true);
  std::string file = index::version();
  tfevents::put_summary_event(file, index::kStart, 1, summary);
  index::append(dir / std::string("r/") + std::string(index::kEvents), file);
  const Answer answer = Asked(dir.path()).get("media?run=r&tag=t&step=1");
  EXPECT_EQ(answer.status, 413);
  EXPECT_THAT(answer.body, HasSubstr("more than 4 MiB"));
}

TEST(Images, AreTheBytesAsRecorded) {
  EXPECT_GT(for_all(TagKind::images,
                    [](const Asked& asked, const sonde::Run& run, const Tag& tag) {
                      const auto recorded = *run.values(tag.name, tag.kind);
                      for (const ValueRef& value : recorded) {
                        const auto images = *run.images(value);
                        const std::string at = named(run, tag) + "&step=" + std::to_string(value.step);
                        const Json media(asked.get("media?" + at).body);
                        EXPECT_EQ(media.number("/count"), static_cast<double>(images.files.size()));
                        EXPECT_EQ(media.number("/width"), static_cast<double>(images.width));
                        for (std::size_t i = 0; i < images.files.size(); ++i) {
                          const Answer image = asked.get("image?" + at + "&index=" + std::to_string(i));
                          EXPECT_EQ(image.content_type, "image/png");
                          EXPECT_EQ(image.body, images.files[i]);
                        }
                        EXPECT_EQ(asked.get("image?" + at + "&index=" + std::to_string(images.files.size())).status,
                                  404);
                      }
                    }),
            3);
}

TEST(Audio, IsTheBytesAsRecorded) {
  EXPECT_GT(for_all(TagKind::audio,
                    [](const Asked& asked, const sonde::Run& run, const Tag& tag) {
                      const ValueRef value = run.values(tag.name, tag.kind)->back();
                      const std::string at = named(run, tag) + "&step=" + std::to_string(value.step);
                      const Answer audio = asked.get("audio?" + at);
                      EXPECT_EQ(audio.content_type, "audio/wav");
                      EXPECT_EQ(audio.body, run.audio(value)->front().file);
                      EXPECT_EQ(Json(asked.get("media?" + at).body).size("/labels"), run.audio(value)->size());
                    }),
            2);
}

TEST(Text, IsGivenAsWrittenAndAsHtml) {
  EXPECT_GT(
      for_all(TagKind::text,
              [](const Asked& asked, const sonde::Run& run, const Tag& tag) {
                const ValueRef value = run.values(tag.name, tag.kind)->back();
                const Json media(asked.get("media?" + named(run, tag) + "&step=" + std::to_string(value.step)).body);
                const auto texts = *run.text(value);
                EXPECT_EQ(media.texts("/texts"), texts);
                EXPECT_EQ(media.size("/html"), texts.size());
                if (!texts.empty()) {
                  EXPECT_EQ(media.text("/html/0"), html_of_markdown(texts.front()));
                }
              }),
      2);
}

// An image summary whose bytes are something else.
std::string image_of(std::string_view bytes) {
  std::string image;
  wire::put_integer_unless_zero(image, 1, 4);
  wire::put_integer_unless_zero(image, 2, 4);
  wire::put_bytes(image, 4, bytes);
  std::string value;
  wire::put_bytes(value, 1, "picture");
  wire::put_bytes(value, 4, image);
  std::string summary;
  wire::put_bytes(summary, 1, value);
  std::string file;
  tfevents::put_summary_event(file, index::kStart, 1, summary);
  return file;
}

TEST(Images, OfNoOtherTypeAreEverSent) {
  for (const std::string_view bytes : {"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "<html>", ""}) {
    base::TempDir dir;
    index::append(dir / std::string("r/") + std::string(index::kEvents), index::version() + image_of(bytes));
    Asked asked(dir.path());
    EXPECT_EQ(asked.get("image?run=r&tag=picture&step=1").status, 404) << bytes;
  }
  base::TempDir dir;
  index::append(dir / std::string("r/") + std::string(index::kEvents), index::version() + image_of("GIF89a...."));
  EXPECT_EQ(Asked(dir.path()).get("image?run=r&tag=picture&step=1").content_type, "image/gif");
}

TEST(Markdown, KeepsHarmlessMarkup) {
  EXPECT_EQ(html_of_markdown("**bold** `code`"), "<p><strong>bold</strong> <code>code</code></p>\n");
  EXPECT_THAT(html_of_markdown("|a|b|\n|-|-|\n|1|2|\n"), HasSubstr("<table>"));
  EXPECT_THAT(html_of_markdown("[x](https://example.org/)"), HasSubstr("<a href=\"https://example.org/\">x</a>"));
  EXPECT_THAT(html_of_markdown("~~gone~~"), HasSubstr("<del>"));
}

TEST(Markdown, ShowsTagsAsText) {
  EXPECT_EQ(html_of_markdown("a <think> b </think> <br>"), "<p>a &lt;think&gt; b &lt;/think&gt; &lt;br&gt;</p>\n");
  EXPECT_EQ(html_of_markdown("<think>\nwhy?\n</think>\n\n**42**"),
            "<p>&lt;think&gt;<br />\nwhy?<br />\n&lt;/think&gt;</p>\n<p><strong>42</strong></p>\n");
  EXPECT_EQ(html_of_markdown("<div>\n  <p>x</p>\n</div>\n"),
            "<p>&lt;div&gt;<br />\n\xc2\xa0\xc2\xa0&lt;p&gt;x&lt;/p&gt;<br />\n&lt;/div&gt;</p>\n");
  EXPECT_EQ(html_of_markdown("<!-- remark -->"), "<p>&lt;!-- remark --&gt;</p>\n");
  EXPECT_THAT(html_of_markdown("|a|\n|-|\n|<think>|\n"), HasSubstr("<td>&lt;think&gt;</td>"));
  EXPECT_THAT(html_of_markdown("- <b>x</b>\n- <div>\n"), HasSubstr("&lt;div&gt;"));
  EXPECT_THAT(html_of_markdown("```\n<think>\n```\n"), HasSubstr("<pre><code>&lt;think&gt;\n</code></pre>"));
}

TEST(Markdown, KeepsLineBreaks) {
  EXPECT_EQ(html_of_markdown("one\ntwo\n\nthree"), "<p>one<br />\ntwo</p>\n<p>three</p>\n");
}

TEST(Markdown, ShowsWhatLooksLikeTheDefinitionOfALink) {
  EXPECT_EQ(html_of_markdown("[INFO]: started\n[warn]: x y\n"), "<p>[INFO]: started<br />\n[warn]: x y</p>\n");
  EXPECT_THAT(html_of_markdown("> [a]: b"), HasSubstr("<p>[a]: b</p>"));
  EXPECT_THAT(html_of_markdown("- [a]: b"), HasSubstr("<li>[a]: b</li>"));
  EXPECT_THAT(html_of_markdown("```\n[a]: b\n```\n"), HasSubstr("<code>[a]: b\n</code>"));
  EXPECT_THAT(html_of_markdown("see [a]: b"), HasSubstr("<p>see [a]: b</p>"));
  EXPECT_THAT(html_of_markdown("[x](https://example.org/) and [a]: b"), HasSubstr(">x</a> and [a]: b"));
}

TEST(Markdown, AllowsNoScripts) {
  for (const std::string_view text :
       {"<script>alert(1)</script>", "a <img src=x onerror=alert(1)> b", "<div onclick='x'>", "<style>*{}</style>",
        "[x](javascript:alert(1))", "[x](JaVaScRiPt:alert(1))", "[x](data:text/html,<script>)", "[x](vbscript:x)",
        "<javascript:alert(1)>", "![x](javascript:alert(1))", "[x]( javascript:alert(1))",
        "[x]: javascript:alert(1)\n\n[x]", "[x](&#106;avascript:alert(1))", "<iframe src='//x'></iframe>",
        "<think>\n<script>alert(1)</script>\n</think>", "<!--><img src=x onerror=alert(1)>",
        "<div>\n&lt;script>alert(1)</script>", "|<script>|\n|-|\n|<img src=x onerror=x>|\n"}) {
    const std::string html = html_of_markdown(text);
    for (const std::string_view bad : {"<script", "<img", "<style", "<iframe", "<div", "href=\"javascript",
                                       "href=\"data", "href=\"vbscript", "href=\"JaVa", "<!--", "<think"}) {
      EXPECT_THAT(html, Not(HasSubstr(bad))) << text;
    }
  }
}

TEST(Markdown, TurnsPicturesIntoLinks) {
  EXPECT_THAT(html_of_markdown("![x](https://example.org/a.png)"),
              HasSubstr("<a href=\"https://example.org/a.png\">x</a>"));
  EXPECT_THAT(html_of_markdown("![a ![b](https://b/)](https://a/)"), Not(HasSubstr("<img")));
}

TEST(Markdown, ShowsAnEndlessTextAsWritten) {
  EXPECT_THAT(html_of_markdown(std::string(100'000, '<')), testing::StartsWith("<pre>&lt;&lt;"));
  EXPECT_THAT(html_of_markdown("\xff\xfe"), HasSubstr("\xef\xbf\xbd"));
}

TEST(Values, OfATagWhoseFileWasDeletedAreNotThere) {
  base::TempDir dir;
  const std::string first = dir / "r/" + std::string(index::kEvents);
  index::append(first, index::version() + index::scalar("gone", 1, 1));
  index::append(first + ".2", index::version() + index::scalar("x", 1, 1));
  Asked asked(dir.path());
  EXPECT_EQ(asked.get("steps?run=r&tag=gone").status, 200);
  std::filesystem::remove(first);
  asked.log().refresh();
  for (const char* address : {"steps?run=r&tag=gone", "steps?run=r&tag=gone&kind=scalars"}) {
    const Answer answer = asked.get(address);
    EXPECT_EQ(answer.status, 404) << address;
    EXPECT_EQ(Json(answer.body).text("/error"), "'gone' no longer has values");
  }
  EXPECT_EQ(asked.get("steps?run=r&tag=never").status, 404);
  EXPECT_EQ(asked.get("image?run=r&tag=gone&step=1").status, 404);
  EXPECT_EQ(asked.get("histograms?run=r&tag=gone&kind=images").status, 400);
}

}  // namespace
}  // namespace sonde::query
