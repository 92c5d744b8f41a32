// SPDX-License-Identifier: Apache-2.0

// Package argocdrefresh runs the controller that refreshes ApplicationSets of Argo CD in a manager of its own, whose cache has one namespace,
// until the context ends.
package argocdrefresh
