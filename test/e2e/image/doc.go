// SPDX-License-Identifier: Apache-2.0

// Package image has the end-to-end test of the container image: it is built without an engine, unpacked, and its entrypoint decides on a control
// plane as its user.
package image
