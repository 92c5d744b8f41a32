// Package live renders `placement run`: the progress until the hub is up, and then its Placements and their decisions, as they change.
//
// A View reads tables, the state of a hub at one moment, through a hubstate.Watcher over the informers of the controllers, and prints them:
// redrawn on a terminal, a line for each change elsewhere, or once when all has settled.
//
// It promises: the latest state is always shown in the end; where each change is a line, a Placement that is being decided gets its line
// when it has settled, or after maxDelay; the terminal is restored at the end, with the last table on it; user-provided messages cannot
// drive the terminal; and the log of the process does not mix with the table.
//
// It never writes to the hub, and never reads from the API server itself.
package live
