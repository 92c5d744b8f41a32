// Package counterfactual tells all there is to tell of one cluster and one placement: what each stage of the engine says of the cluster, also those
// behind the first that keeps it out, and the nearest counterfactuals: what would have to be otherwise for the cluster to be selected.
//
// There is no second copy of any scheduling rule here. What is told are the structured answers of scheduling.Result. A counterfactual is
// proposed by what these answers name (a clause, a taint, a set, a score), and printed only if the engine, asked again with that changed,
// selects the cluster. One change is tried before two; two are the most.
//
// The package never talks to an API server, never opens a file and never reads a clock.
package counterfactual
