// SPDX-License-Identifier: Apache-2.0

package hubstate

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestE1aRefusalsAreOneLine(t *testing.T) {
	refused := func(resource, words string) error {
		return apierrors.NewForbidden(schema.GroupResource{Group: "g", Resource: resource}, "", errors.New(words))
	}
	err := &refusal{what: "you may not read it", advice: "ask", refused: []error{
		refused("clusters", `User "u" cannot list resource "clusters" in API group "g" at the cluster scope`),
		refused("things", `User "u" cannot list resource "things" in API group "g" in the namespace "a"`),
		refused("clusters", `User "u" cannot get resource "clusters" in API group "g" at the cluster scope`),
	}}

	if got, want := err.Error(), "you may not read it: it may not list or get clusters.g, things.g in the namespace \"a\"\nask"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if !apierrors.IsForbidden(err) {
		t.Error("it is not forbidden")
	}
	err.refused = err.refused[:1]
	want := "you may not read it: clusters.g is forbidden: User \"u\" cannot list resource \"clusters\" in API group \"g\" at the cluster scope\nask"
	if got := err.Error(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
