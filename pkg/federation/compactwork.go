// SPDX-License-Identifier: Apache-2.0

package federation

import (
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
)

// maxMessage is the maximum length of a message in a compact work, in bytes.
const maxMessage = 256

// digest takes the place of the manifests of a compact work. It is the Object of a RawExtension, which the decoder of API objects never sets,
// so that nobody can pretend a hash.
type digest struct {
	Hash     string `json:"hash"`
	Replicas int32  `json:"replicas"`
}

// GetObjectKind returns an empty kind.
func (*digest) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns a copy.
func (d *digest) DeepCopyObject() runtime.Object {
	digest := *d
	return &digest
}

// digestOf returns the digest of a compact work; nil for any other work.
func digestOf(work *workv1.ManifestWork) *digest {
	if len(work.Spec.Workload.Manifests) != 1 {
		return nil
	}
	digest, _ := work.Spec.Workload.Manifests[0].Object.(*digest)
	return digest
}

// IsCompactWork reports whether CompactWork was called for a work.
func IsCompactWork(work *workv1.ManifestWork) bool { return digestOf(work) != nil }

// CompactWork makes a work small for a cache, in place. A compact work, which may be shared, is not written to.
//
// It keeps what ExistingWorkOf, Identity.Owns, StoredHash and requests need: names, versions, finalizers, the identity of the object, who has
// applied it, the hash and replicas instead of the manifests, and the deletion policy; of the status the conditions Applied and Available, the
// failures of manifests, and the ready replicas or selected clusters. Messages are cut at 256 bytes. Everything else is dropped, also the labels. A
// work that cannot be hashed gets an empty hash, which differs from that of every wanted work.
func CompactWork(work *workv1.ManifestWork) {
	if IsCompactWork(work) {
		return
	}
	compactTo(work, newDigest(work))
}

// WrittenWork returns the compact work after a write whose response has only the metadata. It has the spec that was written, and the status of
// the last work that was known before, which may be compact or nil: if the API server has another spec or status, the watch event corrects it.
func WrittenWork(answer metav1.ObjectMeta, spec *workv1.ManifestWorkSpec, last *workv1.ManifestWork) *workv1.ManifestWork {
	work := &workv1.ManifestWork{ObjectMeta: answer, Spec: *spec}
	if last != nil && last.UID == answer.UID {
		work.Status = last.Status
		if value, found := last.Annotations[unreadable.Annotation]; found {
			work.Annotations = maps.Clone(work.Annotations)
			metav1.SetMetaDataAnnotation(&work.ObjectMeta, unreadable.Annotation, value)
		}
	}
	compactTo(work, newDigest(work))
	return work
}

// newDigest returns the digest of a work.
func newDigest(work *workv1.ManifestWork) digest {
	contents := digest{Hash: StoredHash(work)}
	if replicas, err := PlannedReplicas(work); err == nil {
		contents.Replicas = replicas
	}
	return contents
}

// compactTo makes a work compact with its digest.
func compactTo(work *workv1.ManifestWork, contents digest) {
	compact := workv1.ManifestWork{TypeMeta: work.TypeMeta, ObjectMeta: metav1.ObjectMeta{
		Namespace: work.Namespace, Name: work.Name, UID: work.UID, ResourceVersion: work.ResourceVersion, Generation: work.Generation,
		DeletionTimestamp: work.DeletionTimestamp, Finalizers: work.Finalizers, Annotations: map[string]string{},
		ManagedFields: compactManagers(work),
	}}
	if restored(work) {
		compact.CreationTimestamp = work.CreationTimestamp
	}
	for _, name := range []string{ObjectAnnotation, unreadable.Annotation} {
		if value, found := work.Annotations[name]; found {
			compact.Annotations[name] = value
		}
	}

	compact.Spec.Workload.Manifests = []workv1.Manifest{{RawExtension: runtime.RawExtension{Object: &contents}}}
	if option := work.Spec.DeleteOption; option != nil {
		compact.Spec.DeleteOption = &workv1.DeleteOption{PropagationPolicy: option.PropagationPolicy}
	}
	compact.Status.Conditions = compactConditions(work.Status.Conditions, func(condition metav1.Condition) bool {
		return condition.Type == workv1.WorkApplied || condition.Type == workv1.WorkAvailable
	})
	compact.Status.ResourceStatus.Manifests = compactManifests(work.Status.ResourceStatus.Manifests)

	*work = compact
}

// The managedFields of all compact works, which are shared and must not be changed.
var (
	managedByHub    = []metav1.ManagedFieldsEntry{{Manager: FieldManager, Operation: metav1.ManagedFieldsOperationApply}}
	managedByOthers = []metav1.ManagedFieldsEntry{{}}
)

// compactManagers returns who has applied a work, as far as Identity.Owns and ExistingWorkOf read it.
func compactManagers(work *workv1.ManifestWork) []metav1.ManagedFieldsEntry {
	switch {
	case len(work.ManagedFields) == 0:
		return nil
	case restored(work):
		entry := hubEntry(work)
		return []metav1.ManagedFieldsEntry{{Manager: entry.Manager, Operation: entry.Operation, Time: entry.Time}}
	case appliedByHub(work):
		return managedByHub
	default:
		return managedByOthers
	}
}

// compactConditions returns some of the conditions without their times, and with messages only where they tell of a failure.
func compactConditions(conditions []metav1.Condition, kept func(metav1.Condition) bool) []metav1.Condition {
	var compact []metav1.Condition
	for _, condition := range conditions {
		if !kept(condition) {
			continue
		}
		short := metav1.Condition{
			Type: condition.Type, Status: condition.Status, ObservedGeneration: condition.ObservedGeneration, Reason: condition.Reason,
		}
		if condition.Status == metav1.ConditionFalse {
			short.Message = cut(condition.Message)
		}
		compact = append(compact, short)
	}

	return compact
}

// compactManifests returns the manifests with a failure or a number that the agent reports.
func compactManifests(manifests []workv1.ManifestCondition) []workv1.ManifestCondition {
	var compact []workv1.ManifestCondition
	for _, manifest := range manifests {
		short := workv1.ManifestCondition{Conditions: compactConditions(manifest.Conditions, func(condition metav1.Condition) bool {
			return condition.Status == metav1.ConditionFalse
		})}
		for _, value := range manifest.StatusFeedbacks.Values {
			if (value.Name == ReadyReplicas || value.Name == SelectedClusters) && value.Value.Integer != nil {
				value.Value = workv1.FieldValue{Type: workv1.Integer, Integer: value.Value.Integer}
				short.StatusFeedbacks.Values = append(short.StatusFeedbacks.Values, value)
			}
		}

		if len(short.Conditions) == 0 && len(short.StatusFeedbacks.Values) == 0 {
			continue
		}
		short.ResourceMeta = workv1.ManifestResourceMeta{
			Resource: manifest.ResourceMeta.Resource, Namespace: manifest.ResourceMeta.Namespace, Name: manifest.ResourceMeta.Name,
		}
		compact = append(compact, short)
	}

	return compact
}

// cut shortens a message to maxMessage bytes.
func cut(message string) string {
	if len(message) <= maxMessage {
		return strings.Clone(message)
	}
	return strings.ToValidUTF8(message[:maxMessage-len("...")], "") + "..."
}

// InternWork calls intern with the strings of a compact work that the works of other clusters or objects have too. It must not be called for
// a work that is shared already.
func InternWork(work *workv1.ManifestWork, intern func(...*string)) {
	intern(&work.Namespace, &work.Name)
	if contents := digestOf(work); contents != nil {
		intern(&contents.Hash)
	}
	for i := range work.Finalizers {
		intern(&work.Finalizers[i])
	}

	if object, found := work.Annotations[ObjectAnnotation]; found {
		intern(&object)
		work.Annotations[ObjectAnnotation] = object
	}
	internConditions(work.Status.Conditions, intern)

	for i := range work.Status.ResourceStatus.Manifests {
		manifest := &work.Status.ResourceStatus.Manifests[i]
		intern(&manifest.ResourceMeta.Resource, &manifest.ResourceMeta.Namespace, &manifest.ResourceMeta.Name)
		internConditions(manifest.Conditions, intern)
		for j := range manifest.StatusFeedbacks.Values {
			intern(&manifest.StatusFeedbacks.Values[j].Name)
		}
	}
}

func internConditions(conditions []metav1.Condition, intern func(...*string)) {
	for i := range conditions {
		status := string(conditions[i].Status)
		intern(&conditions[i].Type, &status, &conditions[i].Reason, &conditions[i].Message)
		conditions[i].Status = metav1.ConditionStatus(status)
	}
}
