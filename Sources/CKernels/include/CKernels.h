#ifndef CKERNELS_H
#define CKERNELS_H

// The umbrella header: a build notices a header that is added here, which it doesn't for a folder.
#include "CCoefficients.h"
#include "CResample.h"
#include "CResampleDeep.h"
#include "CRows.h"
#include "CTransform.h"

#endif
