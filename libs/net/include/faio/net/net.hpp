// net -- all of the network: one include.
#pragma once

#include "faio/net/buffered.hpp"  // IWYU pragma: export
#include "faio/net/copy.hpp"      // IWYU pragma: export
#include "faio/net/endpoint.hpp"  // IWYU pragma: export
#include "faio/net/resolve.hpp"   // IWYU pragma: export
#include "faio/net/serve.hpp"     // IWYU pragma: export
#include "faio/net/tcp.hpp"       // IWYU pragma: export
#include "faio/net/udp.hpp"       // IWYU pragma: export
#include "faio/net/unix.hpp"      // IWYU pragma: export
