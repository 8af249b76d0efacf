#include "query/markdown.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>
#include <cmark-gfm.h>

#include <cstdlib>
#include <memory>
#include <mutex>
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

// A link with the content of the picture in its place.
void replace_image(cmark_node* image) {
  cmark_node* const link = cmark_node_new(CMARK_NODE_LINK);
  if (link == nullptr) return;
  cmark_node_set_url(link, cmark_node_get_url(image));
  while (cmark_node* const child = cmark_node_first_child(image)) {
    cmark_node_unlink(child);
    if (cmark_node_append_child(link, child) == 0) cmark_node_free(child);
  }
  if (cmark_node_replace(image, link) != 0) {
    cmark_node_free(image);
  } else {
    cmark_node_free(link);
  }
}

void make_harmless(cmark_node* document) {
  std::vector<cmark_node*> links;
  std::vector<cmark_node*> images;
  const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(document));
  for (cmark_event_type event = cmark_iter_next(iterator.get()); event != CMARK_EVENT_DONE;
       event = cmark_iter_next(iterator.get())) {
    cmark_node* const node = cmark_iter_get_node(iterator.get());
    if (event != CMARK_EVENT_ENTER) continue;
    if (cmark_node_get_type(node) == CMARK_NODE_LINK) links.push_back(node);
    if (cmark_node_get_type(node) == CMARK_NODE_IMAGE) images.push_back(node);
  }
  for (auto* nodes : {&links, &images}) {
    for (cmark_node* const node : *nodes) {
      const char* const address = cmark_node_get_url(node);
      if (address != nullptr && !is_harmless(address)) cmark_node_set_url(node, "");
    }
  }
  for (cmark_node* const image : images) replace_image(image);
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

}  // namespace

std::string html_of_markdown(std::string_view text) {
  const std::string valid = valid_utf8(text);
  if (valid.size() > kLongest) return preformatted(valid);
  constexpr int kOptions = CMARK_OPT_DEFAULT;  // which is without raw HTML
  const std::unique_ptr<cmark_parser, FreeParser> parser(cmark_parser_new(kOptions));
  attach_extensions(parser.get());
  cmark_parser_feed(parser.get(), valid.data(), valid.size());
  const std::unique_ptr<cmark_node, FreeNode> document(cmark_parser_finish(parser.get()));
  if (!document) return preformatted(valid);
  make_harmless(document.get());
  const std::unique_ptr<char, FreeText> html(
      cmark_render_html(document.get(), kOptions, cmark_parser_get_syntax_extensions(parser.get())));
  return html ? std::string(html.get()) : preformatted(valid);
}

}  // namespace sonde::query
