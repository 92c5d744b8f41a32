// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestDecode(t *testing.T) {
	cases := []struct {
		name, reason, in string
		want             []string
		wantErr          []string
	}{
		{
			name:   "documents",
			reason: "separators may carry a comment or Windows line ends; comments and empty documents are no objects",
			in: "# a world\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n--- # the second\r\n" +
				"apiVersion: v1\r\nkind: ConfigMap\r\nmetadata: {name: b, namespace: a}\r\n---\n# nothing\n---\n",
			want: []string{"Namespace a", "ConfigMap a/b"},
		},
		{
			name:   "no final newline",
			reason: "the last line counts although nothing ends it",
			in:     "kind: Namespace\napiVersion: v1\nmetadata: {name: a}",
			want:   []string{"Namespace a"},
		},
		{
			name:   "dashes in text",
			reason: "only a line that begins with three dashes and nothing else separates",
			in:     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  text: |\n    ---\n    -----BEGIN\n",
			want:   []string{"ConfigMap b"},
		},
		{
			name:   "list",
			reason: "kubectl get -o yaml prints a List; its items are what is meant",
			in: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n" +
				"- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n",
			want: []string{"Namespace a", "Namespace b"},
		},
		{
			name:    "syntax error",
			reason:  "the line number is the file's, not the document's",
			in:      "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n---\napiVersion: v1\nkind: [\n",
			wantErr: []string{"world.yaml", "starts at line 5", "line 6"},
		},
		{
			name:    "duplicate field",
			reason:  "the later value would silently win",
			in:      "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\nkind: Pod\n",
			wantErr: []string{"world.yaml", "line 4", `"kind" already set`},
		},
		{
			name:    "no kind",
			reason:  "without a kind nobody knows where to send it",
			in:      "apiVersion: v1\nmetadata: {name: a}\n",
			wantErr: []string{"world.yaml", "line 1", "object a has no kind"},
		},
		{
			name:    "no apiVersion and no name",
			reason:  "everything that is missing is said at once",
			in:      "\nkind: Placement\n",
			wantErr: []string{"world.yaml", "line 1", "Placement has no apiVersion, metadata.name"},
		},
		{
			name:    "bad apiVersion",
			reason:  "a group version has one slash at most",
			in:      "apiVersion: a/b/c\nkind: Placement\nmetadata: {name: p, namespace: team}\n",
			wantErr: []string{"Placement team/p: apiVersion", "a/b/c"},
		},
		{
			name:   "nameless list item",
			reason: "the index tells which item",
			in: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n" +
				"- {apiVersion: v1, kind: Namespace}\n",
			wantErr: []string{"line 1", "items[1]", "metadata.name"},
		},
		{
			name:    "not an object",
			reason:  "a stray scalar is a mistake, not an empty document",
			in:      "hello\n",
			wantErr: []string{"world.yaml", "line 1", "not a Kubernetes object"},
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			objs, err := Decode(strings.NewReader(tc.in), "world.yaml")
			if len(tc.wantErr) > 0 {
				if err == nil {
					t.Fatalf("no error, want one: %s", tc.reason)
				}
				for _, part := range tc.wantErr {
					if !strings.Contains(err.Error(), part) {
						t.Errorf("error %q does not say %q: %s", err, part, tc.reason)
					}
				}
				return
			}
			if err != nil {
				t.Fatalf("%v: %s", err, tc.reason)
			}
			var got []string
			for _, obj := range objs {
				got = append(got, describe(obj))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestDecodeReportsReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	_, err := Decode(iotest.ErrReader(broken), "world.yaml")
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "world.yaml") {
		t.Errorf("Decode() error = %v, want one of world.yaml that wraps %v", err, broken)
	}
}

func TestDecodeKeepsIntegers(t *testing.T) {
	objs, err := Decode(strings.NewReader("apiVersion: v1\nkind: X\nmetadata: {name: a}\nspec: {size: 3}\n"), "world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"size": int64(3)}
	if diff := cmp.Diff(want, objs[0].Object["spec"]); diff != "" {
		t.Errorf("numbers must stay integers (-want +got):\n%s", diff)
	}
}

func decoded(t *testing.T, world string) []*unstructured.Unstructured {
	t.Helper()
	objs, err := Decode(strings.NewReader(world), "world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return objs
}
