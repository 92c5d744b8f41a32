// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/test/property"
)

// named returns the keys of ConfigMaps, in the order of their names.
func named(keys []inventory.Key) string {
	names := make([]string, 0, len(keys))
	for _, key := range keys {
		names = append(names, key.Name)
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// federated-selector 3.2: a change of the clusters of an object concerns its users, and the dependencies that it propagates.
func TestLinks(t *testing.T) {
	l := newLinks()
	user, need, other := keyOfConfigMap("user"), keyOfConfigMap("need"), keyOfConfigMap("other")
	placement := types.NamespacedName{Namespace: namespaceName, Name: "p"}
	for _, step := range []struct {
		reason string
		key    inventory.Key
		after  link
		want   string
	}{
		{"a user that does not propagate", user, link{clusters: []string{"a"}, needs: []inventory.Key{need}}, ""},
		{"its dependency is known now", need, link{clusters: []string{"a"}}, "user"},
		{"the dependency stays", need, link{clusters: []string{"a"}}, ""},
		{"the dependency moves", need, link{clusters: []string{"b"}}, "user"},
		{"the user propagates", user, link{clusters: []string{"a"}, needs: []inventory.Key{need}, propagates: true}, "need"},
		{"the user moves", user, link{clusters: []string{"c"}, needs: []inventory.Key{need}, propagates: true}, "need"},
		{"the user stays", user, link{clusters: []string{"c"}, needs: []inventory.Key{need}, propagates: true}, ""},
		{"the user needs another one", user, link{clusters: []string{"c"}, needs: []inventory.Key{other}, propagates: true}, "need other"},
		{"the user propagates no more", user, link{clusters: []string{"c"}, needs: []inventory.Key{other}}, "other"},
		{"it follows a Placement", user, link{clusters: []string{"c"}, placement: placement}, ""},
	} {
		same(t, step.reason, named(l.set(step.key, step.after)), step.want)
	}

	same(t, "followers", named(l.following(placement)), "user")
	same(t, "concerned by its end", named(l.forget(user)), "")
	same(t, "followers", named(l.following(placement)), "")
	l.forget(need)
	if len(l.of)+len(l.users)+len(l.followers) > 0 {
		t.Errorf("links are left: %v, %v, %v", l.of, l.users, l.followers)
	}
}

// federated-selector 3.2: the clusters that users propagate are those of all links, whatever the order of changes was.
func TestLinksAgreeWithAPlainList(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		l, plain := newLinks(), map[inventory.Key]link{}
		key := rapid.Custom(func(t *rapid.T) inventory.Key {
			return keyOfConfigMap(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name"))
		})

		for range rapid.IntRange(1, 30).Draw(t, "changes") {
			of := key.Draw(t, "key")
			if rapid.IntRange(0, 4).Draw(t, "kind") == 0 {
				l.forget(of)
				delete(plain, of)
				continue
			}

			after := link{
				clusters: rapid.SliceOfDistinct(rapid.SampledFrom([]string{"c1", "c2", "c3"}), rapid.ID[string]).Draw(t, "clusters"),
				needs:    rapid.SliceOfDistinct(key, rapid.ID[inventory.Key]).Draw(t, "needs"), propagates: rapid.Bool().Draw(t, "propagates"),
			}
			slices.Sort(after.clusters)
			l.set(of, after)
			plain[of] = after
		}

		need, want := key.Draw(t, "need"), map[string]bool{}
		for _, of := range plain {
			if of.propagates && slices.Contains(of.needs, need) {
				for _, cluster := range of.clusters {
					want[cluster] = true
				}
			}
		}

		got := l.propagated(need)
		if len(got) != len(want) || slices.ContainsFunc(got, func(cluster string) bool { return !want[cluster] }) {
			t.Fatalf("got %v, want %v", got, want)
		}
		if users := fmt.Sprint(l.users); len(plain) == 0 && len(l.users) > 0 {
			t.Fatalf("links are left: %s", users)
		}
	})
}
