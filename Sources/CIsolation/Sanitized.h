// Sanitizers reserve much address space, and make system calls of their own: a worker has neither limits of memory nor filters then.
#ifndef TINTYPE_SANITIZED_H
#define TINTYPE_SANITIZED_H

#define SANITIZED 0
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#undef SANITIZED
#define SANITIZED 1
#endif
#endif

#endif
