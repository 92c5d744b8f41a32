// SPDX-License-Identifier: Apache-2.0

package debug_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/placement-hub/placement-hub/pkg/explain/debug"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// What an API server would refuse is refused with the name of the field, and what it would not need is not needed.
func TestBodies(t *testing.T) {
	for _, tc := range []struct {
		reason, target, body string
		want                 int
		says                 string
	}{
		{"no JSON", "", "{", 400, "the body is no Placement in JSON: unexpected end"},
		{"nothing", "", "", 400, "the body is no Placement in JSON"},
		{"null", "", "null", 400, "it is null"},
		{"a list", "", "[]", 400, "cannot unmarshal array"},
		{"YAML", "", "metadata: {}", 400, "the body is no Placement in JSON"},
		{"twice the same field", "", `{"metadata":{"namespace":"team-a"},"spec":{},"spec":{}}`, 400, `duplicate field "spec"`},
		{"no metadata", "", `{"spec":{}}`, 400, "metadata.namespace: is required"},
		{"no namespace", "", `{"metadata":{"name":"x"},"spec":{}}`, 400, "metadata.namespace: is required"},
		{"a namespace that is none", "", `{"metadata":{"name":"x","namespace":5},"spec":{}}`, 400, "metadata.namespace: is required, as a string"},
		{"no spec", "", `{"metadata":{"namespace":"team-a"}}`, 400, "spec: is required"},
		{
			"an unknown field", "", `{"metadata":{"namespace":"team-a"},"spec":{"numberOfCluster":3}}`, 400,
			"spec.numberOfCluster: unknown field: remove it, or use one of clusterSets, ",
		},
		{
			"a wrong type", "", `{"metadata":{"namespace":"team-a"},"spec":{"numberOfClusters":"3"}}`, 400,
			"spec.numberOfClusters: must be of type integer",
		},
		{
			"two mistakes", "", `{"metadata":{"namespace":"team-a"},"spec":{"sortBy":"Age","clusterSets":{}}}`, 400,
			"spec.clusterSets: must be of type array: \"object\"; spec.sortBy: Unsupported value: \"Age\"",
		},
		{"a name that is none", "", `{"metadata":{"namespace":"team-a","name":"A b"},"spec":{}}`, 400, "metadata.name: Invalid value"},
		{"a name that is no string", "", `{"metadata":{"namespace":"team-a","name":5},"spec":{}}`, 400, "metadata.name: must be a string"},
		{"another kind", "", `{"kind":"Pod","metadata":{"namespace":"team-a"},"spec":{}}`, 400, `kind: is "Pod", and must be Placement`},
		{
			"another version", "", `{"apiVersion":"cluster.open-cluster-management.io/v1","metadata":{"namespace":"team-a"},"spec":{}}`, 400,
			`apiVersion: is "cluster.open-cluster-management.io/v1", and must be one of cluster.open-cluster-management.io/v1beta1, placement`,
		},
		{
			"two APIs", "?api=cluster.open-cluster-management.io",
			`{"apiVersion":"placement.open-cluster-management.io/v1alpha1","metadata":{"namespace":"team-a"},"spec":{}}`, 400,
			"apiVersion: is placement.open-cluster-management.io/v1alpha1, and the parameter api says cluster",
		},
		{"a field of the other API", "", `{"metadata":{"namespace":"team-a"},"spec":{"antiAffinity":{}}}`, 400, "spec.antiAffinity: unknown field"},
		{"a path below, of which the body has the last word", "team-b/other", sent, 200, ""},
		{"a path of any depth", "team-a/new/status", sent, 200, ""},
		{"too much", "", `{"metadata":{"namespace":"team-a"},"spec":{"x":"` + strings.Repeat("x", 1<<20) + `"}}`, 413, "more than 1048576 bytes"},
		{"as much as may be", "", sent + strings.Repeat(" ", 1<<20-len(sent)), 200, ""},
		{"neither apiVersion, kind nor name", "", `{"metadata":{"namespace":"team-a"},"spec":{}}`, 200, ""},
		{"a name that is still to come", "", `{"metadata":{"namespace":"team-a","generateName":"x-"},"spec":{}}`, 200, ""},
		{
			"what kubectl get prints", "",
			`{"metadata":{"namespace":"team-a","name":"new","creationTimestamp":null,"uid":"9","resourceVersion":"5",
			"managedFields":[{"manager":"kubectl","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]},
			"spec":{},"status":{"numberOfSelectedClusters":0,"decisionGroups":null,"conditions":[]}}`, 200, "",
		},
		{
			"the other API by its apiVersion", "",
			`{"apiVersion":"placement.open-cluster-management.io/v1alpha1","metadata":{"namespace":"team-a"},"spec":{"antiAffinity":{}}}`, 200, "",
		},
		{
			"the other API by the parameter", "?api=placement.open-cluster-management.io",
			`{"metadata":{"namespace":"team-a"},"spec":{"antiAffinity":{}}}`, 200, "",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			h, r := newHub(t), &rights{allowed: everything}
			recorder := getDecision(t, h, r, asker, "POST", debug.Path+tc.target, tc.body)
			answer := decode(t, recorder)
			if recorder.Code != tc.want || !strings.Contains(answer.Error, tc.says) || (answer.Error == "") != (tc.want == 200) {
				t.Errorf("code %d, error %q; want %d, %q", recorder.Code, answer.Error, tc.want, tc.says)
			}
			if tc.want != 200 && h.lookups > 0 {
				t.Errorf("%d lookups", h.lookups)
			}
		})
	}
}

// Nobody without the right to create learns more than that his placement has a namespace: it is not even checked.
func TestNothingIsCheckedForStrangers(t *testing.T) {
	recorder := getDecision(t, newHub(t), &rights{}, asker, "POST", debug.Path, `{"metadata":{"namespace":"team-a","name":5},"spec":{"x":1}}`)
	answer := decode(t, recorder)
	if recorder.Code != http.StatusForbidden || !strings.Contains(answer.Error, "does not have permission to create placements") {
		t.Errorf("code %d: %s", recorder.Code, answer.Error)
	}
}

// steady asks for one cluster, the one that is selected already.
const steady = `{"metadata":{"namespace":"team-a","name":"%s","uid":"made-up"},"spec":{"numberOfClusters":1,"prioritizerPolicy":{"mode":"Exact",
	"configurations":[{"scoreCoordinate":{"type":"BuiltIn","builtIn":"Steady"},"weight":-1}]}},
	"status":{"numberOfSelectedClusters":1,"decisionGroups":[],"conditions":[{"type":"Mine","status":"True","reason":"R","message":"",
	"lastTransitionTime":"2020-01-01T00:00:00Z"}]}}`

// The decisions of the Placement of the same name are the incumbents if the caller may get it. Its existence is not disclosed to other
// callers.
func TestIncumbents(t *testing.T) {
	const noted = `present decisions are not looked at: user "ada" does not have permission to get placements`
	for _, tc := range []struct {
		reason, name string
		allowed      []string
		want         []string
		noted        bool
	}{
		{"the incumbent c1 has points, and is not wanted for them", "rollout", everything, []string{"c2"}, false},
		{"there is no such placement", "missing", everything, []string{"c1"}, false},
		{"whoever may not get it does not see its decisions", "rollout", []string{"create team-a/" + beta}, []string{"c1"}, true},
		{"and is told so when there is none, too", "missing", []string{"create team-a/" + beta}, []string{"c1"}, true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			recorder := getDecision(t, newHub(t), &rights{allowed: tc.allowed}, asker, "POST", debug.Path, fmt.Sprintf(steady, tc.name))
			answer := decode(t, recorder)
			if diff := cmp.Diff(tc.want, answer.Selected); diff != "" {
				t.Errorf("selected (-want +got):\n%s%s", diff, recorder.Body)
			}
			if slices.ContainsFunc(answer.Warnings, func(text string) bool { return strings.HasPrefix(text, noted) }) != tc.noted {
				t.Errorf("warnings %q", answer.Warnings)
			}

			for _, condition := range answer.Conditions {
				if condition.Type == "Mine" {
					t.Error("the status that was sent is believed")
				}
			}
		})
	}
}

// slowHub blocks until the test releases it.
type slowHub struct {
	*hub

	arrived chan struct{}
	proceed chan struct{}
}

func (h *slowHub) Placement(context.Context, inventory.Key) (*api.Placement, error) {
	h.arrived <- struct{}{}
	<-h.proceed
	return nil, nil
}

// At most two requests are evaluated concurrently, and a cancelled one gets an error, so that requests do not starve the hub.
func TestQuestionsTakeTurns(t *testing.T) {
	known := newHub(t)
	may := &rights{allowed: everything}
	synctest.Test(t, func(t *testing.T) {
		h := &slowHub{hub: known, arrived: make(chan struct{}), proceed: make(chan struct{})}
		handler := debug.New(h, locked(may), admission, func() time.Time { return noon })
		codes := make(chan int, 3)
		ctx, cancel := context.WithCancel(request.WithUser(t.Context(), asker))

		put := func(ctx context.Context) {
			recorder := httptest.NewRecorder()
			handler.ServeHTTP(recorder, httptest.NewRequestWithContext(ctx, http.MethodGet, "/debug/placements/team-a/missing", http.NoBody))
			codes <- recorder.Code
		}
		for range 2 {
			go put(context.WithoutCancel(ctx))
			<-h.arrived
		}
		go put(ctx)

		synctest.Wait()
		select {
		case <-h.arrived:
			t.Error("a third question is answered at the same time")
		default:
		}
		cancel()
		if code := <-codes; code != http.StatusServiceUnavailable {
			t.Errorf("code %d for who waited in vain", code)
		}

		close(h.proceed)
		for range 2 {
			if code := <-codes; code != http.StatusNotFound {
				t.Errorf("code %d for who had a turn", code)
			}
		}
	})
}
