// SPDX-License-Identifier: Apache-2.0

// Package localplane tests pkg/localplane with real binaries: what it starts, keeps, and leaves behind.
package localplane
