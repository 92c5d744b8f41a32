// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"fmt"
	"strings"
	"testing"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// annotated returns the template of a Purpose with annotations.
func annotated(annotations map[string]openmcpv1alpha1.AnnotationValue) openmcpv1alpha1.PurposeSpec {
	return openmcpv1alpha1.PurposeSpec{ClusterTemplate: &openmcpv1alpha1.ClusterTemplate{ClusterSet: "blue", Annotations: annotations}}
}

func TestAnnotationsOfTemplates(t *testing.T) {
	const set = openmcpv1alpha1.ClusterSetAnnotation
	for _, test := range []struct {
		reason    string
		templates map[string]map[string]openmcpv1alpha1.AnnotationValue // by purpose
		purposes  string
		want      map[string]string
	}{
		{reason: "cluster-request 4.1.3: annotations beside the set of the template", purposes: "platform",
			templates: map[string]map[string]openmcpv1alpha1.AnnotationValue{"platform": {"a": "b", "example.com/c": "two words"}},
			want:      map[string]string{"a": "b", "example.com/c": "two words", set: "blue"}},
		{reason: "cluster-request 4.1.3: the first purpose with a template decides, as for labels", purposes: "onboarding second first",
			templates: map[string]map[string]openmcpv1alpha1.AnnotationValue{"first": {"a": "1", "b": "1"}, "second": {"a": "2"}},
			want:      map[string]string{"a": "2", set: "blue"}},
		{reason: "trust 2: a key that the hub or another controller obeys is left out, whatever the definition has accepted", purposes: "platform",
			templates: map[string]map[string]openmcpv1alpha1.AnnotationValue{"platform": {
				set: "red", openmcpv1alpha1.PrefixesAnnotation: `{"u":"foo-"}`, "request.cluster.openmcp.cloud/u": "", "kubernetes.io/a": "",
				"kubectl.kubernetes.io/last-applied-configuration": "{}", "x-k8s.io.example/kept": "", "a.k8s.io/b": "", "k8s.io/b": "",
				"open-cluster-management.io/a": "", "agent.open-cluster-management.io/a": "", "notkubernetes.io/kept": "",
			}},
			want: map[string]string{set: "blue", "x-k8s.io.example/kept": "", "notkubernetes.io/kept": ""}},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, Options{})
			for name, annotations := range test.templates {
				w.purpose(name, annotated(annotations))
			}
			request := w.request(test.purposes, func(r *openmcpv1alpha1.ClusterRequest) {
				r.Annotations = map[string]string{"of-the-request": "never"} // Law 11: a tenant wrote it.
			})
			expectEqual(t, test.want, w.Explain(request).New.Annotations, "annotations")
		})
	}
}

// A Cluster that is lost is created again with the annotations of the Grant, whatever the template says now.
func TestAnnotationsOfLostClusters(t *testing.T) {
	w := newWorld(t, Options{})
	w.purpose("platform", annotated(map[string]openmcpv1alpha1.AnnotationValue{"a": "b"}))
	first, second := w.request("platform", nil), w.request("platform", nil)
	cluster := w.granted(first)
	w.granted(second)
	for _, request := range []*openmcpv1alpha1.ClusterRequest{first, second} {
		expectEqual(t, map[string]openmcpv1alpha1.AnnotationValue{"a": "b"}, w.Grant(keyOf(request)).Spec.Cluster.Annotations,
			"cluster-request 4.1.1: annotations of the Grant of "+request.Name)
	}
	w.purpose("platform", annotated(map[string]openmcpv1alpha1.AnnotationValue{"c": "d"}))
	w.DeleteCluster(keyOf(cluster))
	again := w.granted(second)
	want := map[string]string{"a": "b", openmcpv1alpha1.ClusterSetAnnotation: "blue"}
	delete(again.Annotations, openmcpv1alpha1.PrefixesAnnotation)
	expectEqual(t, want, again.Annotations, "cluster-request C59: annotations of the Cluster that was created again")
}

// A Grant that was made before templates had annotations stays as it is, and so does its Cluster.
func TestFormerGrantsHaveNoAnnotations(t *testing.T) {
	w := newWorld(t, Options{})
	request := w.request("platform", nil)
	w.granted(request)
	w.purpose("platform", annotated(map[string]openmcpv1alpha1.AnnotationValue{"a": "b"}))
	expectKept(t, w.Decide(request, now), w.Catalog) // Law 4.
}

func TestRecordedMetadataIsBounded(t *testing.T) {
	cluster := &openmcpv1alpha1.Cluster{}
	cluster.Labels, cluster.Annotations = map[string]string{}, map[string]string{"000-long": strings.Repeat("ä", maxAnnotationValueLength+1)}
	for i := range 2 * maxRecordedLabels {
		cluster.Labels[fmt.Sprintf("l%03d", i)] = "x"
		cluster.Annotations[fmt.Sprintf("a%03d", i)] = strings.Repeat("ä", maxAnnotationValueLength)
	}
	cluster.Annotations[openmcpv1alpha1.PrefixesAnnotation], cluster.Annotations["kubernetes.io/a"] = "{}", "b"
	granted := recorded(cluster)
	expectEqual(t, maxAnnotations, len(granted.Annotations), "annotations")
	expectEqual(t, maxRecordedLabels, len(granted.Labels), "labels")
	for _, key := range []string{"000-long", "kubernetes.io/a", openmcpv1alpha1.PrefixesAnnotation, fmt.Sprintf("a%03d", maxAnnotations)} {
		if _, found := granted.Annotations[key]; found {
			t.Errorf("annotation %s is recorded", key)
		}
	}
	if _, found := granted.Annotations["a000"]; !found {
		t.Error("the first annotation is not recorded")
	}
	if _, found := granted.Labels[fmt.Sprintf("l%03d", maxRecordedLabels-1)]; !found {
		t.Error("a label within the limit is not recorded")
	}
}

// A template may have 64 labels, and the hub adds one: the Grant of such a Cluster was refused.
func TestAllLabelsOfATemplateAreRecorded(t *testing.T) {
	w := newWorld(t, Options{})
	labels := map[string]openmcpv1alpha1.LabelValue{}
	for i := range 64 {
		labels[fmt.Sprintf("l%02d", i)] = "x"
	}
	w.purpose("platform", openmcpv1alpha1.PurposeSpec{ClusterTemplate: &openmcpv1alpha1.ClusterTemplate{Labels: labels}})
	request := w.request("platform", nil)
	w.granted(request)
	expectEqual(t, len(labels)+1, len(w.Grant(keyOf(request)).Spec.Cluster.Labels), "labels of the Grant")
}
