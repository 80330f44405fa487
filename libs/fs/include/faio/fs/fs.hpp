// fs -- all of this library: files, whole files, streams, directories.
#pragma once

#include "faio/fs/aligned_buffer.hpp"  // IWYU pragma: export
#include "faio/fs/directory.hpp"       // IWYU pragma: export
#include "faio/fs/error.hpp"           // IWYU pragma: export
#include "faio/fs/file.hpp"            // IWYU pragma: export
#include "faio/fs/stream.hpp"          // IWYU pragma: export
#include "faio/fs/whole.hpp"           // IWYU pragma: export
