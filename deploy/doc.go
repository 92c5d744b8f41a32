// Package deploy is the place of what brings the hub onto a cluster, and of the tests that keep it whole. It holds no code.
//
//   - base: a standalone hub by kustomize, with all controllers and everything of package manifests.
//   - base/controller: its Deployment, PodDisruptionBudget and the Service of its metrics alone.
//   - base/webhook: the admission webhook for ManagedClusters, and its Service.
//   - overlays/beside-upstream: the placement controller alone, beside the upstream registration controllers.
//   - samples: a small world of clusters and placements to try things on.
package deploy
