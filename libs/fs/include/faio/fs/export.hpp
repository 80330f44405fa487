// export -- marks what a shared library shows; everything else stays inside it.
#pragma once

/// On every class and function that is declared in a public header and defined in src/.
#define FAIO_FS_API [[gnu::visibility("default")]]
