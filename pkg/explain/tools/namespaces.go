// SPDX-License-Identifier: Apache-2.0

package tools

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate/statefile"
	"github.com/placement-hub/placement-hub/pkg/explain/objectlist"
	"github.com/placement-hub/placement-hub/pkg/explain/writes"
	federated "github.com/placement-hub/placement-hub/pkg/federation/explain"
)

// namespaceKind is the kind of Namespaces.
var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

// NamespaceEffects says for which parts of a comparison the Namespaces of the files matter.
type NamespaceEffects struct {
	// pods reports that policies or classes read something else of a Namespace, and delivery that its objects would be delivered otherwise.
	pods, delivery bool
}

// decidesPods reports whether the files change what is admitted.
func (e NamespaceEffects) decidesPods(given *explain.State) bool {
	return e.pods || decidesPods(given)
}

// decidesDelivery reports whether the files change what is delivered.
func (e NamespaceEffects) decidesDelivery(given *explain.State) bool {
	return e.delivery || decidesDelivery(given)
}

// ReadNamespaceEffects compares the Namespaces of the files with those of a live hub. A new Namespace has no workload and no object.
func ReadNamespaceEffects(
	ctx context.Context, hub client.Reader, changes *statefile.ChangeReader, w statefile.Writes, given *explain.State,
) (NamespaceEffects, error) {
	live, err := hubstate.ReadNamespaces(ctx, hub, namesOf(given.Federated.Namespaces))
	if err != nil {
		return NamespaceEffects{}, err
	}
	return effectsOfNamespaces(changes, w, live)
}

// FileNamespaceEffects compares the Namespaces of the files with those of a hub in files, which may leave a Namespace out that has workloads.
func FileNamespaceEffects(changes *statefile.ChangeReader, w statefile.Writes, given, hub *explain.State) (NamespaceEffects, error) {
	live := hub.Federated.Namespaces
	for _, namespace := range given.Federated.Namespaces {
		if objectlist.Find(live, namespace) == nil {
			absent := &corev1.Namespace{}
			absent.Name = namespace.Name
			live = append(slices.Clip(live), absent)
		}
	}
	return effectsOfNamespaces(changes, w, live)
}

func effectsOfNamespaces(changes *statefile.ChangeReader, w statefile.Writes, live []*corev1.Namespace) (NamespaceEffects, error) {
	hub, effects := &explain.State{}, NamespaceEffects{}
	hub.Federated.Namespaces, w.Review = live, nil
	for _, w.InDoubt = range []writes.Method{writes.ClientSide, writes.ServerSide} {
		_, applied, err := changes.Apply(hub, &w)
		if err != nil {
			return NamespaceEffects{}, err
		}
		for _, one := range applied {
			namespace, is := one.To.(*corev1.Namespace)
			if !is || one.Result.New {
				continue
			}
			effects.pods = effects.pods || !one.Result.Unchanged
			effects.delivery = effects.delivery || !federated.SameDelivery(objectlist.Find(live, namespace), namespace)
		}
	}
	return effects, nil
}

func namesOf(namespaces []*corev1.Namespace) []string {
	names := make([]string, 0, len(namespaces))
	for _, namespace := range namespaces {
		names = append(names, namespace.Name)
	}
	return names
}
