// SPDX-License-Identifier: Apache-2.0

// Package archive keeps rows of the history in ConfigMaps of the hub's namespace, so that they survive a restart and a change of leader
// (docs/spec/history.md).
//
// A ConfigMap is a shard: lines of JSON, one for each row. The leader appends the rows of some seconds to the latest shard with one write, and begins
// another when that is full. When there are too many shards, the oldest is deleted, after those of its rows have been appended once more that a
// history.Shares still keeps: so each namespace has a fair share here, too. A shard whose rows are all older than MaxAge is deleted.
//
// It promises that ConfigMaps take a bounded number of bytes, that nothing is written while no row is added or grows too old, and that a failed write
// loses rows at most.
package archive
