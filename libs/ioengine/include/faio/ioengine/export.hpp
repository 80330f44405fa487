// export -- marks what a shared library shows; everything else stays inside it.
#pragma once

#if __cplusplus < 202100L
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

/// On every class and function that is declared in a public header and defined in src/.
#define FAIO_IOENGINE_API [[gnu::visibility("default")]]
