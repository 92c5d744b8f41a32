// SPDX-License-Identifier: Apache-2.0

// Package toy has a producer and a consumer of PlacementDecisions that conform, as an example of drivers, and that break one rule on request, by
// which the suite itself is tested. They are too simple for real use: the wishes of the producer are in memory.
package toy
