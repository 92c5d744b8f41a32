// Package manifests carries everything that a Kubernetes API server must hold before the placement hub can work on it: the
// CustomResourceDefinitions of the cluster.open-cluster-management.io group, the hub's namespace and ServiceAccount, and its
// RBAC. The files are embedded in the binary (Objects), applied by it (Install), and packaged by deploy through the
// kustomization.yaml beside each set of files.
//
// What is in the rooms:
//
//   - crds: the definitions of open-cluster-management.io/api, byte for byte. They are never edited here: go generate copies
//     them from the module that go.mod pins, and a test compares the two.
//   - rbac/placement: namespace open-cluster-management-hub, ServiceAccount placement-controller-sa, and the least privilege
//     that the controller named "placement" needs. This is all that an installation beside the upstream controllers uses.
//   - rbac/sets: what the controllers "clusterset" and "clustersetbinding" write, in addition. A standalone hub uses both.
//
// The roles are ClusterRole open-cluster-management:placement-hub:placement, ClusterRole
// open-cluster-management:placement-hub:sets, and Role open-cluster-management:placement-hub:leader-election in the hub's
// namespace; each is bound to the ServiceAccount by a binding of the same name. No rule has a wildcard.
//
// The package also applies YAML in general: Decode reads a stream of documents, and Apply brings objects and their status to
// an API server by server-side apply. Both serve the sample world of deploy/samples as well as Objects.
//
// Apply never deletes anything, never writes a field that the given object does not carry, and may be repeated: an object
// that is already as wanted stays as it is. It takes over fields of other field managers (force), because a half-applied
// manifest is worse than a lost hand edit.
package manifests

//go:generate go run ./internal/crdcopy -out crds
