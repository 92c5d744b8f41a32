// SPDX-License-Identifier: Apache-2.0

package writes

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

// Method is a way in which manifests are written.
type Method string

// The methods. An empty Method is not known.
const (
	ClientSide Method = "client-side"
	ServerSide Method = "server-side"
	Replace    Method = "replace"
)

// Kubectl is the field manager of the server-side apply of kubectl.
const Kubectl = "kubectl"

// Write is how a manifest is written.
type Write struct {
	Method Method
	// FieldManager and Force are those of server-side apply.
	FieldManager string
	Force        bool
}

// String names the write as users know it.
func (w Write) String() string {
	switch w.Method {
	case ServerSide:
		return "server-side apply of field manager " + w.FieldManager
	case Replace:
		return "kubectl replace"
	default:
		return "kubectl apply"
	}
}

// appliers are the field managers of known tools that use server-side apply, and whether they force it.
var appliers = map[string]bool{
	Kubectl: false, "helm": false, "argocd-controller": true, "kustomize-controller": true, "helm-controller": true,
}

// lastApplied is the field that the client-side apply of kubectl writes every time.
var lastApplied = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation))

// Of returns how an object was written last, as far as its managedFields and annotations say; false if they do not.
func Of(live metav1.Object) (Write, bool) {
	var last *metav1.ManagedFieldsEntry
	for i, entry := range live.GetManagedFields() {
		_, known := appliers[entry.Manager]
		applied := known && entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == ""
		if applied && (last == nil || last.Time.Before(entry.Time)) {
			last = &live.GetManagedFields()[i]
		}
	}
	clientSide := Write{Method: ClientSide}
	for _, entry := range clientSideEntries(live) {
		// Server-side apply takes these entries over, so that one of the same second is later.
		if last == nil || !entry.Time.Before(last.Time) {
			return clientSide, true
		}
	}

	switch {
	case last != nil:
		return Write{Method: ServerSide, FieldManager: last.Manager, Force: appliers[last.Manager]}, true
	case live.GetAnnotations()[corev1.LastAppliedConfigAnnotation] != "":
		return clientSide, true
	default:
		return Write{}, false
	}
}

// IsHidden reports whether an object was printed without its managedFields, as kubectl does by default. Objects of an API server always have some.
func IsHidden(live metav1.Object) bool { return len(live.GetManagedFields()) == 0 }

// TakesOver reports whether server-side apply by kubectl takes over the fields of client-side applies of an object. It does so by several writes.
func (w Write) TakesOver(live metav1.Object) bool {
	return w.Method == ServerSide && len(clientSideEntries(live)) > 0
}

// clientSideEntries returns the entries of the client-side applies of kubectl, which kubectl finds in this way too.
func clientSideEntries(live metav1.Object) []metav1.ManagedFieldsEntry {
	return csaupgrade.FindFieldsOwners(live.GetManagedFields(), metav1.ManagedFieldsOperationUpdate, lastApplied)
}

// clientSideManagers returns the field managers of these entries.
func clientSideManagers(live metav1.Object) sets.Set[string] {
	managers := sets.New[string]()
	for _, entry := range clientSideEntries(live) {
		managers.Insert(entry.Manager)
	}
	return managers
}
