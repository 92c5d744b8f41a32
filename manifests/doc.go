// SPDX-License-Identifier: Apache-2.0

// Package manifests carries everything that a Kubernetes API server must hold before the placement hub can work on it: the
// CustomResourceDefinitions of the groups cluster.open-cluster-management.io and placement.open-cluster-management.io, the
// hub's namespace and ServiceAccount, its RBAC, and admission policies. The files are embedded in the binary (Objects), applied by
// it (Install), and packaged by deploy through the kustomization.yaml beside each set of files.
//
// The directories:
//
//   - crds: the definitions of open-cluster-management.io/api, byte for byte, and those of our own types in pkg/apis. None is
//     edited here: make generate copies the former from the module that go.mod pins, and a test compares the two; it makes the
//     latter of the markers on the Go types, with an overlay for what no marker reaches (internal/crdoverlay).
//
//   - rbac/placement: namespace open-cluster-management-hub, ServiceAccount placement-controller-sa, and the least privilege
//     that the controller named "placement" needs. An installation beside the upstream controllers has this and rbac/explanations.
//
//   - rbac/placement-v1alpha1: what the controller "placement-v1alpha1" needs in addition.
//
//   - rbac/sets: what the controllers "clusterset" and "clustersetbinding" write, in addition. A standalone hub uses both.
//
//   - rbac/clustersetbinding-rbac: what the controller "clustersetbinding-rbac" needs in addition: to read who may bind which sets, and to
//     write bindings.
//
//   - rbac/managedcluster-taints: what the controller "managedcluster-taints" needs in addition.
//
//   - rbac/vocabulary: what the controller "vocabulary" needs in addition, for the ConfigMap that a policy looks into.
//
//   - rbac/explanations: what the endpoint of explanations needs in addition, for the ConfigMap with its address, and the right of every
//     authenticated user to read that one.
//
//   - rbac/clusterset-roles: what the controller "clusterset-roles" needs in addition, and holds because it grants it.
//
//   - rbac/left-finalizers: what the leader needs to find objects whose deletion waits for a system that is off.
//
//   - rbac/people: roles for people, without bindings: three that are aggregated to view, edit and admin, and
//     "tenant", "fleet-view" and "debug".
//
//   - admission: ValidatingAdmissionPolicies, which the API server runs by itself. "placements" denies what can never work, with the
//     messages of the hub; those of "readable" deny what would make objects unreadable for Go; "vocabulary" warns of names that
//     nothing has yet, and "affected" of changes of sets and bindings that Placements use. "bindings" and "clusters" ask the
//     authorizer who may bind a set, move a cluster and accept one.
//
//   - rbac/managedcluster-defaults: what the controller "managedcluster-defaults" needs in addition.
//
//   - webhook: the configurations by which the API server asks the hub about ManagedClusters. They are not among Objects, because
//     they reject requests while no hub serves the webhook: InstallWebhook applies them, and RemoveWebhook deletes them.
//
//   - multicluster: the definitions of multicluster.x-k8s.io and the rights for --sig-placement-decisions. They are not among
//     Objects, because they belong to another project: InstallMulticluster applies them where nobody else does.
//
//   - history: the rights for --history=configmaps. They are not among Objects: deploy/components/history and the chart add them.
//
//   - internal/helmchart makes the templates of the Helm chart of all these directories.
//
//   - podscheduling, affinityclass, federation, clusterrequest: the opt-in systems, with their definitions, roles, policies and webhook
//     configurations. They are not among Objects: InstallSystem applies one of them. make generate writes the kustomization of each directory,
//     and the component of deploy that adds it to a hub (internal/kustomize).
//
//   - manifestworks: the definition of ManifestWorks, byte for byte, which federation needs. It belongs to Open Cluster Management:
//     InstallManifestWorks applies it to hubs without Open Cluster Management.
//
//   - clusterprovider: the ServiceAccounts and rights of the providers of clusters that are built in. They are not among Objects, because
//     each provider is a process of its own: InstallClusterProviders applies them.
//
//   - argocdrefresh: the ServiceAccount and rights of `placement argocd-refresh` in the namespace of Argo CD, and the policy that limits what it
//     writes. They are not among Objects, because it is a process of its own: ArgoCDRefresh returns them.
//
// The roles of the hub are the ClusterRoles open-cluster-management:placement-hub:placement, ...:placement-v1alpha1, ...:sets,
// ...:clustersetbinding-rbac, ...:clusterset-roles, ...:managedcluster-taints, ...:managedcluster-defaults and ...:multicluster, and in
// the hub's namespace the Roles ...:leader-election, ...:vocabulary, ...:explanations, ...:history and ...:managedcluster-defaults; each is bound to
// the ServiceAccount by a binding of the same name. No rule has a wildcard.
//
// The package also applies YAML in general: Decode reads a stream of documents, and Apply brings objects and their status to
// an API server by server-side apply. Both also serve the objects of deploy/samples.
//
// Apply never deletes objects, never writes a field that the given object does not have, but for managedFields by which the API server could
// not apply it, and may be repeated: it does not change an
// object that is already as given. It takes over fields of other field managers (force), because a half-applied
// manifest is worse than a lost hand edit.
package manifests

//go:generate go run ./internal/crdcopy -out .
//go:generate go run ./internal/kustomize
//go:generate controller-gen crd paths=../pkg/apis/placement/... output:crd:dir=crds
//go:generate controller-gen crd paths=../pkg/apis/kupid/... output:crd:dir=podscheduling
//go:generate controller-gen crd paths=../pkg/apis/cozystack/...;../pkg/apis/cozystackapps/... output:crd:dir=affinityclass
//go:generate controller-gen crd paths=../pkg/apis/openmcp/...;../pkg/apis/openmcploopback/... output:crd:dir=clusterrequest
//go:generate controller-gen crd paths=sigs.k8s.io/cluster-inventory-api/apis/v1alpha1 output:crd:dir=multicluster
//go:generate go run ./internal/crdoverlay -crd crds/placement.open-cluster-management.io_placements.yaml -overlay internal/crdoverlay/placements.yaml
//go:generate go run ./internal/helmchart
