// Changes of the process that runs a test.
#ifndef TINTYPE_CTESTPROCESS_H
#define TINTYPE_CTESTPROCESS_H

/// Makes the kernel one without Landlock for this process and its children: its system calls don't exist. Returns 0, or -1 with `errno`.
int become_old_kernel(void);

/// Forbids this process and its children to change their user and their capabilities, as a manager of services may. Returns 0, or -1 with
/// `errno`.
int forbid_changes_of_rights(void);

/// Copies this process. Swift doesn't see `fork`.
int fork_process(void);

#endif
