// The fonts of a process that can't open files.
#ifndef TINTYPE_FONTFILES_H
#define TINTYPE_FONTFILES_H

/// Opens the files of all fonts that fontconfig knows.
void tintype_open_fonts(void);
/// Lets a handler of SIGSYS answer `openat`, for the files that are open already. Returns 0 if there are none.
int tintype_answer_opens(void);

#endif
