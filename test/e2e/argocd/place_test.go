// SPDX-License-Identifier: Apache-2.0

package argocd

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/localplane"
	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

const (
	definitions       = "testdata/definitions.yaml"
	refreshAnnotation = "argocd.argoproj.io/application-set-refresh"
	// decisionsOf and rules are ConfigMaps of generators, the one with PlacementDecisions and the other with PlacementRules.
	decisionsOf, rules = "ocm-placement", "ocm-rules"
	// quiet is how long a test waits for a refresh that must not come: gathering takes 500 ms.
	quiet = 3 * time.Second
)

var argoproj = schema.GroupVersion{Group: "argoproj.io", Version: "v1alpha1"}

// place is a namespace with Argo CD and with the account of the process.
type place struct {
	*suite.Hub
	namespace, account string
}

// newPlace makes a namespace, with the manifests of the process and with two ConfigMaps for generators.
func newPlace(t *testing.T, h *suite.Hub, namespace string) *place {
	t.Helper()
	suite.Must(t, h.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}))
	objects, err := manifests.ArgoCDRefresh()
	suite.Must(t, err)
	for _, object := range objects {
		moveTo(t, object, namespace)
	}
	suite.Must(t, manifests.Apply(t.Context(), h.Environment.AdminConfig(), objects))
	for name, kind := range map[string][2]string{
		decisionsOf: {"cluster.open-cluster-management.io/v1beta1", "placementdecisions"},
		rules:       {"apps.open-cluster-management.io/v1", "placementrules"},
	} {
		suite.Must(t, h.Client.Create(t.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Data:       map[string]string{"apiVersion": kind[0], "kind": kind[1], "statusListKey": "decisions", "matchKey": "clusterName"},
		}))
	}
	return &place{
		Hub: h, namespace: namespace, account: "system:serviceaccount:" + namespace + ":" + manifests.ArgoCDRefreshAccount,
	}
}

// moveTo moves an object of the manifests to another namespace, as the field namespace of a kustomization does.
func moveTo(t *testing.T, object *unstructured.Unstructured, namespace string) {
	t.Helper()
	if object.GetNamespace() == "" {
		return
	}
	object.SetNamespace(namespace)
	subjects, found, err := unstructured.NestedSlice(object.Object, "subjects")
	suite.Must(t, err)
	if !found {
		return
	}
	for _, subject := range subjects {
		subject.(map[string]any)["namespace"] = namespace
	}
	suite.Must(t, unstructured.SetNestedSlice(object.Object, subjects, "subjects"))
}

// start runs the process as its account until it follows the objects, or until it has ended.
func (p *place) start(t *testing.T, args ...string) *suite.Program {
	t.Helper()
	config, err := p.Environment.ServiceAccountConfig(t.Context(), p.namespace, manifests.ArgoCDRefreshAccount)
	suite.Must(t, err)
	return suite.Start(t, append([]string{
		"argocd-refresh", "--kubeconfig", suite.WriteKubeconfig(t, config), "--argocd-namespace", p.namespace,
	}, args...)...)
}

// follow is start for a process that goes on.
func (p *place) follow(t *testing.T, args ...string) *suite.Program {
	t.Helper()
	process := p.start(t, args...)
	process.WaitFor(t, &process.Stderr, "Following ApplicationSets and PlacementDecisions")
	process.WaitFor(t, &process.Stderr, "The API server refuses this process to write spec of ApplicationSets")
	return process
}

// decided is the generators of an ApplicationSet that reads the decisions of a Placement.
func decided(placement string) string {
	return fmt.Sprintf("[{clusterDecisionResource: {configMapRef: %s, labelSelector: {matchLabels: {%s: %s}}}}]",
		decisionsOf, clusterv1beta1.PlacementLabel, placement)
}

// applicationSet returns an ApplicationSet with generators in YAML.
func (p *place) applicationSet(t *testing.T, name, generators string) *unstructured.Unstructured {
	t.Helper()
	text := `
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
spec:
  generators: ` + generators + `
  template:
    metadata: {name: '` + name + `-{{clusterName}}'}
    spec: {project: default, destination: {name: '{{clusterName}}'}}
`
	object := &unstructured.Unstructured{}
	suite.Must(t, yaml.Unmarshal([]byte(text), &object.Object))
	object.SetNamespace(p.namespace)
	object.SetName(name)
	return object
}

// create creates an ApplicationSet, with annotations in pairs.
func (p *place) create(t *testing.T, name, generators string, annotations ...string) *unstructured.Unstructured {
	t.Helper()
	object := p.applicationSet(t, name, generators)
	if len(annotations) > 0 {
		object.SetAnnotations(map[string]string{annotations[0]: annotations[1]})
	}
	suite.Must(t, p.Client.Create(t.Context(), object))
	return object
}

// decide writes a PlacementDecision of a Placement.
func (p *place) decide(t *testing.T, placement string, page int, decisions ...clusterv1beta1.ClusterDecision) {
	t.Helper()
	object := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: p.namespace, Name: fmt.Sprintf("%s-decision-%d", placement, page),
		Labels: map[string]string{clusterv1beta1.PlacementLabel: placement},
	}}
	suite.Must(t, client.IgnoreAlreadyExists(p.Client.Create(t.Context(), object)))
	suite.Must(t, p.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object))
	object.Status.Decisions = append([]clusterv1beta1.ClusterDecision{}, decisions...)
	suite.Must(t, p.Client.Status().Update(t.Context(), object))
}

// in returns decisions for clusters.
func in(clusters ...string) []clusterv1beta1.ClusterDecision {
	var decisions []clusterv1beta1.ClusterDecision
	for _, cluster := range clusters {
		decisions = append(decisions, clusterv1beta1.ClusterDecision{ClusterName: cluster})
	}
	return decisions
}

// patch is a write of the process.
type patch struct {
	name string
	at   time.Time
}

// patches returns what the process has written so far, in order. Dry runs and writes that were refused are none.
func (p *place) patches(t *testing.T) []patch {
	t.Helper()
	p.AwaitAudit(t)
	events, err := p.Environment.Writes(func(event *auditv1.Event) bool {
		return localplane.By(p.account)(event) && event.ObjectRef.Resource != "selfsubjectaccessreviews" && event.ResponseStatus.Code < 300 &&
			!strings.Contains(event.RequestURI, "dryRun=")
	})
	suite.Must(t, err)
	var written []patch
	for i := range events {
		if events[i].Verb != "patch" || events[i].ObjectRef.Resource != "applicationsets" || events[i].ObjectRef.Subresource != "" {
			t.Errorf("the process sends %s %s", events[i].Verb, events[i].RequestURI)
		}
		written = append(written, patch{name: events[i].ObjectRef.Name, at: events[i].RequestReceivedTimestamp.Time})
	}
	slices.SortStableFunc(written, func(a, b patch) int { return a.at.Compare(b.at) })
	return written
}

// pause waits for a time, or for the end of the test.
func pause(t *testing.T, most time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
	case <-time.After(most):
	}
}

// names returns the names of written ApplicationSets, sorted.
func names(written []patch) []string {
	all := []string{}
	for _, one := range written {
		all = append(all, one.name)
	}
	slices.Sort(all)
	return all
}

// wantPatches waits until exactly these ApplicationSets were refreshed, each as often as it is named, and expects no more.
func (p *place) wantPatches(t *testing.T, want ...string) {
	t.Helper()
	slices.Sort(want)
	suite.Eventually(t, "waiting for refreshes", func() error {
		if got := names(p.patches(t)); len(got) < len(want) {
			return fmt.Errorf("refreshed %q, want %q", got, want)
		}
		return nil
	})
	pause(t, quiet) // Nothing more comes.
	if got := names(p.patches(t)); !slices.Equal(got, want) {
		t.Errorf("refreshed %q, want %q", got, want)
	}
}
