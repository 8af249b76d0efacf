#include "query/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace sonde::query {
namespace {

// Long texts take the parser more than a moment.
constexpr std::size_t kLongest = std::size_t{64} << 10;

struct FreeParser {
  void operator()(cmark_parser* parser) const noexcept { cmark_parser_free(parser); }
};
struct FreeNode {
  void operator()(cmark_node* node) const noexcept { cmark_node_free(node); }
};
struct FreeIterator {
  void operator()(cmark_iter* iterator) const noexcept { cmark_iter_free(iterator); }
};
struct FreeText {
  void operator()(char* text) const noexcept { std::free(text); }
};

std::string preformatted(std::string_view text) {
  std::string out = "<pre>";
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out + "</pre>\n";
}

bool starts_with_any_case(std::string_view text, std::string_view begin) {
  if (text.size() < begin.size()) return false;
  for (std::size_t i = 0; i < begin.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != begin[i]) return false;
  }
  return true;
}

bool is_harmless(std::string_view address) {
  for (const std::string_view scheme : {"http://", "https://", "mailto:"}) {
    if (starts_with_any_case(address, scheme)) return true;
  }
  return false;
}

// Puts `with` in the place of `node`; one of them is freed.
void replace(cmark_node* node, cmark_node* with) { cmark_node_free(cmark_node_replace(node, with) != 0 ? node : with); }

void append(cmark_node* parent, cmark_node* child) {
  if (child != nullptr && cmark_node_append_child(parent, child) == 0) cmark_node_free(child);
}

// A link with the content of the picture in its place.
void replace_image(cmark_node* image) {
  cmark_node* const link = cmark_node_new(CMARK_NODE_LINK);
  if (link == nullptr) return;
  cmark_node_set_url(link, cmark_node_get_url(image));
  while (cmark_node* const child = cmark_node_first_child(image)) {
    cmark_node_unlink(child);
    append(link, child);
  }
  replace(image, link);
}

cmark_node* text_node(const std::string& text) {
  cmark_node* const node = cmark_node_new(CMARK_NODE_TEXT);
  if (node != nullptr) cmark_node_set_literal(node, text.c_str());
  return node;
}

// One line of a block of HTML. Spaces at its beginning would be lost: they become spaces that a browser keeps.
std::string indented(std::string_view line) {
  constexpr std::string_view kSpace = "\xc2\xa0";
  constexpr int kTab = 4;
  std::string out;
  std::size_t at = 0;
  for (; at < line.size() && (line[at] == ' ' || line[at] == '\t'); ++at) {
    for (int i = line[at] == '\t' ? kTab : 1; i > 0; --i) out += kSpace;
  }
  return out.append(line.substr(at));
}

// Tags are shown as they were written: as text, which the renderer escapes.
void replace_html_block(cmark_node* block) {
  cmark_node* const paragraph = cmark_node_new(CMARK_NODE_PARAGRAPH);
  const char* const literal = cmark_node_get_literal(block);
  if (paragraph == nullptr || literal == nullptr) return;
  std::string_view rest = literal;
  while (!rest.empty() && rest.back() == '\n') rest.remove_suffix(1);
  for (bool more = true; more;) {
    const std::size_t end = rest.find('\n');
    more = end != std::string_view::npos;
    append(paragraph, text_node(indented(rest.substr(0, end))));
    if (more) append(paragraph, cmark_node_new(CMARK_NODE_LINEBREAK));
    if (more) rest.remove_prefix(end + 1);
  }
  replace(block, paragraph);
}

void replace_html_inline(cmark_node* html) {
  const char* const literal = cmark_node_get_literal(html);
  cmark_node* const text = literal != nullptr ? text_node(literal) : nullptr;
  if (text != nullptr) replace(html, text);
}

// All nodes of that type, parents before their children.
std::vector<cmark_node*> nodes_of(cmark_node* document, cmark_node_type type) {
  std::vector<cmark_node*> nodes;
  const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(document));
  for (cmark_event_type event = cmark_iter_next(iterator.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(iterator.get())) {
    cmark_node* const node = cmark_iter_get_node(iterator.get());
    if (event == CMARK_EVENT_ENTER && cmark_node_get_type(node) == type) nodes.push_back(node);
  }
  return nodes;
}

void make_harmless(cmark_node* document) {
  for (const cmark_node_type type : {CMARK_NODE_LINK, CMARK_NODE_IMAGE}) {
    for (cmark_node* const node : nodes_of(document, type)) {
      const char* const address = cmark_node_get_url(node);
      if (address != nullptr && !is_harmless(address)) cmark_node_set_url(node, "");
    }
  }
  for (cmark_node* const image : nodes_of(document, CMARK_NODE_IMAGE)) replace_image(image);
  for (cmark_node* const html : nodes_of(document, CMARK_NODE_HTML_BLOCK)) replace_html_block(html);
  for (cmark_node* const html : nodes_of(document, CMARK_NODE_HTML_INLINE)) replace_html_inline(html);
}

void attach_extensions(cmark_parser* parser) {
  static std::once_flag registered;
  std::call_once(registered, cmark_gfm_core_extensions_ensure_registered);
  for (const char* const name : {"table", "strikethrough", "autolink", "tasklist"}) {
    if (cmark_syntax_extension* const extension = cmark_find_syntax_extension(name)) {
      cmark_parser_attach_syntax_extension(parser, extension);
    }
  }
}

using Parser = std::unique_ptr<cmark_parser, FreeParser>;
using Document = std::unique_ptr<cmark_node, FreeNode>;

// Without raw HTML, and with the line breaks of the text.
constexpr int kOptions = CMARK_OPT_DEFAULT | CMARK_OPT_HARDBREAKS;

std::pair<Parser, Document> parse(const std::string& text) {
  Parser parser(cmark_parser_new(kOptions));
  attach_extensions(parser.get());
  cmark_parser_feed(parser.get(), text.data(), text.size());
  Document document(cmark_parser_finish(parser.get()));
  return {std::move(parser), std::move(document)};
}

// If a line begins like "[INFO]: text", perhaps in a quote or a list: the position of its bracket, else npos.
std::size_t definition_in(std::string_view line) {
  constexpr std::string_view kContainers = " \t>*+-.)0123456789";
  const std::size_t open = line.find_first_not_of(kContainers);
  if (open == std::string_view::npos || line[open] != '[') return std::string_view::npos;
  const std::size_t close = line.find(']', open);
  return line.substr(std::min(close, line.size())).starts_with("]:") ? open : std::string_view::npos;
}

// Markdown takes "[INFO]: text" for the definition of a link, and hides it. With a backslash before the bracket it is
// text; only in code, where a backslash would be shown, nothing is changed.
std::string without_definitions(const std::string& text) {
  if (text.find("]:") == std::string::npos) return text;
  const auto [parser, document] = parse(text);
  if (!document) return text;
  std::vector<std::pair<int, int>> code;  // lines, counted from 1
  for (const cmark_node_type type : {CMARK_NODE_CODE_BLOCK, CMARK_NODE_HTML_BLOCK}) {
    for (cmark_node* const node : nodes_of(document.get(), type)) {
      code.emplace_back(cmark_node_get_start_line(node), cmark_node_get_end_line(node));
    }
  }
  std::string out;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t newline = text.find('\n', begin);
    const std::size_t end = newline == std::string::npos ? text.size() : newline + 1;
    const std::string_view line(text.data() + begin, end - begin);
    ++number;
    const bool in_code = std::ranges::any_of(
        code, [&](const std::pair<int, int>& lines) { return number >= lines.first && number <= lines.second; });
    const std::size_t bracket = in_code ? std::string_view::npos : definition_in(line);
    if (bracket == std::string_view::npos) {
      out += line;
    } else {
      out.append(line.substr(0, bracket)).append("\\").append(line.substr(bracket));
    }
    begin = end;
  }
  return out;
}

}  // namespace

std::string html_of_markdown(std::string_view text) {
  const std::string valid = base::valid_utf8(text);
  if (valid.size() > kLongest) return preformatted(valid);
  const auto [parser, document] = parse(without_definitions(valid));
  if (!document) return preformatted(valid);
  make_harmless(document.get());
  const std::unique_ptr<char, FreeText> html(
      cmark_render_html(document.get(), kOptions, cmark_parser_get_syntax_extensions(parser.get())));
  return html ? std::string(html.get()) : preformatted(valid);
}

}  // namespace sonde::query
