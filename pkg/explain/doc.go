// Package explain answers for placements without an API server, and renders what was answered.
//
// A Reader takes YAML files and makes a World of them: the objects that a hub would hold. It is as strict as an API server that was
// asked to be strict. The CustomResourceDefinitions, which the caller passes in, check every object and fill in its defaults; unknown
// fields and kinds, missing names and duplicates are mistakes; every mistake is reported, with the file and the line it stands on.
//
// World.Evaluate puts every Placement of a World to the code that the controller runs (scheduling, decision). All placements see the
// same decisions: those in the files. An Evaluation is the answer with the plan and the status that the controller would write.
//
// NewReport makes a Report of an Evaluation: plain data with stable JSON names. Write prints reports as a table, JSON, YAML or bare
// names. A report needs nothing but its Evaluation, wherever that came from. There is no second copy of any scheduling rule here: what
// a report says of a cluster is what scheduling.Result says of it.
//
// The package never talks to an API server, never opens a file and never reads a clock.
package explain
