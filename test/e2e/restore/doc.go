// SPDX-License-Identifier: Apache-2.0

// Package restore has the end-to-end tests of docs/backup.md with a tool that saves objects: kubectl restores them with new UIDs, in several
// orders, while the garbage collector of kube-controller-manager runs.
package restore
