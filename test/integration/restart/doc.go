// SPDX-License-Identifier: Apache-2.0

// Package restart holds the specs of a hub that starts: over its own decisions, a backup, or those of the upstream controller.
package restart
