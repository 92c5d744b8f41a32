// Package debug answers over HTTP what a placement selects at the moment and why: the endpoint of the upstream controller
// (docs/spec/upstream-placement.md 1.17), with a verdict for each cluster.
//
//	GET  /debug/placements/<namespace>/<name>   a placement as it is on the hub
//	POST /debug/placements/...                  a placement as it might be; of its name on the hub, the decisions are the incumbents
//
// The parameter api=placement.open-cluster-management.io asks for placements of that API group.
//
// It promises: whether the caller may ask is found out before anything is looked up, so that a placement that is there and one that is not
// are refused alike; what is wrong with a placement is told by field, value and rule, like everywhere else (explain.Report); the same
// question about the same world has the same bytes for an answer. Who the caller is has been found out before, by whoever mounts the
// handler: a request without a user in its context is refused.
//
// It never writes, and never answers while the hub is not known completely.
package debug
