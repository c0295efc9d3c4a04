#include <libxml/xmlversion.h>
// ICU's declarations conflict with those that Foundation includes, and no function that is used here needs them.
#undef LIBXML_ICU_ENABLED
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
