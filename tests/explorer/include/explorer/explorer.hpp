// explorer -- everything that a model includes.
#pragma once

#include "explorer/atomics.hpp"
#include "explorer/explore.hpp"
#include "explorer/report.hpp"
