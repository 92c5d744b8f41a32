// Package stopping tells the errors that a process causes by stopping from the errors of its work.
//
// A process that stops cancels the context of whatever is under way, so requests, watches and waits for caches fail together. None of them
// says anything about the hub. Logger writes them as information at verbosity 4, and Caused finds them in what a manager returns. An error
// of another kind stays an error, also while the process stops.
package stopping
