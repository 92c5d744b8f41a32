// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/placement-hub/placement-hub/test/surface"
)

type base struct {
	Name string `json:"name"`
}

type tree struct {
	base
	metav1.TypeMeta `json:",inline"`

	Children []tree           `json:"children,omitempty"`
	Counts   map[string]int32 `json:"counts"`
	At       *metav1.Time     `json:"at,omitempty"`
	For      time.Duration
	Spec     any    `json:"spec"`
	Secret   string `json:"-"`
	own      string
}

func TestKeysOfGoTypes(t *testing.T) {
	var keys surface.Keys
	keys.Add("tree", reflect.TypeOf(&tree{own: ""}))
	want := []string{
		"tree: name string", "tree: kind string, optional", "tree: apiVersion string, optional", "tree: children[] as above, optional",
		"tree: counts{} int32", "tree: at Time, optional", "tree: For int64", "tree: spec any",
	}
	if diff := cmp.Diff(want, keys.Lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	const self = "github.com/placement-hub/placement-hub/test/surface_test.tree"
	if !keys.Reached[self] {
		t.Errorf("%s is not in %v", self, keys.Reached)
	}
}
