// benches -- what each file of this bench registers, and main.cpp runs.
#pragma once

namespace faio::queue::bench {

void register_owner();
void register_steal();
void register_contended();
void register_global();
void register_inbox();

}  // namespace faio::queue::bench
