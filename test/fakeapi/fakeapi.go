// SPDX-License-Identifier: Apache-2.0

package fakeapi

import (
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// converters are the default ones of fake clients, which each client would make anew.
var converters = sync.OnceValue(func() []managedfields.TypeConverter {
	return []managedfields.TypeConverter{applyconfigurations.NewTypeConverter(clientgoscheme.Scheme), managedfields.NewDeducedTypeConverter()}
})

// NewClientBuilder returns a builder of a fake client that knows the types that the functions add to its scheme.
//
// The fake client of controller-runtime builds a RESTMapper of all types of its scheme for every write, in a time that grows with the square
// of their number: with all types that the hub knows, most of the CPU time of a test is spent on it. A test that names the types that it uses
// spends nearly none.
func NewClientBuilder(types ...func(*runtime.Scheme) error) *fake.ClientBuilder {
	scheme := runtime.NewScheme()
	for _, add := range types {
		utilruntime.Must(add(scheme))
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithTypeConverters(converters()...)
}
