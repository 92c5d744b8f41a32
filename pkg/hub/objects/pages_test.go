// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Every object is visited once, page by page, and an error ends that.
func TestEachVisitsEveryPage(t *testing.T) {
	broken := errors.New("broken")
	named := func(name string) corev1.ConfigMap { return corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}} }
	for _, c := range []struct {
		reason   string
		fails    string // the page or the object at which something fails
		visited  []string
		requests []string
		err      error
	}{
		{"all pages", "", []string{"a", "b", "c"}, []string{"from ", "from 2"}, nil},
		{"the second page fails", "2", []string{"a", "b"}, []string{"from ", "from 2"}, broken},
		{"the function fails", "c", []string{"a", "b", "c"}, []string{"from ", "from 2"}, broken},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var visited, requests []string
			list := func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
				if options.Limit != 500 || options.LabelSelector != "a=b" {
					t.Errorf("asked with the limit %d and the selector %q", options.Limit, options.LabelSelector)
				}
				requests = append(requests, "from "+options.Continue)
				switch {
				case options.Continue == "":
					page := &corev1.ConfigMapList{Items: []corev1.ConfigMap{named("a"), named("b")}}
					page.Continue = "2"
					return page, nil
				case c.fails == options.Continue:
					return nil, broken
				default:
					return &corev1.ConfigMapList{Items: []corev1.ConfigMap{named("c")}}, nil
				}
			}
			err := Each(t.Context(), list, metav1.ListOptions{LabelSelector: "a=b"}, func(object *corev1.ConfigMap) error {
				visited = append(visited, object.Name)
				if object.Name == c.fails {
					return broken
				}
				return nil
			})
			if !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
			if diff := cmp.Diff(c.visited, visited); diff != "" {
				t.Errorf("visited (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.requests, requests); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}

func TestEachRefusesOtherTypes(t *testing.T) {
	list := func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		return &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, 1)}, nil
	}
	err := Each(t.Context(), list, metav1.ListOptions{}, func(*corev1.Secret) error {
		t.Error("a ConfigMap is no Secret")
		return nil
	})
	if err == nil || !strings.Contains(err.Error(), "lists a *v1.ConfigMap") {
		t.Errorf("error %v", err)
	}
}
