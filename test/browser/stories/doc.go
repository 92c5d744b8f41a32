// SPDX-License-Identifier: Apache-2.0

// Package stories has the stories of people who use the dashboard: each finds something out on a real hub, in a real browser. All stories have one
// hub and one browser.
package stories
