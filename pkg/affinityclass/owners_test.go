// SPDX-License-Identifier: Apache-2.0

package affinityclass

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	cozystackv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/cozystack/v1alpha1"
)

// fixture has objects by kind and name, and errors of reading them.
type fixture struct {
	objects map[string]*Object
	errors  map[string]error
	reads   int
}

func newFixture(objects ...*Object) *fixture {
	w := &fixture{objects: map[string]*Object{}, errors: map[string]error{}}
	for _, object := range objects {
		w.objects[object.Kind.Kind+"/"+object.Name] = object
	}
	return w
}

func (f *fixture) lookup(target Target) (*Object, error) {
	f.reads++
	if target.UID == "" && target.Kind.GroupKind() != releaseKind {
		return nil, fmt.Errorf("%s is looked up without a UID", target)
	}
	key := target.Kind.Kind + "/" + target.Name
	return f.objects[key], f.errors[key]
}

// object returns an object with the UID <kind>/<name> and owners, which are given so too: StatefulSet/db.
func object(kind, name string, owners ...string) *Object {
	o := &Object{Kind: schema.GroupKind{Group: "apps", Kind: kind}, Namespace: "tenant-acme", Name: name, UID: types.UID(kind + "/" + name)}
	for _, owner := range owners {
		ownerKind, ownerName, _ := strings.Cut(owner, "/")
		apiVersion := "apps/v1"
		if ownerKind == releaseKind.Kind {
			apiVersion = releaseKind.Group + "/v2"
		}
		o.Owners = append(o.Owners, metav1.OwnerReference{APIVersion: apiVersion, Kind: ownerKind, Name: ownerName, UID: types.UID(owner)})
	}
	return o
}

// labelled returns an object with the label of Flux.
func labelled(o *Object, release string) *Object {
	o.Labels = map[string]string{fluxNameLabel: release}
	return o
}

// release returns the HelmRelease of an application with a class.
func release(name, class string, owners ...string) *Object {
	o := object(releaseKind.Kind, name, owners...)
	o.Kind, o.Labels = releaseKind, ReleaseLabels("apps.cozystack.io", "Postgres", name)
	if class != "" {
		o.Labels[ClassLabel] = class
	}
	return o
}

// chain returns a Pod, and a chain of owners above it of which the last has the label of Flux.
func chain(length int) (*Object, []*Object) {
	pod := object("Pod", "p", "Owner/1")
	var owners []*Object
	for i := 1; i < length; i++ {
		owners = append(owners, object("Owner", strconv.Itoa(i), fmt.Sprintf("Owner/%d", i+1)))
	}
	return pod, append(owners, labelled(object("Owner", strconv.Itoa(length)), "main-db"))
}

func TestWalk(t *testing.T) {
	eight, eightOwners := chain(8)
	nine, nineOwners := chain(9)
	mainDB, cache := release("main-db", "dc1"), release("cache", "dc2")
	unlabelled := object(releaseKind.Kind, "umbrella")
	unlabelled.Kind = releaseKind
	secret := object("Pod", "p")
	secret.Owners = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Secret", Name: "s", UID: "u"}}
	reborn := object("StatefulSet", "db")
	reborn.UID = "another"
	forbidden := newFixture(mainDB)
	forbidden.errors["Cluster/pg"] = errors.New("forbidden")
	cases := []struct {
		reason    string
		pod       *Object
		world     *fixture
		want      string
		ambiguous bool
		err       string
	}{
		{reason: "affinity-class A9: StatefulSet, label, HelmRelease", pod: object("Pod", "p", "StatefulSet/db"),
			world: newFixture(labelled(object("StatefulSet", "db"), "main-db"), mainDB), want: "main-db"},
		{reason: "affinity-class 1.4: the HelmRelease is an owner and ends its branch", pod: object("Pod", "p", "HelmRelease/main-db"),
			world: newFixture(release("main-db", "dc1", "Postgres/gone")), want: "main-db"},
		{reason: "affinity-class 1.4: the label of the Pod itself", pod: labelled(object("Pod", "p"), "main-db"), world: newFixture(mainDB),
			want: "main-db"},
		{reason: "affinity-class 1.4: the label of an object with owners does not count",
			pod: labelled(object("Pod", "p", "StatefulSet/db"), "main-db"), world: newFixture(object("StatefulSet", "db"), mainDB)},
		{reason: "affinity-class A34: an owner that is gone is skipped, and the label counts",
			pod: labelled(object("Pod", "p", "StatefulSet/db"), "main-db"), world: newFixture(mainDB), want: "main-db"},
		{reason: "affinity-class A34: an owner with another UID is skipped", pod: object("Pod", "p", "StatefulSet/db"),
			world: newFixture(labelled(reborn, "main-db"), mainDB)},
		{reason: "affinity-class A18: a bare Pod", pod: object("Pod", "p"), world: newFixture(mainDB)},
		{reason: "affinity-class A19: two HelmReleases, in the order of the references",
			pod: object("Pod", "p", "StatefulSet/b", "StatefulSet/a"), ambiguous: true, want: "cache",
			world: newFixture(labelled(object("StatefulSet", "a"), "main-db"), labelled(object("StatefulSet", "b"), "cache"), mainDB, cache)},
		{reason: "affinity-class 1.4: one HelmRelease that is reached twice", pod: object("Pod", "p", "StatefulSet/b", "HelmRelease/main-db"),
			world: newFixture(labelled(object("StatefulSet", "b"), "main-db"), mainDB), want: "main-db"},
		{reason: "affinity-class A20: a circle", pod: object("Pod", "p", "A/a"), world: newFixture(object("A", "a", "B/b"), object("B", "b", "A/a"))},
		{reason: "affinity-class 1.4: the last of a circle is examined", pod: object("Pod", "p", "A/a"),
			world: newFixture(object("A", "a", "B/b"), labelled(object("B", "b", "A/a"), "main-db"), mainDB), want: "main-db"},
		{reason: "affinity-class 1.4: a HelmRelease of no application, rendered by one of an application", pod: labelled(object("Pod", "p"),
			"umbrella"),
			world: newFixture(labelled(unlabelled, "main-db"), mainDB), want: "main-db"},
		{reason: "affinity-class 1.4: a label that leads nowhere", pod: labelled(object("Pod", "p"), "gone"), world: newFixture()},
		{reason: "affinity-class A35: a chain of eight owners", pod: eight, world: newFixture(append(eightOwners, mainDB)...), want: "main-db"},
		{reason: "affinity-class A35: a chain of nine owners", pod: nine, world: newFixture(append(nineOwners, mainDB)...),
			err: "owner Owner.apps tenant-acme/9: more than 8 owners"},
		{reason: "affinity-class A35: a Secret", pod: secret, world: newFixture(),
			err: "owner Secret tenant-acme/s: forbidden: secrets are never read as owners"},
		{reason: "affinity-class A33: an owner that may not be read", pod: object("Pod", "p", "HelmRelease/main-db", "Cluster/pg"),
			world: forbidden,
			err:   "owner Cluster.apps tenant-acme/pg: forbidden"},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got, err := Walk(c.pod, c.world.lookup)
			if message := fmt.Sprint(err); (err != nil) != (c.err != "") || err != nil && message != c.err {
				t.Fatalf("Walk() = %v, want the error %q", err, c.err)
			}
			name := ""
			if got.Release != nil {
				name = got.Release.Name
			}
			if name != c.want || got.Ambiguous != c.ambiguous {
				t.Errorf("Walk() = %q, ambiguous %t, want %q, %t", name, got.Ambiguous, c.want, c.ambiguous)
			}
			if c.world.reads > 2*maxOwners {
				t.Errorf("%d reads", c.world.reads)
			}
		})
	}
	t.Run("affinity-class 1.4: HelmReleases by label are bounded too", func(t *testing.T) {
		endless := func(target Target) (*Object, error) {
			next := object(releaseKind.Kind, target.Name)
			next.Kind = releaseKind
			return labelled(next, target.Name+"x"), nil
		}
		if _, err := Walk(labelled(object("Pod", "p"), "a"), endless); !errors.Is(err, errTooManyReleases) {
			t.Errorf("Walk() = %v, want %v", err, errTooManyReleases)
		}
	})
}

// Only owners that lead to a HelmRelease may be cached, so that no Pod is admitted unchecked on an old read: docs/spec/affinity-class.md 1.4.
func TestThrough(t *testing.T) {
	given := newFixture(release("main-db", "dc1"), object("ReplicaSet", "rs", "Deployment/d"), labelled(object("Deployment", "d"), "main-db"),
		object("Job", "leaf"), object("Job", "orphan", "CronJob/gone"), labelled(object("Job", "dangling"), "gone"))
	for _, c := range []struct {
		reason string
		pod    *Object
		want   string
	}{
		{"every owner on the way counts, and no HelmRelease", object("Pod", "p", "ReplicaSet/rs", "HelmRelease/main-db"),
			"[Deployment/d ReplicaSet/rs]"},
		{"an owner that ends its branch does not", object("Pod", "p", "Job/leaf", "ReplicaSet/rs"), "[Deployment/d ReplicaSet/rs]"},
		{"nor does one whose owner is gone", object("Pod", "p", "Job/orphan"), "[]"},
		{"nor one whose label leads nowhere", object("Pod", "p", "Job/dangling"), "[]"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			got, err := Walk(c.pod, given.lookup)
			if err != nil || fmt.Sprint(got.Through) != c.want {
				t.Errorf("Walk() = %v, %v, want through %s", got.Through, err, c.want)
			}
		})
	}
}

func TestCheckPod(t *testing.T) {
	const denial = `pod tenant-acme/main-db-0 belongs to application with AffinityClass "dc1" but missing required nodeSelector ` + zone + "=dc1"
	soft := class("dc1", zone, "dc1")
	soft.Spec.Enforcement = cozystackv1alpha1.EnforcementWarn
	failing := func(string) (*cozystackv1alpha1.AffinityClass, error) { return nil, errors.New("timeout") }
	owned, set := object("Pod", "main-db-0", "StatefulSet/db"), labelled(object("StatefulSet", "db"), "main-db")
	managed := newFixture(set, release("main-db", "dc1"))
	ambiguous := newFixture(set, release("main-db", "dc1"), release("cache", "dc2"))
	unreadable := newFixture()
	unreadable.errors["StatefulSet/db"] = errors.New("timeout")
	cases := []struct {
		reason   string
		pod      *Object
		selector map[string]string
		world    *fixture
		classes  Classes
		want     Verdict
	}{
		{"affinity-class A9: the Pod asks for the nodes of its class", owned, map[string]string{zone: "dc1"}, managed, all(), Verdict{}},
		{"affinity-class A10: it does not", owned, nil, managed, all(), Verdict{Status: http.StatusForbidden, Message: denial}},
		{"affinity-class A11: it asks for others", owned, map[string]string{zone: "dc2"}, managed, all(), Verdict{Status: http.StatusForbidden,
			Message: denial}},
		{"affinity-class A12: it asks for more", owned, map[string]string{zone: "dc1", "disk": "ssd"}, managed, all(), Verdict{}},
		{"affinity-class A15: the class is gone", owned, map[string]string{zone: "dc1"}, managed, given(),
			Verdict{Status: http.StatusForbidden, Message: `AffinityClass "dc1" not found`}},
		{"affinity-class 1.4: the class cannot be read", owned, map[string]string{zone: "dc1"}, managed, failing,
			Verdict{Status: http.StatusInternalServerError, Message: `reading AffinityClass "dc1": timeout`}},
		{"affinity-class A17: the HelmRelease has no class", owned, nil, newFixture(set, release("main-db", "")), given(), Verdict{}},
		{"affinity-class A18: a bare Pod", object("Pod", "p"), nil, managed, given(), Verdict{}},
		{"affinity-class A19: the first HelmRelease counts", object("Pod", "main-db-0", "StatefulSet/db", "HelmRelease/cache"), nil, ambiguous,
			all(),
			Verdict{Status: http.StatusForbidden, Message: denial, Warnings: []string{"object ancestry ambiguous, using first ancestor found"}}},
		{"affinity-class A21: Warn admits with the text", owned, nil, managed, given(soft), Verdict{Warnings: []string{denial}}},
		{"affinity-class A21: Warn does not soften a class that is gone", owned, nil, managed, given(class("other", "a", "b")),
			Verdict{Status: http.StatusForbidden, Message: `AffinityClass "dc1" not found`}},
		{"affinity-class A33: an owner that cannot be read", owned, nil, unreadable, all(),
			Verdict{Status: http.StatusInternalServerError, Message: "owner StatefulSet.apps tenant-acme/db: timeout"}},
	}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			got := CheckPod(c.pod, c.selector, c.world.lookup, c.classes)
			got.Through = nil // TestThrough is about them.
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("CheckPod() = %+v, want %+v", got, c.want)
			}
		})
	}
}
