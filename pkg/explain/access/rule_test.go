// SPDX-License-Identifier: Apache-2.0

package access

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

// authority allows a set of "verb resource namespace/name", and fails for the user "unlucky".
type authority map[string]bool

func (a authority) Authorize(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
	if asked.GetUser().GetName() == "unlucky" {
		return authorizer.DecisionAllow, "", errors.New("no reply")
	}
	resource := asked.GetResource()
	if asked.GetSubresource() != "" {
		resource += "/" + asked.GetSubresource()
	}

	text := asked.GetVerb() + " " + resource + " " + asked.GetNamespace() + "/" + asked.GetName()
	if a[text] && asked.IsResourceRequest() && asked.GetAPIGroup() == "example.com" {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func asked(verb, namespace, name string) Asked {
	things := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
	return Asked{Verb: verb, Resource: things, Namespace: namespace, Name: name}
}

// bind is the right to bind a thing, of which the names belong to no namespace.
func bind(namespace, name string) Asked {
	right := asked(VerbCreate, namespace, name)
	right.Subresource, right.Role = "bind", "binds:"+name
	return right
}

func TestE1aWhoMayAsk(t *testing.T) {
	granted := authority{
		"get things a/x": true, "get things a/y": true, "list things a/": true, "create things a/": true, "create things/bind /s": true,
	}
	for _, tc := range []struct {
		reason string
		user   user.Info
		asked  []Asked
		want   []string // words of the error; none for no error
	}{
		{reason: "who may get the object", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("get", "a", "x")}},
		{reason: "who may get all of them", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("get", "a", "x"), asked("get", "a", "y")}},
		{reason: "who may list", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("list", "a", "")}},
		{reason: "who may create", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("create", "a", "")}},
		{
			reason: "one of them is not permitted", user: &user.DefaultInfo{Name: "ada"},
			asked: []Asked{asked("get", "a", "x"), asked("get", "a", "z")},
			want:  []string{`user "ada" may not get things.example.com z in namespace a`, "a Role"},
		},
		{
			reason: "an object of that name in another namespace", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("get", "b", "x")},
			want: []string{"may not get things.example.com x in namespace b"},
		},
		{
			reason: "another verb", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("update", "a", "x")},
			want: []string{"may not update"},
		},
		{reason: "no user", asked: []Asked{asked("get", "a", "x")}, want: []string{`user "system:anonymous" may not get`}},
		{
			reason: "the anonymous user, whatever the authorizer says", user: &user.DefaultInfo{Name: user.Anonymous},
			asked: []Asked{asked("get", "a", "x")}, want: []string{"may not get"},
		},
		{
			reason: "a decision that is not known", user: &user.DefaultInfo{Name: "unlucky"}, asked: []Asked{asked("get", "a", "x")},
			want: []string{"no reply"},
		},
		{reason: "no object", user: &user.DefaultInfo{Name: "ada"}, want: []string{"about no object"}},
		{
			reason: "every namespace", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("get", "", "x")},
			want: []string{"does not name an object of a namespace"},
		},
		{reason: "who may bind", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("get", "a", "x"), bind("", "s")}},
		{
			reason: "who may bind another", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{bind("", "t")},
			want: []string{"may not create things.example.com/bind t; a ClusterRoleBinding to binds:t permits what belongs to no namespace"},
		},
		{
			reason: "neither", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("get", "b", "x"), bind("", "t")},
			want: []string{
				"nor create things.example.com/bind t; a Role with these verbs permits the explanation, and a ClusterRoleBinding to binds:t",
			},
		},
		{
			reason: "binding in a namespace", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{bind("a", "s")},
			want: []string{"does not name an object of a namespace"},
		},
		{
			reason: "binding of everything", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{bind("", "")},
			want: []string{"does not name an object of a namespace"},
		},
		{
			reason: "every object of a namespace by get", user: &user.DefaultInfo{Name: "ada"}, asked: []Asked{asked("get", "a", "")},
			want: []string{"does not name an object of a namespace"},
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			err := Check(t.Context(), granted, tc.user, tc.asked...)
			if (err == nil) != (len(tc.want) == 0) {
				t.Fatalf("Check: %v, want %q", err, tc.want)
			}
			for _, words := range tc.want {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("Check: %v, want %q", err, words)
				}
			}
		})
	}
}
