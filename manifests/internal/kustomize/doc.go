// SPDX-License-Identifier: Apache-2.0

// Command kustomize writes, for each opt-in system, the kustomization of its manifests and the component that adds them and the controllers of
// the system to a hub. It keeps the comment at the beginning of a file that exists. go generate runs it in package manifests.
package main
