// SPDX-License-Identifier: Apache-2.0

// Package deploy has what brings the hub onto a cluster. Objects returns for `placement manifests` what the kustomizations of this directory
// have:
//
//   - base: a standalone hub by kustomize, with all controllers and everything of package manifests.
//   - base/controller: its Deployment, PodDisruptionBudget and Services alone.
//   - overlays/beside-upstream: the placement controller alone, beside the upstream registration controllers.
//   - components: what a kustomization adds to the base, such as the opt-in systems.
//   - charts/placement-hub: the Helm chart, which renders the same objects; make generate writes much of it (manifests/internal/helmchart).
//   - monitoring: alerts, recording rules, a dashboard, and what Prometheus needs to scrape.
//   - samples: a small world of clusters and placements to try things on.
package deploy
