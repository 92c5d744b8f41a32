// SPDX-License-Identifier: Apache-2.0

// Package fleet makes up the fleets and placements that the benchmark measures with: everything in them follows from the size, so that two
// runs of one size measure the same.
//
// A cluster is as large as one that an agent reports, about 3 KB. Placements are a mix of what people ask for; what each of them selects
// does not depend on the order in which they are decided, except where the default prioritizers balance.
package fleet
