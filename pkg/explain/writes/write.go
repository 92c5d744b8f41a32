// SPDX-License-Identifier: Apache-2.0

package writes

import (
	"slices"

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

// The field managers of Helm, of which Helm 3 writes by updates, and those of Helm 4 and Flux by server-side apply too.
const (
	helm           = "helm"
	helmController = "helm-controller"
)

// appliers are the field managers of known tools that use server-side apply, and whether they force it.
var appliers = map[string]bool{Kubectl: false, helm: false, "argocd-controller": true, "kustomize-controller": true, helmController: true}

// lastApplied is the field that the client-side apply of kubectl writes every time.
var lastApplied = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata", "annotations", corev1.LastAppliedConfigAnnotation))

// Of returns how an object was written last, as far as its managedFields and annotations say; false if they do not. The Write has the FieldManager
// of the last server-side apply of an unknown tool, or of Helm 3, then.
func Of(live metav1.Object) (Write, bool) {
	var last, unknown *metav1.ManagedFieldsEntry
	for i, entry := range live.GetManagedFields() {
		if entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" {
			continue
		}
		latest := &unknown
		if _, known := appliers[entry.Manager]; known {
			latest = &last
		}
		if *latest == nil || (*latest).Time.Before(entry.Time) {
			*latest = &live.GetManagedFields()[i]
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
	case unknown != nil:
		return Write{FieldManager: unknown.Manager}, false
	default:
		return Write{FieldManager: releaser(live)}, false
	}
}

// releaser returns the field manager of Helm 3 that has written an object; empty if none has. Helm 3 removes what its last release has and the next
// one lacks. The object has no more of that release than the fields that Helm owns.
func releaser(live metav1.Object) string {
	for _, manager := range []string{helm, helmController} {
		if updates(live, manager) {
			return manager
		}
	}
	return ""
}

// updates reports whether a field manager owns fields of an object by updates.
func updates(live metav1.Object, manager string) bool {
	return slices.ContainsFunc(live.GetManagedFields(), func(entry metav1.ManagedFieldsEntry) bool {
		return entry.Manager == manager && entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == ""
	})
}

// IsHidden reports whether an object was printed without its managedFields, as kubectl does by default. Objects of an API server always have some.
func IsHidden(live metav1.Object) bool { return len(live.GetManagedFields()) == 0 }

// TakesOver reports whether server-side apply by kubectl takes over the fields of client-side applies of an object, or that by Helm those of its own
// updates. Both do so by several writes.
func (w Write) TakesOver(live metav1.Object) bool {
	return w.Method == ServerSide && len(w.takenOver(live)) > 0
}

// takenOver returns the field managers whose fields are taken over.
func (w Write) takenOver(live metav1.Object) sets.Set[string] {
	managers := sets.New[string]()
	for _, entry := range clientSideEntries(live) {
		managers.Insert(entry.Manager)
	}
	if (w.FieldManager == helm || w.FieldManager == helmController) && updates(live, w.FieldManager) {
		managers.Insert(w.FieldManager)
	}
	return managers
}

// clientSideEntries returns the entries of the client-side applies of kubectl, which kubectl finds in this way too.
func clientSideEntries(live metav1.Object) []metav1.ManagedFieldsEntry {
	return csaupgrade.FindFieldsOwners(live.GetManagedFields(), metav1.ManagedFieldsOperationUpdate, lastApplied)
}
