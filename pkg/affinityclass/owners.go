// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// maxOwners is the greatest number of owners, and of HelmReleases that are found by label, that a walk reads.
const maxOwners = 8

// fluxNameLabel has the name of the HelmRelease that an object was rendered by.
const fluxNameLabel = "helm.toolkit.fluxcd.io/name"

// ReleaseKind is the kind of the HelmReleases that the hub reads and writes.
var ReleaseKind = schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}

var (
	releaseKind = ReleaseKind.GroupKind()
	secretKind  = schema.GroupKind{Kind: "Secret"}
)

// Object is what a walk reads of a Pod or of one of its owners.
type Object struct {
	Kind schema.GroupKind
	// Namespace is empty for an object of the cluster.
	Namespace, Name string
	UID             types.UID
	Labels          map[string]string
	Owners          []metav1.OwnerReference
}

// Target is an object that a walk reads.
type Target struct {
	// Kind has an empty version for a HelmRelease that is found by label.
	Kind schema.GroupVersionKind
	// Namespace is that of the Pod; objects of the cluster are read without it.
	Namespace, Name string
	// UID is that of the reference; empty for a HelmRelease that is found by label. An object with another UID is skipped.
	UID types.UID
}

func (t Target) String() string {
	return fmt.Sprintf("%s %s/%s", t.Kind.GroupKind(), t.Namespace, t.Name)
}

// Lookup returns the object of a target; nil if it does not exist, or if the API server does not know its kind. Any other failure is an
// error, which refuses the Pod.
type Lookup func(target Target) (*Object, error)

// Ancestry is what a walk found.
type Ancestry struct {
	// Release is the HelmRelease of an application that the Pod belongs to, the first one found; nil for none.
	Release *Object
	// Ambiguous says that there is another one.
	Ambiguous bool
	// Through has the UIDs of the owners, of other kinds, from which a HelmRelease of an application was reached.
	Through []types.UID
}

var (
	errTooManyOwners   = fmt.Errorf("more than %d owners", maxOwners)
	errTooManyReleases = fmt.Errorf("more than %d HelmReleases by label", maxOwners)
	errSecretOwner     = errors.New("forbidden: secrets are never read as owners")
)

// Walk follows the ownerReferences of a Pod depth first, in the order of each list, and the label of Flux where they end:
// docs/spec/affinity-class.md 1.4. The error names the owner that could not be read.
func Walk(pod *Object, lookup Lookup) (Ancestry, error) {
	w := walk{lookup: lookup, namespace: pod.Namespace, visited: map[visit]bool{visitOf(pod): true}}
	if _, err := w.follow(pod); err != nil {
		return Ancestry{}, err
	}
	return w.found, nil
}

// visit identifies an object that was reached.
type visit struct {
	kind schema.GroupKind
	name string
	uid  types.UID
}

func visitOf(object *Object) visit { return visit{object.Kind, object.Name, object.UID} }

type walk struct {
	lookup           Lookup
	namespace        string
	visited          map[visit]bool
	owners, releases int
	found            Ancestry
}

// follow looks for HelmReleases from an object upwards, and reports whether it reached one that no other way had reached before.
func (w *walk) follow(object *Object) (reached bool, err error) {
	if object.Kind == releaseKind && ofApplication(object.Labels) {
		if w.found.Release == nil {
			w.found.Release = object
		} else {
			w.found.Ambiguous = true
		}
		return true, nil
	}
	followed := false
	for _, reference := range object.Owners {
		owner, err := w.owner(reference)
		if err != nil {
			return false, err
		}
		if owner == nil {
			continue
		}
		followed = true
		above, err := w.follow(owner)
		if err != nil {
			return false, err
		}
		if above && owner.Kind != releaseKind {
			w.found.Through = append(w.found.Through, owner.UID)
		}
		reached = reached || above
	}
	if followed {
		return reached, nil
	}

	return w.followLabel(object)
}

// owner returns the object of a reference; nil if it is skipped or was visited before.
func (w *walk) owner(reference metav1.OwnerReference) (*Object, error) {
	target := Target{
		Kind:      schema.FromAPIVersionAndKind(reference.APIVersion, reference.Kind),
		Namespace: w.namespace, Name: reference.Name, UID: reference.UID,
	}
	reached := visit{target.Kind.GroupKind(), reference.Name, reference.UID}
	if w.visited[reached] {
		return nil, nil
	}
	w.visited[reached] = true
	w.owners++
	if w.owners > maxOwners {
		return nil, fmt.Errorf("owner %s: %w", target, errTooManyOwners)
	}
	if reached.kind == secretKind {
		return nil, fmt.Errorf("owner %s: %w", target, errSecretOwner)
	}
	owner, err := w.lookup(target)
	if err != nil {
		return nil, fmt.Errorf("owner %s: %w", target, err)
	}
	if owner == nil || owner.UID != reference.UID {
		return nil, nil
	}

	return owner, nil
}

// followLabel goes on at the HelmRelease that an object without owners was rendered by.
func (w *walk) followLabel(object *Object) (reached bool, err error) {
	name := object.Labels[fluxNameLabel]
	if name == "" {
		return false, nil
	}
	target := Target{Kind: releaseKind.WithVersion(""), Namespace: w.namespace, Name: name}
	w.releases++
	if w.releases > maxOwners {
		return false, fmt.Errorf("owner %s: %w", target, errTooManyReleases)
	}
	release, err := w.lookup(target)
	if err != nil {
		return false, fmt.Errorf("owner %s: %w", target, err)
	}
	if release == nil || w.visited[visitOf(release)] {
		return false, nil
	}
	w.visited[visitOf(release)] = true

	return w.follow(release)
}
