// fs -- all of this library: files, whole files, streams, directories.
#pragma once

#if __cplusplus < 202100L  // first, so that it is the first thing said
#error "faio needs C++23: compile with -std=c++23, with g++ 12 or clang 19 or newer"
#endif

#include "faio/fs/aligned_buffer.hpp"  // IWYU pragma: export
#include "faio/fs/directory.hpp"       // IWYU pragma: export
#include "faio/fs/error.hpp"           // IWYU pragma: export
#include "faio/fs/file.hpp"            // IWYU pragma: export
#include "faio/fs/stream.hpp"          // IWYU pragma: export
#include "faio/fs/whole.hpp"           // IWYU pragma: export
