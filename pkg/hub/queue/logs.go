// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"github.com/go-logr/logr"
)

// Logs makes the loggers of a controller whose requests are no reconcile.Request: every line, that of an error which the reconciler returns
// too, says by the values which request it is about.
func Logs[request any](log logr.Logger, controller string, values func(request) []any) func(*request) logr.Logger {
	log = log.WithValues("controller", controller)
	return func(about *request) logr.Logger {
		if about == nil {
			return log
		}
		return log.WithValues(values(*about)...)
	}
}
