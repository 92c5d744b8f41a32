// Package podscheduling has the controller podscheduling/webhook, which injects pod scheduling policies at admission and validates them: it
// connects the handlers of pkg/webhook/podscheduling to the caches of a manager and to an event writer.
//
// Promises: every replica answers, the leader or not, and writes the Events about what it skipped. The controller creates, changes and
// deletes no policy and no workload.
package podscheduling
