// SPDX-License-Identifier: Apache-2.0

// Package follow prints a result again whenever it changes, for --watch: Printer any result of a watcher, and Delivered one about delivered objects.
package follow
