// SPDX-License-Identifier: Apache-2.0

package hubflags

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/exit"
	"github.com/placement-hub/placement-hub/pkg/federation"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
	"github.com/placement-hub/placement-hub/pkg/system"
)

// Kinds is the flag for the kinds that the hub delivers beyond the default ones.
type Kinds struct {
	Added []string
	// Delivered are the delivered kinds, of which parseKinds makes sense.
	Delivered []federation.FederatedKind
}

// AddKinds adds the flag.
func (k *Kinds) AddKinds(flags *pflag.FlagSet) {
	flags.StringSliceVar(&k.Added, system.FederatedKindsFlag, nil,
		"Kinds that the hub delivers beyond "+system.DefaultFederatedKinds()+", as in the flag of its controller: group/version/Kind, or v1/Kind.")
}

// ParseKinds parses the flag. Its errors are usage errors. Resources are guessed from kinds, as they serve to find names on the command line.
func (k *Kinds) ParseKinds() error {
	kinds, err := federation.ParseKinds(k.Added)
	if err != nil {
		return exit.Mistake(fmt.Errorf("--%s: %w", system.FederatedKindsFlag, err))
	}
	k.Delivered = federation.DefaultKinds()
	for _, kind := range kinds {
		resource, _ := meta.UnsafeGuessKindToResource(kind)
		k.Delivered = append(k.Delivered, federation.FederatedKind{GroupVersionKind: kind, Resource: resource.Resource})
	}
	return nil
}

// DeliveredKinds returns the kinds of the delivered objects.
func (k *Kinds) DeliveredKinds() []schema.GroupVersionKind { return federated.KindsOf(k.Delivered) }

// ObjectTypes lists the types of delivered objects.
func (k *Kinds) ObjectTypes() []string {
	types := make([]string, 0, len(k.Delivered))
	for _, kind := range k.Delivered {
		types = append(types, strings.ToLower(kind.Kind))
	}
	return types
}

// DeliveredName is an object of a kind that is delivered, as named on the command line.
type DeliveredName = ObjectName[federation.FederatedKind]

// ParseObjects parses names of delivered objects as kubectl does, TYPE/NAME and TYPE NAME. The result is nil if the arguments name none.
func (k *Kinds) ParseObjects(args []string) ([]DeliveredName, error) {
	return NamedKinds[federation.FederatedKind]{
		Find: func(text string) (federation.FederatedKind, string, bool) {
			kind, is := federated.FindKind(k.Delivered, text)
			return kind, kind.Kind, is
		},
		Alone: "name objects as TYPE/NAME, and nothing else in one command",
	}.Parse(args)
}
