// SPDX-License-Identifier: Apache-2.0

package dashboard

import (
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

// denied returns a ClusterRequest of team-a that was denied with a message.
func denied(name, message string) *openmcpv1alpha1.ClusterRequest {
	request := &openmcpv1alpha1.ClusterRequest{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name}}
	request.Status.Status, request.Status.Message = openmcpv1alpha1.RequestDenied, message
	return request
}

// The list behind each cause of the overview has as many objects as the row says, with a namespace and without one.
func TestTheListsOfCausesHaveTheirObjects(t *testing.T) {
	objects := largeFleet()[3:]
	objects = append(objects, denied("a", "no profile fits"), denied("b", "no profile fits"), denied("c", ""),
		denied("d", strings.Repeat("x", maxCause-1)+" y"))
	pages := newPages(deliveriesOf(t, objects...))
	row := regexp.MustCompile(`<td data-label="What" class="name"><a href="([^"]+)">(\d+) (\w+)</a>`)
	for path, causes := range map[string]int{"/": 10, "/?namespace=team-a": 10} {
		rows := row.FindAllStringSubmatch(as(t, pages, "jane", http.MethodGet, path, "").Body.String(), -1)
		if len(rows) != causes {
			t.Errorf("%s has the causes %v, want %d", path, rows, causes)
		}
		for _, match := range rows {
			list := as(t, pages, "jane", http.MethodGet, html.UnescapeString(match[1]), "").Body.String()
			if !strings.Contains(list, fmt.Sprintf(" of %s ", match[2])) {
				t.Errorf("%s counts %s %s, and %s has: %s", path, match[2], match[3], match[1], list)
			}
		}
	}
}

func TestPluralsOfKinds(t *testing.T) {
	for kind, want := range map[string]string{
		"ConfigMap": "2 ConfigMaps", "Deployment.apps": "2 Deployments", "Ingress.networking.k8s.io": "2 Ingresses", "Endpoints": "2 Endpoints",
		"NetworkPolicy.networking.k8s.io": "2 NetworkPolicies", "Gateway.gateway.networking.k8s.io": "2 Gateways", "Switch": "2 Switches",
	} {
		shown := sharedCause{Kind: kind, Count: 2}
		if got := fmt.Sprint(shown.Count, " ", shown.Noun()); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
	if one := (&sharedCause{Kind: "Deployment.apps", Count: 1}).Noun(); one != "Deployment" {
		t.Errorf("one is a %s", one)
	}
}

// Placements that ask for other values of one label have one cause, so that the overview has a row for them and not one for each.
func TestPlacementsThatAskForOtherValuesHaveOneCause(t *testing.T) {
	for message, want := range map[string]string{
		"0 of 5 clusters in scope selected; not selected: predicate 1 label zone In [a b] (5)":            "predicate 1 label zone In […]",
		"0 of 9 clusters in scope selected; not selected: predicate 1 label zone In [c] (7), taint x (2)": "predicate 1 label zone In […]",
		"0 of 9 clusters in scope selected; not selected: taint x not tolerated (9)":                      "taint x not tolerated",
		"none is bound": "NoBindings",
	} {
		if got := placementCause(&metav1.Condition{Reason: "NoBindings", Message: message}); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
