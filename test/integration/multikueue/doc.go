// SPDX-License-Identifier: Apache-2.0

// Package multikueue applies the YAML and runs the commands of docs/multikueue.md against the definitions of the version of Kueue that the page
// names, beside a hub that makes ClusterProfiles.
package multikueue
