// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

const (
	// ReasonVersionGone is the reason of the Event about an object with managedFields of a version that its definition does not have any more.
	ReasonVersionGone = "ManagedFieldsVersionGone"
	// action is the action of these Events.
	action = "Apply"
)

// reports are what has been said already. It is safe for concurrent use.
type reports struct {
	recorder events.EventRecorder
	said     sync.Map
}

func newReports(recorder events.EventRecorder) *reports { return &reports{recorder: recorder} }

// isNew reports whether something is said for the first time.
func (r *reports) isNew(what ...string) bool {
	_, before := r.said.LoadOrStore(strings.Join(what, " "), nil)
	return !before
}

// older says that a definition lacks fields.
func (r *reports) older(ctx context.Context, lacks *OlderDefinitionError) {
	if r.isNew(lacks.Error()) {
		klog.FromContext(ctx).Info("A status is written without the fields that its CustomResourceDefinition lacks, which is older than this "+
			"process: apply the definition of the same version", "customResourceDefinition", lacks.Definition, "fields", lacks.Fields)
	}
}

// gone says that the managedFields of an object have a version which is gone, and how they are cured.
func (r *reports) gone(ctx context.Context, object *unstructured.Unstructured, of schema.GroupResource, version string) {
	if !r.isNew(string(object.GetUID()), version) {
		return
	}
	cure := cure(object, of, version)
	klog.FromContext(ctx).Info("The API server applies nothing to an object, because its managedFields have a version that its "+
		"CustomResourceDefinition does not have any more; merge patches are sent instead until these entries are removed",
		"customResourceDefinition", of.String(), "object", klog.KObj(object), "version", version, "command", cure)

	reference := &corev1.ObjectReference{
		APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID(),
	}
	r.recorder.Eventf(reference, nil, corev1.EventTypeWarning, ReasonVersionGone, action, "%s",
		"The API server applies nothing to this object, because its managedFields have the version "+version+
			", which CustomResourceDefinition "+of.String()+" does not have any more; merge patches are sent instead. Remove these entries: "+cure)
}

// cure returns the command that removes the managedFields of a version from an object, and leaves those of other versions.
func cure(object *unstructured.Unstructured, of schema.GroupResource, version string) string {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value string `json:"value,omitempty"`
	}
	var operations []operation
	for i, entry := range slices.Backward(object.GetManagedFields()) { // The indices of the entries before stay as they are.
		if entry.APIVersion == version {
			at := fmt.Sprintf("/metadata/managedFields/%d", i)
			operations = append(operations, operation{"test", at + "/apiVersion", version}, operation{Op: "remove", Path: at})
		}
	}

	patch, err := json.Marshal(operations)
	if err != nil {
		panic(err) // Strings can be encoded.
	}
	namespace := ""
	if object.GetNamespace() != "" {
		namespace = " -n " + object.GetNamespace()
	}
	return fmt.Sprintf("kubectl patch %s%s %s --type=json -p '%s'", of, namespace, object.GetName(), patch)
}
