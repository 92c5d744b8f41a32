// SPDX-License-Identifier: Apache-2.0

// Package scrapes evaluates the rules of deploy/monitoring with promtool over scrapes of a hub, before the causes of alerts are there, while they
// are, and after them. Each scrape is repeated for many minutes, so that a test does not wait for as long as the rules do.
package scrapes
