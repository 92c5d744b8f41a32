// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/placement-hub/placement-hub/pkg/apis/scheme"
	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/access"
	"github.com/placement-hub/placement-hub/pkg/explain/counterfactual"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/endpoint"
	"github.com/placement-hub/placement-hub/pkg/explain/hubstate"
	"github.com/placement-hub/placement-hub/pkg/explain/movelist"
	"github.com/placement-hub/placement-hub/pkg/inventory"
)

var now = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// testHub is a hub in memory whose users may read everything, or nothing if they are in refused.
type testHub struct {
	client.Client

	refused map[string]bool
	changes chan struct{}
	// versions are the numbers of Placements.
	versions map[inventory.Key]uint64
	// block makes answers wait until ctx ends or it is closed; nil for no wait. blocked says which; nil for all.
	block   chan struct{}
	blocked func(question *Question) bool
	// err is the error of answers; nil for none.
	err error
	// happened answers what happened to decisions; nil if the hub keeps no history.
	happened func(question *endpoint.Question) (*movelist.List, error)
	// hides reports whether users may not list the objects of a list in a namespace, or in all if it is empty; nil if they may list everything.
	hides func(list client.ObjectList, namespace string) bool
	// settings are those of the hub.
	settings Settings
	// namespaces are those whose Placements users may list; none for all.
	namespaces []string
}

func newTestHub(objects ...client.Object) *testHub { return newTestHubWithout("", objects...) }

// newTestHubWithout returns a testHub whose API server does not serve the kinds of a group.
func newTestHubWithout(group string, objects ...client.Object) *testHub {
	known := scheme.New()
	served := meta.NewDefaultRESTMapper(nil)
	for kind := range known.AllKnownTypes() {
		if kind.Group != group || group == "" {
			served.Add(kind, meta.RESTScopeNamespace)
		}
	}
	named := func(object client.Object) []string {
		if event, is := object.(*corev1.Event); is {
			return []string{event.InvolvedObject.Name}
		}
		return nil
	}
	return &testHub{
		Client: fake.NewClientBuilder().WithScheme(known).WithRESTMapper(served).WithObjects(objects...).
			WithIndex(&corev1.Event{}, "involvedObject.name", named).
			WithIndex(&corev1.Namespace{}, "metadata.name", func(object client.Object) []string { return []string{object.GetName()} }).Build(),
		refused: map[string]bool{}, changes: make(chan struct{}, 1),
	}
}

func (h *testHub) Reader(user.Info) client.Client {
	if h.hides != nil {
		return hidingReader{h.Client, h.hides}
	}
	return h.Client
}

// hidingReader is a client of a user who may not list everything.
type hidingReader struct {
	client.Client

	hides func(list client.ObjectList, namespace string) bool
}

func (r hidingReader) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	var given client.ListOptions
	given.ApplyOptions(options)
	if r.hides(list, given.Namespace) {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "objects"}, "", errors.New("refused"))
	}
	return r.Client.List(ctx, list, options...)
}

func (h *testHub) Settings() Settings { return h.settings }

func (h *testHub) Version() uint64 { return 0 }

func (h *testHub) VersionOf(placement inventory.Key) uint64 { return h.versions[placement] }

func (h *testHub) Holds(context.Context, *access.Trail) bool { return false }

func (h *testHub) Changes(context.Context) <-chan struct{} { return h.changes }

func (h *testHub) Namespaces(context.Context, user.Info) (namespaces []string, all bool, err error) {
	return h.namespaces, len(h.namespaces) == 0, nil
}

func (h *testHub) Explain(ctx context.Context, caller user.Info, question Question) (document.Source, error) {
	if h.block != nil && (h.blocked == nil || h.blocked(&question)) {
		select {
		case <-h.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if h.err != nil {
		return nil, h.err
	}
	if h.refused[caller.GetName()] {
		return nil, apierrors.NewForbidden(schema.GroupResource{Resource: "placements"}, "", errors.New("refused"))
	}
	if question.Command == endpoint.CommandHistory {
		if h.happened == nil {
			return nil, &endpoint.AnswerError{Err: errors.New("the hub keeps no history of decisions")}
		}
		return h.happened(&question.Question)
	}
	key := inventory.NewPlacementKey(inventory.API(question.Objects[0].Group), question.Namespace, question.Objects[0].Name)
	state, err := hubstate.FromCluster(ctx, h.Client, []inventory.Key{key})
	if err != nil {
		return nil, err
	}
	found := &counterfactual.Explanations{Now: metav1.NewTime(now)}
	for _, evaluation := range state.Evaluate(now, func(each inventory.Key) bool { return each == key }) {
		var clusters []counterfactual.ClusterExplanation
		for _, name := range question.Clusters {
			cluster, _ := counterfactual.Explain(evaluation, name)
			cluster.Counterfactuals = counterfactual.Search(state, key, name, now)
			clusters = append(clusters, cluster)
		}
		explanation := counterfactual.NewExplanation(explain.NewReport(evaluation, false), clusters)
		if question.Rows != nil {
			for _, row := range question.Rows(&explanation.Report) {
				cluster, _ := counterfactual.Explain(evaluation, row.Name)
				explanation.Rows = append(explanation.Rows, cluster)
			}
		}
		found.Placements = append(found.Placements, explanation)
	}
	return found, nil
}

// users authenticates the bearer token "X" as the user X, and rejects all others.
type users struct{ rejected map[string]bool }

func (u users) AuthenticateRequest(request *http.Request) (*authenticator.Response, bool, error) {
	name, has := strings.CutPrefix(request.Header.Get("Authorization"), "Bearer ")
	if !has || name == "" || u.rejected[name] {
		return nil, false, nil
	}
	return &authenticator.Response{User: &user.DefaultInfo{Name: name}}, true, nil
}

// newPages returns the pages of a hub for everybody with a token.
func newPages(hub Hub) *Server {
	return New(hub, NewTokenGate(users{}), func() time.Time { return now })
}

// as sends a request as a user; empty for nobody.
func as(t *testing.T, pages http.Handler, name, method, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if name != "" {
		request.Header.Set("Authorization", "Bearer "+name)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	pages.ServeHTTP(recorder, request)
	return recorder
}

// hostile is a text that must not become a part of a page.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>` + "\u202egnirts"

// world has a Placement of two clusters, of which one is selected.
func world() []client.Object {
	set := &clusterv1beta1.Placement{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", Annotations: map[string]string{"note": hostile}},
		Spec: clusterv1beta1.PlacementSpec{
			Predicates: []clusterv1beta1.ClusterPredicate{{RequiredClusterSelector: clusterv1beta1.ClusterSelector{
				LabelSelector: metav1.LabelSelector{MatchLabels: map[string]string{"region": "eu"}},
			}}},
		},
		Status: clusterv1beta1.PlacementStatus{Conditions: []metav1.Condition{
			{Type: "PlacementSatisfied", Status: metav1.ConditionFalse, Reason: "NoManagedClusterMatched", Message: hostile},
		}},
	}
	return []client.Object{set, cluster("eu1", "eu"), cluster("us1", "us"), globalSet(), globalBinding()}
}

func cluster(name, region string) *clusterv1.ManagedCluster {
	return &clusterv1.ManagedCluster{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{"region": region, "cluster.open-cluster-management.io/clusterset": "prod"},
		},
		Status: clusterv1.ManagedClusterStatus{Conditions: []metav1.Condition{{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionFalse, Message: hostile,
		}}},
	}
}

// decisionOn returns the PlacementDecision of the Placement of world.
func decisionOn(clusters ...string) *clusterv1beta1.PlacementDecision {
	decision := &clusterv1beta1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "web-decision-1", Labels: map[string]string{clusterv1beta1.PlacementLabel: "web"},
	}}
	for _, name := range clusters {
		decision.Status.Decisions = append(decision.Status.Decisions, clusterv1beta1.ClusterDecision{ClusterName: name})
	}
	return decision
}
