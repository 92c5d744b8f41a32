// Package alerts tests the alerts of docs/metrics.md with promtool, on series as the replicas of a hub export them.
package alerts
