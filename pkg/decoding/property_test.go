// SPDX-License-Identifier: Apache-2.0

package decoding

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"pgregory.net/rapid"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/yaml"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/decoding/unreadable"
	"github.com/placement-hub/placement-hub/test/property"
)

// openAPI is the schema of a value in a CustomResourceDefinition.
type openAPI struct {
	Type                 string             `json:"type"`
	Format               string             `json:"format"`
	Pattern              string             `json:"pattern"`
	Enum                 []any              `json:"enum"`
	MaxLength            *int               `json:"maxLength"`
	Nullable             bool               `json:"nullable"`
	IntOrString          bool               `json:"x-kubernetes-int-or-string"`
	Properties           map[string]openAPI `json:"properties"`
	Required             []string           `json:"required"`
	AdditionalProperties *openAPI           `json:"additionalProperties"`
	Items                *openAPI           `json:"items"`
}

// served is a version of a kind with its schema.
type served struct {
	kind   schema.GroupVersionKind
	schema openAPI
}

// servedKinds returns all kinds of the hub in a scheme.
func servedKinds(t *testing.T, scheme *runtime.Scheme) []served {
	t.Helper()
	var files []string
	for _, pattern := range []string{"../../manifests/crds/*_*.yaml", "../../manifests/multicluster/*_*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	var kinds []served

	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}

		var definition struct {
			Spec struct {
				Group    string `json:"group"`
				Names    struct{ Kind string }
				Versions []struct {
					Name   string
					Schema struct {
						OpenAPIV3Schema openAPI `json:"openAPIV3Schema"`
					}
				}
			}
		}
		if err := yaml.Unmarshal(data, &definition); err != nil {
			t.Fatalf("%s: %v", file, err)
		}

		for _, version := range definition.Spec.Versions {
			kind := schema.GroupVersionKind{Group: definition.Spec.Group, Version: version.Name, Kind: definition.Spec.Names.Kind}
			if scheme.Recognizes(kind) {
				kinds = append(kinds, served{kind: kind, schema: version.Schema.OpenAPIV3Schema})
			}
		}
	}

	if len(kinds) < 10 {
		t.Fatalf("there are only %d kinds", len(kinds))
	}
	return kinds
}

// oddTimes match the format date-time of an API server, which converts to lower case first and accepts any character for the point.
var oddTimes = []string{
	"2027-01-01t00:00:00z", "2027-01-01T00:00:00z", "2027-01-01T00:00:00.5Z", "2027-01-01T00:00:00+23:59", "2027-01-01T00:00:00x5Z",
	"0000-01-01T00:00:00Z", "2027-01-01T23:59:60Z", "2027-01-01T00:00:00.123456789123Z", "2027-01-01T00:00:00Z",
}

// drawValue draws a value that the schema admits.
func drawValue(t *rapid.T, s openAPI) any {
	if s.Nullable && rapid.IntRange(0, 9).Draw(t, "null") == 0 {
		return nil
	}
	switch {
	case len(s.Enum) > 0:
		return rapid.SampledFrom(s.Enum).Draw(t, "enum")
	case s.IntOrString && (s.Pattern == "" || rapid.Bool().Draw(t, "integer")):
		return rapid.OneOf(
			rapid.Map(rapid.Int64(), func(i int64) any { return i }),
			rapid.Map(rapid.SampledFrom([]string{"25%", "x", "", "1e1.5"}), func(text string) any {
				if s.Pattern != "" {
					return 7
				}
				return text
			}),
		).Draw(t, "int-or-string")
	case s.IntOrString, s.Type == "string":
		return drawText(t, s)
	case s.Type == "integer":
		return rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 100)).Draw(t, "integer")
	case s.Type == "number":
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "number")
	case s.Type == "boolean":
		return rapid.Bool().Draw(t, "boolean")
	case s.Type == "array":
		items := make([]any, 0, 3)
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawValue(t, *s.Items))
		}
		return items
	default:
		return drawObject(t, s)
	}
}

func drawText(t *rapid.T, s openAPI) string {
	switch {
	case s.Format == "date-time":
		return rapid.SampledFrom(oddTimes).Draw(t, "time")
	case s.Format == "byte":
		return rapid.SampledFrom([]string{"", "eA==", "eA", "!"}).Draw(t, "bytes")
	case s.Pattern != "":
		// Go does not support patterns of several lines and with look-around.
		if _, err := regexp.Compile(s.Pattern); err == nil && !strings.Contains(s.Pattern, "\\p") {
			return rapid.StringMatching(s.Pattern).Draw(t, "pattern")
		}
	}

	return rapid.SampledFrom([]string{"", "a", "1e1.5", "4294967296", "2027-01-01t00:00:00z", "é\"\\<"}).Draw(t, "string")
}

func drawObject(t *rapid.T, s openAPI) map[string]any {
	object := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) || rapid.Bool().Draw(t, name) {
			object[name] = drawValue(t, s.Properties[name])
		}
	}

	if s.AdditionalProperties != nil {
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"cpu", "memory", "example.com/a b"}), 0, 3, rapid.ID).
			Draw(t, "names") {
			object[name] = drawValue(t, *s.AdditionalProperties)
		}
	}
	return object
}

// drawObjectOf draws an object of a kind with metadata as in an API server.
func drawObjectOf(t *rapid.T, kind served, name string) map[string]any {
	object := drawObject(t, kind.schema)
	object["apiVersion"], object["kind"] = kind.kind.GroupVersion().String(), kind.kind.Kind
	object["metadata"] = map[string]any{"name": name, "uid": "u-" + name, "resourceVersion": "5", "labels": map[string]any{"a": "b"}}
	return object
}

func encode(t *rapid.T, value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// For everything that the definitions admit, a list is decoded: readable items as usual, and the others without exactly the fields that
// fail.
func TestWhatTheDefinitionsAdmitIsDecoded(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, install := range []func(*runtime.Scheme) error{
		clusterv1.Install, clusterv1alpha1.Install, clusterv1beta1.Install, clusterv1beta2.Install, placementv1alpha1.Install,
		clusterinventory.AddToScheme,
	} {
		if err := install(scheme); err != nil {
			t.Fatal(err)
		}
	}
	codecs := newSerializer(scheme)

	info, found := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	if !found {
		t.Fatal("there is no serializer for JSON")
	}
	strict, lenient := info.Serializer, codecs.DecoderToVersion(info.Serializer, nil)

	for _, kind := range servedKinds(t, scheme) {
		t.Run(kind.kind.Kind+"."+kind.kind.GroupVersion().String(), func(t *testing.T) {
			property.Check(t, func(t *rapid.T) {
				var items []any
				for _, name := range []string{"a", "b", "c"} {
					items = append(items, drawObjectOf(t, kind, name))
				}
				list, err := scheme.New(kind.kind.GroupVersion().WithKind(kind.kind.Kind + "List"))
				if err != nil {
					t.Fatal(err)
				}

				data := encode(t, map[string]any{
					"apiVersion": kind.kind.GroupVersion().String(), "kind": kind.kind.Kind + "List", "items": items,
					"metadata": map[string]any{"resourceVersion": "9"},
				})
				if _, _, err := lenient.Decode(data, nil, list); err != nil {
					t.Fatalf("decoding %s: %v", data, err)
				}

				decoded, err := meta.ExtractList(list)
				if err != nil || len(decoded) != len(items) {
					t.Fatalf("decoded %d items: %v", len(decoded), err)
				}
				for i, object := range decoded {
					expectDecoded(t, strict, encode(t, items[i]), object)
				}
			})
		})
	}
}

// expectDecoded compares a decoded item with the result of a strict decoder.
func expectDecoded(t *rapid.T, strict runtime.Decoder, data []byte, decoded runtime.Object) {
	single, isOne := decoded.(metav1.Object)
	if !isOne || single.GetResourceVersion() != "5" || single.GetLabels()["a"] != "b" || string(single.GetUID()) != "u-"+single.GetName() {
		t.Fatalf("decoded %#v", decoded)
	}
	var (
		whole runtime.Object
		err   = errImmoderate // The strict decoder would take its time.
	)

	if !immoderate(data) {
		whole, _, err = strict.Decode(data, nil, nil)
	}
	fields := unreadable.Of(single)
	if (err == nil) != (len(fields) == 0) {
		t.Fatalf("the strict decoder says %v of %s, and unreadable are %v", err, data, fields)
	}

	if err == nil {
		whole.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		decoded.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
		if diff := cmp.Diff(whole, decoded); diff != "" {
			t.Errorf("decoded another object (-strict +lenient):\n%s", diff)
		}
		return
	}

	// The fields that decide where clusters may go are strings, which can always be decoded.
	for _, readable := range []string{
		"metadata", "status.clusterClaims", "spec.clusterSelector", "spec.clusterSet", "spec.predicates", "spec.clusterSets",
	} {
		if under := fields.Under(readable); len(under) > 0 {
			t.Errorf("unreadable are %v", under)
		}
	}

	for _, field := range fields {
		if strings.HasSuffix(field.Path, "clusterName") || strings.HasSuffix(field.Path, "decisions") {
			t.Errorf("unreadable is %v", field)
		}
	}
}
