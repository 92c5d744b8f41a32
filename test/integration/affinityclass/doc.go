// SPDX-License-Identifier: Apache-2.0

// Package affinityclass holds the specs of AffinityClasses: what the webhook admits and refuses, and what the controllers write. Kubernetes
// makes the pods and binds them; the specs play Flux.
package affinityclass
