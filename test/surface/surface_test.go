// SPDX-License-Identifier: Apache-2.0

package surface_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	registered "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/pkg/metrics"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/surface"
)

const root = "../.."

// loaded is everything that the binary consists of; test/ is left out but for what the binary itself imports of it.
var loaded = sync.OnceValues(func() (*surface.Program, error) {
	return surface.Load(context.Background(), root, "./cmd/placement")
})

func program(t *testing.T) *surface.Program {
	t.Helper()
	p, err := loaded()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	surface.Golden(t, "testdata", name, lines)
}

// prefixed puts a word before each line that is not empty.
func prefixed(word string, lines []string) []string {
	var all []string
	for _, line := range lines {
		if line != "" {
			all = append(all, word+" "+line)
		}
	}
	return all
}

func TestSurfaceControllers(t *testing.T) {
	golden(t, "controllers.txt", system.Names())
}

const (
	metav1Path = "k8s.io/apimachinery/pkg/apis/meta/v1"
	metaPath   = "k8s.io/apimachinery/pkg/api/meta"
)

// The conditions that are written, the reasons of all of them, and those of other writers that are read.
func TestSurfaceConditions(t *testing.T) {
	p := program(t)
	lines := slices.Concat(
		prefixed("type", p.Field(metav1Path, "Condition", "Type")), prefixed("reason", p.Field(metav1Path, "Condition", "Reason")),
	)
	readers := []string{metaPath + ".IsStatusConditionTrue", metaPath + ".IsStatusConditionFalse", metaPath + ".FindStatusCondition"}
	for _, use := range p.Calls(func(name string) bool { return slices.Contains(readers, name) }) {
		lines = append(lines, prefixed("read", use.Arguments[1])...)
	}
	golden(t, "conditions.txt", lines)
}

// Events have their reason and action at fixed places of Eventf.
func TestSurfaceEvents(t *testing.T) {
	const reason, action = 3, 4
	var lines []string
	for _, use := range program(t).Calls(func(name string) bool { return strings.HasSuffix(name, "/events.EventRecorder).Eventf") }) {
		lines = append(lines, slices.Concat(prefixed("reason", use.Arguments[reason]), prefixed("action", use.Arguments[action]))...)
	}
	golden(t, "events.txt", lines)
}

// key is what annotations, labels and taints of Kubernetes are named like: a domain, a slash and a name that is no version.
var key = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*\.(io|dev|com)/[A-Za-z][A-Za-z0-9._-]*$`)

// other is what looks like a key and is an API version or a Go module.
var other = regexp.MustCompile(`/v[0-9][a-z0-9]*$|^(sigs\.)?k8s\.io/|^open-cluster-management\.io/(api|ocm)$`)

// Keys without a slash (the label placement.open-cluster-management.io of v1alpha1) look like API groups and are not found here.
func TestSurfaceKeys(t *testing.T) {
	lines := program(t).Constants(key)
	for _, object := range objects(t) {
		for name := range object.GetLabels() {
			lines = append(lines, name)
		}
		for name := range object.GetAnnotations() {
			lines = append(lines, name)
		}
	}
	golden(t, "keys.txt", slices.DeleteFunc(lines, other.MatchString))
}

func TestSurfaceManifests(t *testing.T) {
	var lines []string
	for _, object := range objects(t) {
		lines = append(lines, fmt.Sprintf("%s: %s %s %s", object.file, object.GetAPIVersion(), object.GetKind(), object.GetName()))
	}
	golden(t, "manifests.txt", lines)
}

// manifest is an object of a file.
type manifest struct {
	unstructured.Unstructured
	file string
}

// objects are those that are installed on a hub: all of manifests/, and of deploy/ but for the samples.
func objects(t *testing.T) []manifest {
	t.Helper()
	var found []manifest
	for _, directory := range []string{"manifests", "deploy/base", "deploy/overlays"} {
		err := filepath.WalkDir(filepath.Join(root, directory), func(file string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(file) != ".yaml" || strings.Contains(file, "/internal/") {
				return err
			}
			content, err := os.ReadFile(file)
			if err != nil {
				return fmt.Errorf("reading a manifest: %w", err)
			}
			name := filepath.ToSlash(strings.TrimPrefix(file, root+string(filepath.Separator)))
			found = append(found, decoded(t, name, content)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}

	return found
}

func decoded(t *testing.T, file string, content []byte) []manifest {
	t.Helper()
	var found []manifest
	for reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content))); ; {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}

		one := manifest{file: file}
		if err := yaml.Unmarshal(document, &one.Object); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if len(one.Object) > 0 {
			found = append(found, one)
		}
	}
}

// libraries are the beginnings of the names of the metrics that controller-runtime, client-go and the Go client of Prometheus register.
var libraries = []string{"controller_runtime_", "workqueue_", "rest_client_", "leader_election_", "certwatcher_", "go_", "process_"}

// elsewhere are labels whose values are no names of metrics: groups and kinds of objects, and reasons of the condition PlacementSatisfied, which
// TestSurfaceConditions has among others. A field of a Kubernetes type can be any string that the program ever puts into such a field.
var elsewhere = []string{
	"placement_hub_inventory_synced kind", "placement_hub_unreadable_objects group", "placement_hub_unreadable_objects kind",
	"placement_hub_placements reason",
}

// Each series that the program registers, with type, labels and the values of labels.
func TestSurfaceMetrics(t *testing.T) {
	var lines []string
	labels := map[string][]string{}
	for _, name := range described(t) {
		at := slices.IndexFunc(metrics.All(), func(s metrics.Series) bool { return s.Name == name })
		if at < 0 {
			t.Errorf("%s is registered, and not declared in pkg/metrics", name)
			continue
		}
		series := metrics.All()[at]
		labels[name] = series.Labels
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", name, series.Type, strings.Join(series.Labels, ","))))
	}

	for _, use := range program(t).Calls(func(name string) bool { return strings.HasSuffix(name, "Vec).WithLabelValues") }) {
		for _, name := range use.Receiver {
			if _, declared := labels[name]; !declared { // A series of a library.
				continue
			}
			for i, values := range use.Arguments {
				if label := name + " " + labels[name][i]; !slices.Contains(elsewhere, label) {
					lines = append(lines, prefixed(label+" =", values)...)
				}
			}
		}
	}

	golden(t, "metrics.txt", lines)
}

// described are the names of the series in the registry, but for those of libraries.
func described(t *testing.T) []string {
	t.Helper()
	registry, ok := registered.Registry.(prometheus.Collector)
	if !ok {
		t.Fatalf("the registry %T cannot be described", registered.Registry)
	}
	descriptions := make(chan *prometheus.Desc)
	go func() {
		defer close(descriptions)
		registry.Describe(descriptions)
	}()

	name := regexp.MustCompile(`fqName: "([^"]*)"`)
	var found []string
	for description := range descriptions {
		one := name.FindStringSubmatch(description.String())[1]
		if !slices.ContainsFunc(libraries, func(prefix string) bool { return strings.HasPrefix(one, prefix) }) {
			found = append(found, one)
		}
	}
	return found
}

func TestSurfaceTraces(t *testing.T) {
	var lines []string
	p := program(t)
	for _, use := range p.Calls(func(name string) bool { return name == "(go.opentelemetry.io/otel/trace.Tracer).Start" }) {
		lines = append(lines, prefixed("span", use.Arguments[1])...)
	}
	for _, use := range p.Calls(func(name string) bool { return strings.HasPrefix(name, "go.opentelemetry.io/otel/attribute.") }) {
		lines = append(lines, prefixed("attribute", use.Arguments[0])...)
	}
	golden(t, "traces.txt", lines)
}

func TestSurfaceEnvironment(t *testing.T) {
	var lines []string
	for _, use := range program(t).Calls(func(name string) bool {
		return slices.Contains([]string{"os.Getenv", "os.LookupEnv", "Getenv"}, name)
	}) {
		lines = append(lines, use.Arguments[0]...)
	}
	golden(t, "environment.txt", lines)
}

func TestSurfacePaths(t *testing.T) {
	var lines []string
	for _, use := range program(t).Calls(func(name string) bool { return strings.HasPrefix(name, "(*net/http.ServeMux).Handle") }) {
		lines = append(lines, use.Arguments[0]...)
	}
	golden(t, "paths.txt", lines)
}
