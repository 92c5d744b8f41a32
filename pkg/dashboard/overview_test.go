// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/federation"
)

// largeFleet has 504 clusters without an agent, of which every second has a GPU, 92 Placements that one taint keeps from them, one that is
// misconfigured, and sets by label and by selector.
func largeFleet() []client.Object {
	gpus := &clusterv1beta2.ManagedClusterSet{
		ObjectMeta: metav1.ObjectMeta{Name: "gpus"},
		Spec: clusterv1beta2.ManagedClusterSetSpec{ClusterSelector: clusterv1beta2.ManagedClusterSelector{
			SelectorType: clusterv1beta2.LabelSelector, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"gpu": "yes"}},
		}},
	}
	objects := []client.Object{globalSet(), globalBinding(), gpus}
	for i := range 504 {
		labels := map[string]string{"gpu": []string{"yes", "no"}[i%2], "cluster.open-cluster-management.io/clusterset": "prod"}
		objects = append(objects, &clusterv1.ManagedCluster{
			ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("edge-%03d", i), Labels: labels},
			Spec:       clusterv1.ManagedClusterSpec{HubAcceptsClient: true},
		})
	}
	for i := range 93 {
		condition := metav1.Condition{
			Type: "PlacementSatisfied", Status: metav1.ConditionFalse, Reason: "NotAllDecisionsScheduled",
			Message: fmt.Sprintf("%d cluster decisions unscheduled; 0 of 504 clusters in scope selected; not selected: taint "+
				"unreachable:NoSelect not tolerated (504)", i+1),
		}
		if i == 92 {
			condition = metav1.Condition{Type: "PlacementMisconfigured", Status: metav1.ConditionTrue, Reason: "Misconfigured", Message: "spec: bad"}
		}
		objects = append(objects, &clusterv1beta1.Placement{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: "team-a", Name: fmt.Sprintf("svc-%02d", i), Labels: map[string]string{"app": strconv.Itoa(i % 2)},
			},
			Status: clusterv1beta1.PlacementStatus{Conditions: []metav1.Condition{condition}},
		})
	}
	return objects
}

// The overview has one row for each cause, with the list behind it, and every set with its clusters and namespaces.
func TestTheOverviewHasOneRowForEachCause(t *testing.T) {
	pages := newPages(newTestHub(largeFleet()...))
	text := as(t, pages, "jane", http.MethodGet, "/", "").Body.String()
	for _, want := range []string{
		"504 ManagedClusters", "no agent reports whether they are available", `href="/clusters?cause=NoReport&amp;state=Unknown"`, "501 more",
		"92 Placements", "taint unreachable:NoSelect not tolerated", "1 Placement<", "spec: bad", ">team-a/svc-92<",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the overview lacks %q", want)
		}
	}
	if rows := strings.Count(text, `data-label="Cause"`); rows != 3 {
		t.Errorf("the overview has %d causes, want 3", rows)
	}
	var told overviewPage
	got := as(t, pages, "jane", http.MethodGet, "/", "", "Accept", "application/json")
	if err := json.Unmarshal(got.Body.Bytes(), &told); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		set, by   string
		clusters  int
		namespace []string
	}{{"gpus", bySelector, 252, nil}, {"prod", byLabel, 504, []string{"team-a"}}} {
		at := slices.IndexFunc(told.Sets, func(set clusterSet) bool { return set.Set == want.set })
		if at < 0 || told.Sets[at].By != want.by || *told.Sets[at].Clusters != want.clusters ||
			!slices.Equal(told.Sets[at].Namespaces, want.namespace) {
			t.Errorf("%s: %+v", want.set, told.Sets)
		}
	}
}

// The lists behind the causes have the objects of the cause, fifty at a time, and say how many the filters hide.
func TestListsOfALargeFleet(t *testing.T) {
	pages := newPages(newTestHub(largeFleet()...))
	for _, tc := range []struct {
		path      string
		want, not []string
	}{
		{"/clusters?cause=NoReport&state=Unknown", []string{"1–50 of 504 clusters", "from=50"}, []string{">edge-050<"}},
		{"/clusters?from=500", []string{"501–504 of 504 clusters", "previous"}, []string{">next<"}},
		{"/clusters?set=gpus", []string{"1–50 of 252 clusters; the filters hide 252 more"}, []string{">edge-001<"}},
		{"/clusters?label=gpu%3Dno&sort=-name", []string{"1–50 of 252 clusters", ">edge-503<", `aria-sort="descending"`}, []string{">edge-502<"}},
		{"/clusters?set=-", []string{"No cluster matches. The filters hide 504 clusters"}, nil},
		{"/clusters?label=gpu%3D%3D%2C%3D", []string{`id="label-mistake">write key=value`, `value="gpu==,="`}, nil},
		{"/placements?cause=taint+unreachable%3ANoSelect+not+tolerated", []string{"1–50 of 92 Placements; the filters hide 1 more"}, nil},
		{"/placements?set=prod&state=Misconfigured", []string{"1–1 of 1 Placement", ">team-a/svc-92<", "spec: bad"}, nil},
		{"/placements?label=app%3D1&name=svc-0", []string{"1–5 of 5 Placements"}, nil},
		{"/placements?namespace=none", []string{"No Placement matches. The filters hide 93 Placements:"}, nil},
		{"/requests", []string{"There are no ClusterRequests."}, nil},
		{"/workloads", []string{"There are no workloads."}, []string{"is off"}},
	} {
		text := as(t, pages, "jane", http.MethodGet, tc.path, "").Body.String()
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", tc.path, want, text)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q", tc.path, not)
			}
		}
		if rows := strings.Count(text, "<tr>"); rows > 51 {
			t.Errorf("%s has %d rows", tc.path, rows)
		}
	}
}

// The list of sets has all of them, with their clusters and namespaces, and what a user may read of them.
func TestTheListOfSets(t *testing.T) {
	objects := largeFleet()
	for i := range 60 {
		objects = append(objects, &clusterv1beta2.ManagedClusterSet{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("set-%02d", i)}})
	}
	astray := cluster("astray", "eu")
	astray.Labels["cluster.open-cluster-management.io/clusterset"] = "gone"
	objects = append(objects, astray, &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "single"}})
	hub := newTestHub(objects...)
	for _, tc := range []struct {
		path      string
		hides     func(list client.ObjectList, namespace string) bool
		want, not []string
	}{
		{
			path: "/sets?sort=-clusters", want: []string{
				"1–50 of 64 cluster sets", `<a href="/clusters?set=prod"><bdi>prod</bdi></a></td><td data-label="By"><bdi>label</bdi></td>` +
					`<td data-label="Clusters" class="number"><bdi>504</bdi>`, `<span class="chip"><bdi>team-a</bdi></span>`,
				`<a href="/clusters?set=-"><bdi>in no set</bdi></a>`, "there is no such set", "selector", `href="/sets?from=50&amp;sort=-clusters"`,
			},
		},
		{path: "/sets?namespace=team-a", want: []string{"1–1 of 1 cluster set; the filters hide 63 more"}, not: []string{"gpus"}},
		{
			path: "/sets?namespace=team-a", hides: hidden("team-a"),
			want: []string{"1–1 of 1 cluster set in namespace team-a<", "There may be more", `<td data-label="Clusters" class="number"><bdi>-</bdi>`},
			not:  []string{"gpus", `href="/clusters?set=prod"`},
		},
		{path: "/sets?namespace=team-b", hides: hidden("team-a"), want: []string{"There are no cluster sets that you may read in namespace team-b"}},
		{path: "/", want: []string{`<a href="/sets">All cluster sets</a>, also the 39 that are not`}},
	} {
		hub.hides = tc.hides
		text := as(t, newPages(hub), "jane", http.MethodGet, tc.path, "").Body.String()
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q: %s", tc.path, want, text)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(text, not) {
				t.Errorf("%s has %q: %s", tc.path, not, text)
			}
		}
	}
}

// The columns of lists have what the objects say: also the number of clusters of a Placement of v1alpha1, and when a workload was created.
func TestColumnsOfLists(t *testing.T) {
	old := func(name string, status metav1.ConditionStatus, message string) client.Object {
		return &placementv1alpha1.Placement{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}, Spec: placementv1alpha1.PlacementSpec{NumberOfClusters: new(int32(3))},
			Status: placementv1alpha1.PlacementStatus{Conditions: []metav1.Condition{
				{Type: "PlacementSatisfied", Status: status, Reason: "NotAllDecisionsScheduled", Message: message},
			}},
		}
	}
	every := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "every"}}
	every.Status.Conditions = []metav1.Condition{{
		Type: "PlacementSatisfied", Status: metav1.ConditionTrue, Reason: "AllDecisionsScheduled", Message: "All cluster decisions scheduled",
	}}
	decided := func(name, placement string, clusters ...string) client.Object {
		decision := &placementv1alpha1.PlacementDecision{ObjectMeta: metav1.ObjectMeta{
			Namespace: "team-a", Name: name, Labels: map[string]string{placementv1alpha1.PlacementLabel: placement},
		}}
		for _, cluster := range clusters {
			decision.Decisions = append(decision.Decisions, placementv1alpha1.ClusterDecision{ClusterName: cluster})
		}
		return decision
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "web", CreationTimestamp: metav1.NewTime(now)}}
	pages := newPages(newTestHub(append(world(), pod, old("few", metav1.ConditionFalse, "1 cluster decisions unscheduled; 2 of 10 clusters in scope "+
		"selected; not selected: taint a (8)"), old("all", metav1.ConditionTrue, "All cluster decisions scheduled"),
		old("odd", metav1.ConditionFalse, "by hand"), every, decided("every-decision-1", "every", "eu1", "us1"),
		decided("every-decision-2", "every", "us1"),
		decided("other-decision-1", "other", "eu1"))...))
	for path, want := range map[string]string{
		"/placements?name=few": "<bdi>2 of 3</bdi>", "/placements?name=all": "<bdi>3 of 3</bdi>", "/placements?name=odd": "<bdi>0 of 3</bdi>",
		"/placements?name=every": "<bdi>2 of all</bdi>", "/placements?name=every&namespace=team-a": "<bdi>2 of all</bdi>",
		"/workloads": `<time datetime="2026-01-31T12:00:00Z">2026-01-31 12:00</time>`, "/workloads?sort=-created": `aria-sort="descending"`,
		"/workloads?name=web": "Choose a namespace to see the states of its workloads.",
		"/fleet?colour=load":  "<title>eu1: 2 decisions", // of v1alpha1
		"/clusters":           `<option value="" selected>name</option>`, "/requests": `<option value="" selected>namespace and name</option>`,
	} {
		if text := as(t, pages, "jane", http.MethodGet, path, "").Body.String(); !strings.Contains(text, want) {
			t.Errorf("%s lacks %q: %s", path, want, text)
		}
	}
}

// Of a Placement of v1alpha1 whose status has no number, and whose decisions the caller may not list, the number is not known. Placements whose
// status has it cost no list of decisions.
func TestDecisionsOfV1alpha1ThatMayNotBeListed(t *testing.T) {
	for _, tc := range []struct {
		reason string
		wanted *int32
		want   string
		lists  int
	}{
		{"no number", nil, "<bdi>- of all</bdi>", 1},
		{"all that are wanted", new(int32(3)), "<bdi>3 of 3</bdi>", 0},
	} {
		old := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "old"}}
		old.Spec.NumberOfClusters = tc.wanted
		old.Status.Conditions = []metav1.Condition{{
			Type: "PlacementSatisfied", Status: metav1.ConditionTrue, Message: "All cluster decisions scheduled",
		}}
		hub, lists := newTestHub(old), 0
		hub.hides = func(list client.ObjectList, _ string) bool {
			_, decisions := list.(*placementv1alpha1.PlacementDecisionList)
			if decisions {
				lists++
			}
			return decisions
		}
		text := as(t, newPages(hub), "jane", http.MethodGet, "/placements", "").Body.String()
		if !strings.Contains(text, tc.want) || lists != tc.lists {
			t.Errorf("%s: the page lacks %q, or has listed decisions %d times instead of %d: %s", tc.reason, tc.want, lists, tc.lists, text)
		}
	}
}

// With a namespace, a list counts the objects of others that the user may list. Otherwise it says whose objects it counts.
func TestListsCountWhatTheNamespaceHides(t *testing.T) {
	elsewhere := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "web"}}
	for _, tc := range []struct {
		reason, path string
		namespaces   []string
		hides        func(list client.ObjectList, namespace string) bool
		want         string
	}{
		{"everything", "/placements?namespace=team-b", nil, nil, "1–1 of 1 Placement; the filters hide 1 more"},
		{"one namespace", "/placements?namespace=team-b", []string{"team-b"}, hidden("team-b"), "1–1 of 1 Placement in namespace team-b<"},
		{"one namespace of two", "/placements", []string{"team-a", "team-b"}, hidden("team-b", "team-a"),
			"1–2 of 2 Placements in the namespaces team-a, team-b<"},
		{"no other request", "/requests?namespace=team-b", nil, hidden("team-b"), "There are no ClusterRequests in namespace team-b."},
		{
			"a filter", "/placements?namespace=team-b&name=none", []string{"team-b"}, hidden("team-b"),
			"The filters hide 1 Placement in namespace team-b:",
		},
		{
			"all namespaces of the one API, and one of the other", "/placements?namespace=team-b", nil,
			func(list client.ObjectList, namespace string) bool {
				_, older := list.(*placementv1alpha1.PlacementList)
				return older && namespace != "team-b"
			},
			"1–2 of 2 Placements; the filters hide 1 more",
		},
	} {
		hub := newTestHub(append(world(), elsewhere.DeepCopy())...)
		if strings.HasPrefix(tc.reason, "all namespaces of the one API") {
			older := &placementv1alpha1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: "team-b", Name: "ledger"}}
			hub = newTestHub(append(world(), elsewhere.DeepCopy(), older)...)
		}
		hub.namespaces, hub.hides = tc.namespaces, tc.hides
		if text := as(t, newPages(hub), "jane", http.MethodGet, tc.path, "").Body.String(); !strings.Contains(text, tc.want) {
			t.Errorf("%s: %s lacks %q: %s", tc.reason, tc.path, tc.want, text)
		}
	}
}

// hidden hides the objects of all namespaces but some.
func hidden(but ...string) func(client.ObjectList, string) bool {
	return func(_ client.ObjectList, namespace string) bool { return !slices.Contains(but, namespace) }
}

// The overview of a user with few rights says that there is nothing to read for this user, and not that there is nothing.
func TestTheOverviewSaysNothingAboutWhatIsHidden(t *testing.T) {
	for _, tc := range []struct {
		reason    string
		hides     func(list client.ObjectList, namespace string) bool
		want, not []string
	}{
		{"an empty hub", nil, []string{"<p>None in namespace team-c.</p>", "<p>Nothing.</p>"}, []string{"may read.", "may list"}},
		{
			"a namespace of which the user may read nothing", hidden("team-a"),
			[]string{"None that you may list in namespace team-c", "<p>Nothing that you may read.</p>"}, []string{"<p>Nothing.</p>"},
		},
		{
			"a namespace of a user who may not list clusters", hidden("team-c"),
			[]string{"<p>None in namespace team-c.</p>", "<p>Nothing that you may read.</p>"}, nil,
		},
	} {
		hub := newTestHub()
		hub.hides = tc.hides
		text := as(t, newPages(hub), "jane", http.MethodGet, "/?namespace=team-c", "").Body.String()
		for _, want := range tc.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the overview lacks %q: %s", tc.reason, want, text)
			}
		}
		for _, not := range tc.not {
			if strings.Contains(text, not) {
				t.Errorf("%s: the overview has %q", tc.reason, not)
			}
		}
	}
}

// A system that is off says so, and how to turn it on; that is another sentence than that of a user who may read nothing.
func TestASystemThatIsOffSaysSo(t *testing.T) {
	for group, tc := range map[string]struct{ path, want string }{
		"cluster.openmcp.cloud":           {"/requests", "set systems.clusterrequest in the values of the chart to true"},
		"work.open-cluster-management.io": {"/objects", "or add deploy/components/federation to the kustomization"},
		"kupid.gardener.cloud":            {"/workloads", "The system podscheduling is off"},
		"cozystack.io":                    {"/workloads", "The system affinityclass is off"},
	} {
		response := as(t, newPages(newTestHubWithout(group, world()...)), "jane", http.MethodGet, tc.path, "")
		if text := response.Body.String(); response.Code != http.StatusOK || !strings.Contains(text, tc.want) ||
			strings.Contains(text, "RoleBinding to view") {
			t.Errorf("%s without %s: status %d, %s", tc.path, group, response.Code, text)
		}
	}
	for _, tc := range []struct {
		reason      string
		controllers []string
		path, want  string
		off         bool
	}{
		{"kinds served, controller off", []string{"placement"}, "/requests", "The system clusterrequest is off: the hub runs none", true},
		{"works of OCM", []string{"placement", "federationx/objects"}, "/objects", "The system federation is off", true},
		{"objects that have stayed", []string{"placement"}, "/requests?namespace=team-a", "The system clusterrequest is off", true},
		{"policies", []string{"affinityclass/webhook"}, "/workloads", "The system podscheduling is off", true},
		{"classes", []string{"affinityclass/webhook"}, "/workloads", "The system affinityclass is off", false},
		{"a system that is on", []string{"clusterrequest/requests"}, "/requests", "is off", false},
		{"a namespace of a system that is off", []string{"placement"}, "/objects?namespace=team-a", "The system federation is off", true},
		{"controllers that are not known", nil, "/requests", "is off", false},
	} {
		hub := newTestHub(append(world(), denied("a", "no"))...)
		hub.settings.Controllers, hub.settings.Delivered = tc.controllers, federation.DefaultKinds()
		text := as(t, newPages(&deliveringHub{testHub: hub}), "jane", http.MethodGet, tc.path, "").Body.String()
		if strings.Contains(text, tc.want) != tc.off {
			t.Errorf("%s: %s says %q: %t, want %t: %s", tc.reason, tc.path, tc.want, !tc.off, tc.off, text)
		}
	}
}
