// SPDX-License-Identifier: Apache-2.0

package unreadable

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMarks(t *testing.T) {
	object := &metav1.ObjectMeta{Name: "c1"}
	fields := Fields{{Path: "status.b", Value: "1", Problem: "p"}, {Path: "status.a[0]", Value: `"x"`, Problem: "q"}, {Path: "statuses"}}
	if err := Mark(object, fields); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Fields{fields[1], fields[0], fields[2]}, Of(object)); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}

	for path, want := range map[string]int{"status": 2, "status.a": 1, "status.b": 1, "spec": 0, "statuses": 1, "stat": 0} {
		if got := len(Of(object).Under(path)); got != want {
			t.Errorf("%d fields are under %s, want %d", got, path, want)
		}
	}
	Unmark(object)
	if object.Annotations != nil || Of(object) != nil {
		t.Errorf("left is %v", object.Annotations)
	}
}

func TestAMarkThatCannotBeReadIsAField(t *testing.T) {
	if fields := Of(&metav1.ObjectMeta{Annotations: map[string]string{Annotation: "[]"}}); len(fields) != 1 {
		t.Errorf("fields are %v", fields)
	}
}

func TestTexts(t *testing.T) {
	fields := Fields{}
	for i := range maxNamed + 2 {
		fields = append(fields, Field{Path: fmt.Sprintf("status.f%d", i), Value: `"1e1.5"`, Problem: "no"})
	}
	want := `status.f0: Invalid value: "1e1.5": no; `
	if text := fields.String(); !strings.HasPrefix(text, want) || !strings.HasSuffix(text, "; and 2 more") {
		t.Errorf("text is %s", text)
	}

	for value, want := range map[string]string{`"1e1.5"`: "1e1.5", "4294967296": "4294967296", `"cut...`: `"cut...`} {
		if got := (Field{Value: value}).Text(); got != want {
			t.Errorf("the text of %s is %s", value, got)
		}
	}
}
