// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

func TestCheckPrefix(t *testing.T) {
	for _, test := range []struct {
		reason, prefix, want string
	}{
		{"cluster-request 4.1.4: valid", "foo-", ""},
		{"cluster-request 4.1.4: three characters", "ab-", ""},
		{"cluster-request 4.1.4: twenty characters", strings.Repeat("a", 19) + "-", ""},
		{"cluster-request 4.1.4: dashes and digits", "a1--b-", ""},
		{"cluster-request C18: two characters", "x-", "too short"},
		{"cluster-request 4.1.4: none", "", "too short"},
		{"cluster-request 4.1.4: twenty-one characters", strings.Repeat("a", 20) + "-", "too long"},
		{"cluster-request 4.1.4: no dash at the end", "foo", "another form"},
		{"cluster-request 4.1.4: a digit first", "1foo-", "another form"},
		{"cluster-request 4.1.4: capitals", "Foo-", "another form"},
		{"cluster-request 4.1.4: a line break at the end", "foo-\n", "another form"},
	} {
		t.Run(test.reason, func(t *testing.T) {
			if got := CheckPrefix(test.prefix); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A request whose proposal was refused says so, at every decision in the same words.
func TestRefusedProposals(t *testing.T) {
	for _, test := range []struct {
		reason, purpose, proposal, want string
	}{
		{"cluster-request 4.1.4: the proposal", "platform", "foo-", ""},
		{"cluster-request 4.1.4: no proposal", "platform", "", ""},
		{"cluster-request C18: too short", "platform", "x-",
			`; not with prefix "x-" of spec.prefix but with "%s": "x-" is too short: a prefix has 3 to 20 characters`},
		{"cluster-request C18: the prefix of another request", "platform", "used-",
			`; not with prefix "used-" of spec.prefix but with "%s": another request on that Cluster had a prefix that is equal, or that is the ` +
				`beginning of this one or begins with it`},
		{"cluster-request C18: it begins with that of another request", "platform", "used-more-", "; not with prefix"},
		{"cluster-request C55: an exclusive Cluster", "mcp", "foo-",
			`; without prefix "foo-" of spec.prefix: the Cluster has no other request`},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, Options{})
			other := w.request("platform", withPrefix("used-"))
			w.granted(other)
			request := w.request(test.purpose, withPrefix(test.proposal))
			first := w.decide(request).Result
			grant := w.Grant(keyOf(request))
			want := "granted Cluster " + clusterOf(grant).String()
			if strings.Contains(test.want, "%s") {
				want += fmt.Sprintf(test.want, grant.Spec.Prefix)
			} else if test.want != "; not with prefix" {
				want += test.want
			}
			if !strings.HasPrefix(first.Message, want) || test.want == "" && first.Message != want {
				t.Errorf("message %q, want %q", first.Message, want)
			}
			w.SetCluster(Leave(w.Cluster(clusterOf(w.Grant(keyOf(other)))), other.UID))
			w.DeleteGrant(keyOf(other)) // The prefix of the other is free now, which changes nothing.
			expectEqual(t, first, w.Decide(request, now).Result, "law 4: result of the next decision")
		})
	}
}

func TestDerivedPrefixesCollide(t *testing.T) {
	first := derivePrefix("u", 0)
	got := choosePrefix("", "u", map[types.UID]string{"other": first, "longer": derivePrefix("u", 1) + "x-"})
	expectEqual(t, derivePrefix("u", 2), got, "prefix after two collisions")
}

// Entries of the annotation that users have edited must not keep the hub from finding a prefix: these exclude every prefix.
func TestEntriesThatExcludeEveryPrefix(t *testing.T) {
	entries := map[types.UID]string{}
	for letter := 'a'; letter <= 'z'; letter++ {
		entries[types.UID(letter)] = string(letter)
	}
	cluster := &openmcpv1alpha1.Cluster{Spec: openmcpv1alpha1.ClusterSpec{Tenancy: openmcpv1alpha1.TenancyShared}}
	setPrefixes(cluster, entries)
	expectEqual(t, map[types.UID]string{"u": "foo-"}, prefixes(join(cluster, "u", "foo-")), "prefixes")
}

// FuzzPrefixes checks that any annotation, proposal and UID give a valid prefix that is free, and an annotation that is read again.
func FuzzPrefixes(f *testing.F) {
	for _, annotation := range []string{``, `null`, `[]`, `{}`, `{"a":"foo-"}`, `{"a":1}`, `{"a":""}`, `{"a":"f"} x`} {
		f.Add(annotation, "foo-", "uid")
	}
	f.Fuzz(func(t *testing.T, annotation, proposal, uid string) {
		if uid == "" || !isText(uid) {
			return
		}
		cluster := &openmcpv1alpha1.Cluster{Spec: openmcpv1alpha1.ClusterSpec{Tenancy: openmcpv1alpha1.TenancyShared}}
		cluster.Annotations = map[string]string{openmcpv1alpha1.PrefixesAnnotation: annotation}
		before := prefixes(cluster)
		joined := join(cluster, types.UID(uid), proposal)
		given := Prefix(joined, types.UID(uid))
		if _, known := before[types.UID(uid)]; !known {
			if CheckPrefix(given) != "" || !isFree(given, before) {
				t.Errorf("%q for %q beside %v", given, proposal, before)
			}
			before[types.UID(uid)] = given
		}
		expectEqual(t, before, prefixes(joined), "annotation")
		delete(before, types.UID(uid))
		expectEqual(t, before, prefixes(Leave(joined, types.UID(uid))), "annotation after leaving")
	})
}

// isText reports whether JSON keeps a text as it is.
func isText(text string) bool { return strings.ToValidUTF8(text, "") == text }
