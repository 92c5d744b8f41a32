// SPDX-License-Identifier: Apache-2.0

// Package argocd has the end-to-end tests of `placement argocd-refresh`. They run the built binary as its ServiceAccount, with the rights and the
// policy of manifests/argocdrefresh, on a real API server with the definitions of Argo CD.
//
// The ApplicationSet controller is imitated (controller_test.go), because the module of Argo CD replaces a nested module by a directory since 3.4,
// and does not build outside of its repository. The imitation does what the real one does for the generator clusterDecisionResource: it reads
// decisions, writes Applications, and removes the annotation last.
package argocd
