// SPDX-License-Identifier: Apache-2.0

// Package suite is what the packages of integration specs have in common: a control plane, a hub that runs as the ServiceAccount of manifests/,
// fixtures, and expectations about what placements show. Every package of specs calls Run once, so that one process has one control plane and
// one hub, and specs may replace either for a while.
package suite
