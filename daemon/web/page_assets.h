// daemon/web/page_assets.h - style and script of the status page.
#pragma once

namespace spintag::daemon {

extern const char* const kPageStyle;
/// Makes the same text of the same fields as status_page(), with textContent alone, so that no tag
/// becomes markup.
extern const char* const kPageScript;

}  // namespace spintag::daemon
