// Package explain answers for placements without an API server, and renders what was answered.
//
// A World is the objects that a hub holds; the sub-package worldfile reads one from files, and liveworld from a hub. World.Evaluate puts
// every Placement of it to the code that the controller runs (scheduling, decision). All placements see the same decisions: those of the
// World. An Evaluation is the answer with the plan and the status that the controller would write.
//
// NewReport makes a Report of an Evaluation: plain data with stable JSON names. Write prints reports as a table, JSON, YAML or bare
// names. A report needs nothing but its Evaluation, wherever that came from. There is no second copy of any scheduling rule here: what
// a report says of a cluster is what scheduling.Result says of it.
//
// Diff compares the decisions that a World has with those that another World would get, say with a changed Placement, and tells apart
// what the hub is about to do anyway. WriteDifferences prints it in the same formats.
//
// NewWhatIf tells what would become of all decisions if something else changed than placements; the sub-package overlay makes the changed
// World. It evaluates only the placements that the change can concern, which it finds as a hub does. WriteWhatIf prints it.
//
// World.Unsatisfied lists the placements that do not get what they ask for. A Trial asks the engine about one placement again and again, each
// time with something changed; the sub-package story tells with it what would have one cluster selected.
//
// The sub-package debug answers over HTTP from what a running hub knows, by Evaluate.
//
// The package never talks to an API server, never opens a file and never reads a clock. It does not know where a World comes from.
package explain
