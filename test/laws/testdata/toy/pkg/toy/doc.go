// SPDX-License-Identifier: Apache-2.0

// Package toy greets Widgets. It is a system that shows what a system consists of, and is in no binary: docs/adding-a-system.md.
package toy
