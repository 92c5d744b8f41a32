// Package metrics declares every time series of the hub in one file. The names that the upstream controller uses are kept; ours begin
// with placement_hub_.
package metrics
