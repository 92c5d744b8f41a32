package statefile

import (
	"encoding/base64"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	workv1 "open-cluster-management.io/api/work/v1"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

var workKind = schema.GroupVersionKind{Group: workv1.GroupName, Version: workv1.GroupVersion.Version, Kind: "ManifestWork"}

// typedObjects has an empty object of each delivered kind that is no workload, for strict decoding.
var typedObjects = map[schema.GroupVersionKind]runtime.Object{
	corev1.SchemeGroupVersion.WithKind("ConfigMap"):     &corev1.ConfigMap{},
	corev1.SchemeGroupVersion.WithKind("Secret"):        &corev1.Secret{},
	corev1.SchemeGroupVersion.WithKind("Service"):       &corev1.Service{},
	networkingv1.SchemeGroupVersion.WithKind("Ingress"): &networkingv1.Ingress{},
}

// Deliver sets the delivered kinds; the default is federation.DefaultKinds. Of kinds that are not known otherwise, only the metadata is
// validated.
func (r *Reader) Deliver(kinds []federation.Kind) { r.state.Federated.Kinds = kinds }

// isFederated reports whether a kind is delivered.
func isFederated(w *explain.State, gvk schema.GroupVersionKind) bool {
	_, is := w.Federated.KindOf(gvk)

	return is
}

// federatedStores has the kinds of State.Federated that State.Pods does not have.
func federatedStores() map[schema.GroupVersionKind]store {
	stores := map[schema.GroupVersionKind]store{
		workKind: into(func(w *explain.State) *[]*workv1.ManifestWork { return &w.Federated.Works }),
	}

	for gvk, empty := range typedObjects {
		stores[gvk] = storeObject(empty)
	}

	return stores
}

// storeNamespace stores a Namespace, which decides about Pods and about delivery.
func storeNamespace(w *explain.State, fields map[string]any) error {
	namespace := &corev1.Namespace{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, namespace, true); err != nil {
		return fmt.Errorf("cannot be read: %w", err)
	}

	w.Pods.Namespaces = append(w.Pods.Namespaces, namespace)
	w.Federated.Namespaces = append(w.Federated.Namespaces, namespace)

	return nil
}

// storeObject returns a store that keeps an object as it was given, once a type of its kind can have it.
func storeObject(empty runtime.Object) store {
	return func(w *explain.State, fields map[string]any) error {
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(fields, empty.DeepCopyObject(), true); err != nil {
			return fmt.Errorf("cannot be read: %w", err)
		}

		object := &unstructured.Unstructured{Object: fields}
		encodeStringData(object)
		w.Federated.Objects = append(w.Federated.Objects, object)

		return nil
	}
}

// encodeStringData moves the stringData of a Secret to its data, as the API server does.
func encodeStringData(object *unstructured.Unstructured) {
	texts, found, err := unstructured.NestedStringMap(object.Object, "stringData")
	if object.GetKind() != "Secret" || !found || err != nil {
		return
	}

	data, isMap := object.Object["data"].(map[string]any)
	if !isMap {
		data = map[string]any{}
	}

	for key, text := range texts {
		data[key] = base64.StdEncoding.EncodeToString([]byte(text))
	}

	object.Object["data"] = data
	delete(object.Object, "stringData")
}

// federatedBuiltins are the kinds of State.Federated without a CustomResourceDefinition.
func federatedBuiltins() map[schema.GroupVersionKind]admitter {
	admitters := map[schema.GroupVersionKind]admitter{}

	for gvk := range federatedStores() {
		admitters[gvk] = &builtin{metadataRules: metadataRules{kind: gvk.Kind, namespaced: true, nameRule: metavalidation.NameIsDNSSubdomain}}
	}

	return admitters
}
