#include <libxml/xmlversion.h>
// ICU's declarations clash with those that Foundation brings along, and nothing that is used here takes or gives them.
#undef LIBXML_ICU_ENABLED
#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <libxml/parserInternals.h>
