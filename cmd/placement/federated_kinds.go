// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// kindFlags is the flag for the kinds that the hub delivers beyond the default ones.
type kindFlags struct {
	added []string
	// delivered are the delivered kinds, of which parseKinds makes sense.
	delivered []federation.FederatedKind
}

func (f *kindFlags) addKinds(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.added, system.FederatedKindsFlag, nil,
		"Kinds that the hub delivers beyond "+system.DefaultFederatedKinds()+", as in the flag of its controller: group/version/Kind, or v1/Kind.")
}

// parseKinds parses the flag. Its errors are usage errors. Resources are guessed from kinds, as they serve to find names on the command line.
func (f *kindFlags) parseKinds() error {
	kinds, err := federation.ParseKinds(f.added)
	if err != nil {
		return &usageError{fmt.Errorf("--%s: %w", system.FederatedKindsFlag, err)}
	}
	f.delivered = federation.DefaultKinds()
	for _, kind := range kinds {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		f.delivered = append(f.delivered, federation.FederatedKind{GroupVersionKind: kind, Resource: resource.Resource})
	}
	return nil
}

// deliveredKinds returns the kinds of the delivered objects.
func (f *kindFlags) deliveredKinds() []schema.GroupVersionKind { return federated.KindsOf(f.delivered) }

// objectTypes lists the types of delivered objects.
func (f *kindFlags) objectTypes() []string {
	types := make([]string, 0, len(f.delivered))
	for _, kind := range f.delivered {
		types = append(types, strings.ToLower(kind.Kind))
	}
	return types
}
