// Package live is what `placement run` shows: the steps until the hub is up, and then its placements and their decisions, as they change.
//
// A Feed reads boards, the state of a hub at one moment, from the informers of the controllers; a View brings them to a person: drawn in
// place on a terminal, a line for each change elsewhere, or once when all has settled.
//
// It promises: the present state is always shown in the end, and where each change is a line, a placement that is being decided gets
// its line when it has settled, unless that takes long; a terminal is left as it was, with the last table on it; what users wrote into
// messages cannot drive the terminal; and the log of the process does not mix with the table.
//
// It never writes to the hub, and never asks the API server itself.
package live
