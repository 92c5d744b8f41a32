// Package tracing sends traces of what the hub does to an OpenTelemetry collector, if a file asks for that: the file of
// --tracing-config-file is the one that kube-apiserver takes. Without it there is no provider at all, and nothing is paid for.
//
// Promises: a file with a mistake is refused with the field that is wrong; requests to the API server carry the trace that they belong to,
// and those that belong to none are not traced; what was recorded is sent before the process ends, or given up after a few seconds, and a
// collector that does not answer holds up nothing else.
package tracing
