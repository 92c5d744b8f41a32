// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	restwatch "k8s.io/client-go/rest/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"pgregory.net/rapid"

	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/test/property"
)

// interpret compares the kind that leadingKind reads with that of apimachinery.
func interpret(t interface {
	Helper()
	Errorf(format string, arguments ...any)
}, data []byte,
) {
	t.Helper()
	want, wantErr := kjson.DefaultMetaFactory.Interpret(data)
	got, err := leadingKind{kjson.DefaultMetaFactory}.Interpret(data)
	if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (wantErr == nil) {
		t.Errorf("interpreting %s: error %v, want %v; kind (-want +got):\n%s", data, err, wantErr, diff)
	}
}

func TestKindIsThatOfApimachinery(t *testing.T) {
	for _, data := range []string{
		`{"apiVersion":"work.open-cluster-management.io/v1","kind":"ManifestWork","metadata":{"name":"a"}}`,
		`{"apiVersion":"v1","kind":"ConfigMap"}`,
		`{"kind":"ConfigMap","apiVersion":"v1"}`,
		`{ "apiVersion": "v1", "kind": "ConfigMap" }`,
		`{"apiVersion":"v1"}`,
		`{"apiVersion":"v1","items":[],"kind":"ConfigMapList"}`,
		`{"apiVersion":"v1","metadata":{"name":","},"kind":"ConfigMap"}`,
		`{"apiVersion":"v1\"","kind":"ConfigMap"}`,
		`{"apiVersion":"\u0076\u0031","kind":"Config\u004dap"}`,
		`{"apiVersion":"v1","kind":"Config\"Map"}`,
		`{"apiVersion":"a/b/c","kind":"ConfigMap"}`,
		`{"apiVersion":"","kind":""}`,
		`{"apiVersion":"v1","kind":7}`,
		`{"apiVersion":"v1","kind":"ConfigMap`,
		`{"apiVersion":"v1`,
		`{"apiVersion":7,"kind":"ConfigMap"}`,
		`[]`, `{}`, ``,
	} {
		interpret(t, []byte(data))
	}

	texts := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"v1", "a/v1", "a/b/c", `"`, `\`, `","kind":"`, "é", "<"}))
	property.Check(t, func(t *rapid.T) {
		object := map[string]any{"metadata": map[string]any{"name": texts.Draw(t, "name")}}
		for _, name := range []string{"apiVersion", "kind", "a", "spec"} {
			if rapid.Bool().Draw(t, name) {
				object[name] = texts.Draw(t, "value")
			}
		}
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}

		interpret(t, data)
	})
}

// A document that is not valid after its kind is refused by the decoder.
func TestDecodeValidatesWhatFollowsTheKind(t *testing.T) {
	const begin = `{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster"`
	for _, data := range []string{begin, begin + `}}`, begin + `,}`, begin + ` 7}`, begin + `,"metadata":{}`} {
		if object, _, err := newTestDecoder(t).Decode([]byte(data), nil, nil); err == nil {
			t.Errorf("%s was decoded to %#v", data, object)
		}
	}
}

func TestEventsOfAWatchAreDecoded(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := clusterv1.Install(scheme); err != nil {
		t.Fatal(err)
	}
	version := schema.GroupVersion{Group: clusterv1.GroupName, Version: "v1"}

	objects, events, framer, err := runtime.NewClientNegotiator(newSerializer(scheme), version).StreamDecoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		t.Fatal(err)
	}

	form := func(name, capacity string) string {
		return fmt.Sprintf(clusterForm, name, "", "", `"capacity":{"cpu":"`+capacity+`"}`)
	}
	body := strings.Join([]string{
		`{"type":"ADDED","object":` + form("good", "4") + `}`,
		`{"type":"MODIFIED","object":` + form("bad", "1e1.5") + `}`,
		`{"object":` + form("swapped", "4") + `,"type":"DELETED"}`,
		`{"type":"BOOKMARK","object":{"kind":"ManagedCluster","apiVersion":"` + version.String() + `","metadata":{"resourceVersion":"9"}}}`,
		`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","reason":"Expired","code":410}}`,
	}, "\n") + "\n"

	decoder := restwatch.NewDecoder(streaming.NewDecoder(framer.NewFrameReader(io.NopCloser(strings.NewReader(body))), events), objects)
	defer decoder.Close()
	var got []string
	for range 5 {
		kind, object, err := decoder.Decode()
		if err != nil {
			t.Fatal(err)
		}

		switch object := object.(type) {
		case *clusterv1.ManagedCluster:
			got = append(got, fmt.Sprintf("%s %s %s %d", kind, object.Name, object.ResourceVersion, len(unreadable.Of(object))))
		case *metav1.Status:
			got = append(got, fmt.Sprintf("%s %d", kind, object.Code))
		default:
			t.Errorf("decoded %#v", object)
		}
	}

	want := []string{"ADDED good 7 0", "MODIFIED bad 7 1", "DELETED swapped 7 0", "BOOKMARK  9 0", "ERROR 410"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
