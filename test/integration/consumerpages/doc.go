// SPDX-License-Identifier: Apache-2.0

// Package consumerpages applies the YAML and runs the commands of the pages about consumers of ClusterProfiles, beside a hub that makes them:
// docs/multikueue.md, against the definitions of the version of Kueue that the page names, and docs/headlamp.md.
package consumerpages
