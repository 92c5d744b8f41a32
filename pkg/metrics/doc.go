// Package metrics declares every time series of the hub, by subject: those that upstream has too, what wakes placements and how soon it is
// acted upon, what is written, how the placements stand, and the engine itself. The names that the upstream controller uses are kept; ours
// begin with placement_hub_.
//
// Promises: every series is declared by one of the constructors of this package, which register it and keep what is said of it for the
// table in docs/metrics.md; no label has the name of a placement, a cluster, a namespace or anything else that a user chooses; what is
// counted for every event or evaluation has its labels resolved once, and allocates nothing.
package metrics

//go:generate go run ./internal/table -in ../../docs/metrics.md
