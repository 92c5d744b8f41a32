// SPDX-License-Identifier: Apache-2.0

// Package tracing sends traces to an OpenTelemetry collector, configured by the file of --tracing-config-file in the format of
// kube-apiserver. Without the file there is no provider, and no cost.
//
// It promises: a file with an error is refused with the invalid field; requests to the API server carry the trace that they belong to, and
// other requests are not traced; recorded spans are flushed before the process ends, or dropped after flushTimeout, and a collector that
// does not respond delays nothing else.
package tracing
