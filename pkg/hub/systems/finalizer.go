// SPDX-License-Identifier: Apache-2.0

package systems

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Finalizer is a finalizer that the controllers and providers of a system put on objects. Nothing removes it while the system is off.
type Finalizer struct {
	// Name is the finalizer or, with Prefix, what it begins with.
	Name   string
	Prefix bool
	// Resource has the objects; empty means that those of every namespaced resource may have it.
	Resource schema.GroupVersionResource
	// Waits says what an object that is deleted waits for: "until its ManifestWorks are gone".
	Waits string
	// Left says in a sentence what stays, and goes on running, if the finalizer is removed without that.
	Left string
	// Remains returns a function that names what stays of one object, of which an object of every resource has the kind and the metadata alone; nil
	// if Left says it all. It is called once for all objects, so that it lists once what it looks up for each of them.
	Remains func(list List) func(object *unstructured.Unstructured) []string
}

// List returns the metadata of the objects of a resource that have a label, in all namespaces; none if the resource is not served, or if they
// cannot be read.
type List func(resource schema.GroupVersionResource, selector string) []metav1.PartialObjectMetadata

// String returns the finalizer, of one with a prefix as a pattern.
func (f Finalizer) String() string {
	if f.Prefix {
		return f.Name + "<uid>"
	}
	return f.Name
}

// In returns those of the finalizers of an object that are f.
func (f Finalizer) In(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(name string) bool {
		return name != f.Name && (!f.Prefix || !strings.HasPrefix(name, f.Name))
	})
}
