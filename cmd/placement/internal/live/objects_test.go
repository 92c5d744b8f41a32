// SPDX-License-Identifier: Apache-2.0

package live

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/explain/printers"
)

func TestObjects(t *testing.T) {
	widget := func(name string, conditions ...any) *unstructured.Unstructured {
		object := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"conditions": conditions}}}
		object.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"})
		object.SetNamespace("shop")
		object.SetName(name)
		return object
	}
	condition := func(kind, status, reason, message string) map[string]any {
		return map[string]any{"type": kind, "status": status, "reason": reason, "message": message}
	}
	hub := fake.NewClientBuilder().WithObjects(
		widget("new"), widget("broken", condition("Ready", "False", "NoPart", "part a is missing")),
		widget("good", condition("Ready", "True", "Done", ""), condition("Seen", "True", "Done", "")),
	).Build()
	table, err := ReadObjects(t.Context(), hub, []schema.GroupVersionKind{{Group: "example.com", Version: "v1", Kind: "Widget"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := table.Summary, "3 objects"; got != want {
		t.Errorf("summary %q, want %q", got, want)
	}
	if diff := cmp.Diff([]string{
		"NAMESPACE/KIND/NAME  CONDITIONS",
		"shop/widget/broken   Ready=False",
		"  NoPart: part a is missing",
		"shop/widget/good     Ready=True, Seen=True",
		"shop/widget/new      -",
	}, printers.BoardLines(table)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"shop/widget/new: its status has no conditions yet"}, table.Pending()); diff != "" {
		t.Errorf("pending (-want +got):\n%s", diff)
	}
	if got, want := printers.BoardChanges(table)[0].Line, "shop/widget/broken  Ready=False  (NoPart: part a is missing)"; got != want {
		t.Errorf("change %q, want %q", got, want)
	}
}
