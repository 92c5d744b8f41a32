// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strconv"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

// references is a format with the names of ClusterProfiles, in slices whose labels have their index.
type references struct{ api.Codec }

func (references) Labels(placement string, group api.Group) map[string]string {
	return map[string]string{"placement": placement, "index": strconv.Itoa(group.Index)}
}

func (references) Placement(page *api.Page) string { return page.Labels["placement"] }

func (references) Group(page *api.Page) (api.Group, bool) {
	index, err := strconv.Atoi(page.Labels["index"])
	return api.Group{Index: index}, err == nil
}

func (references) Normalize(d api.Decision) api.Decision {
	return api.Decision{Cluster: d.Profile.Namespace + "/" + d.Profile.Name, Profile: d.Profile}
}

func referencesOf(plan Plan) [][]string {
	slices := [][]string{}
	for _, write := range plan.Writes {
		slices = append(slices, write.Desired.Clusters())
	}
	return slices
}

// Only existing ClusterProfiles are referenced; the profile in the namespace of the Placement takes precedence, and clusters without a
// profile are returned.
func TestProfiles(t *testing.T) {
	world := stateOf("c-1", "c-2", "c-3", "c-4")
	for cluster, namespaces := range map[string][]string{"c-1": {"a", "ns", "z"}, "c-2": {"z", "b"}, "c-4": {"ns"}} {
		for _, namespace := range namespaces {
			world.SetProfile(clusterinfo.Profile{Namespace: namespace, Name: cluster}, map[string]string{cluster: ""})
		}
	}

	placement := placementOf(clusterv1beta1.PlacementSpec{})
	asked := api.V1beta1.Read(placement)
	codec := references{api.V1beta1.Codec()}
	none := NewExisting(codec, asked, nil)
	own := NewExisting(asked.API.Codec(), asked, []*api.Page{page(1, 0, "", "c-2", "c-3")})

	result := resultOf(placement, world)
	answer, missing := Profiles(result, own, none)
	expect(t, "missing", []string{"c-3"}, missing)
	expect(t, "references", [][]string{{"b/c-2", "ns/c-1", "ns/c-4"}}, referencesOf(answer.Plan()))
	condition := ProfilesFound(result, missing, nil, asked)[0]
	expect(t, "condition", metav1.Condition{
		Type: ConditionProfilesFound, Status: metav1.ConditionFalse, Reason: ReasonProfilesMissing,
		Message: "1 of 4 selected clusters have no ClusterProfile and are left out of the PlacementDecisions of multicluster.x-k8s.io: c-3",
	}, condition)

	world.SetProfile(clusterinfo.Profile{Namespace: "ns", Name: "c-3"}, map[string]string{"c-3": ""})
	_, missing = Profiles(resultOf(placement, world), own, none)
	expect(t, "missing when there is one for all", 0, len(missing))
	expect(t, "condition", metav1.ConditionTrue, ProfilesFound(result, missing, nil, asked)[0].Status)
	placement = placementOf(clusterv1beta1.PlacementSpec{Tolerations: []clusterv1beta1.Toleration{{Value: "mistake"}}})
	held := resultOf(placement, world)

	answer, _ = Profiles(held, own, none)
	expect(t, "A1: references to what is kept", [][]string{{"b/c-2", "ns/c-3"}}, referencesOf(answer.Plan()))
	slice := page(1, 0, "")
	slice.Labels = codec.Labels("p", api.Group{})
	slice.Decisions = []api.Decision{codec.Normalize(api.Decision{Profile: clusterinfo.Profile{Namespace: "ns", Name: "c-9"}})}
	some := NewExisting(codec, asked, []*api.Page{slice})

	answer, _ = Profiles(held, own, some)
	if plan := answer.Plan(); !plan.Empty() {
		t.Errorf("A1: a held answer writes %v", referencesOf(plan))
	}
	expect(t, "condition while held", 0, len(ProfilesFound(held, nil, nil, asked)))
}

// docs/spec/trust.md T18: a ClusterProfile that is not believed is named by no decision, and by the condition with the reason.
func TestProfilesThatAreNotBelieved(t *testing.T) {
	world := stateOf("c-1", "c-2")
	set := func(namespace, name string, claims map[string]string) {
		world.SetProfile(clusterinfo.Profile{Namespace: namespace, Name: name}, claims)
	}
	set("ns", "a-fake", map[string]string{"c-1": "its label lies", "a-fake": "its label lies"})
	set("ns", "c-1", map[string]string{"c-1": ""})
	set("ns", "c-2", map[string]string{"c-2": "its manager is another", "prod": "its manager is another"})
	set("z", "c-2", map[string]string{"c-2": ""})

	placement := placementOf(clusterv1beta1.PlacementSpec{})
	asked := api.V1beta1.Read(placement)
	none, own := NewExisting(references{api.V1beta1.Codec()}, asked, nil), NewExisting(asked.API.Codec(), asked, nil)

	result := resultOf(placement, world)
	answer, missing := Profiles(result, own, none)
	expect(t, "references", [][]string{{"ns/c-1", "z/c-2"}}, referencesOf(answer.Plan()))
	const suffix = "; not believed: ClusterProfile ns/a-fake of cluster c-1 (its label lies), " +
		"ClusterProfile ns/c-2 of cluster c-2 (its manager is another); delete them, or correct their labels"
	condition := ProfilesFound(result, missing, nil, asked)[0]
	expect(t, "status", metav1.ConditionTrue, condition.Status)
	expect(t, "message", "Every selected cluster has a ClusterProfile"+suffix, condition.Message)

	world.DeleteProfile(clusterinfo.Profile{Namespace: "z", Name: "c-2"})
	result = resultOf(placement, world)
	answer, missing = Profiles(result, own, none)
	expect(t, "references", [][]string{{"ns/c-1"}}, referencesOf(answer.Plan()))
	expect(t, "missing", []string{"c-2"}, missing)
	expect(t, "message when one is missing", "1 of 2 selected clusters have no ClusterProfile and are left out of the PlacementDecisions of "+
		"multicluster.x-k8s.io: c-2"+suffix, ProfilesFound(result, missing, nil, asked)[0].Message)
	set("ns", "x-1", map[string]string{"c-1": "its label lies"})
	message := ProfilesFound(resultOf(placement, world), nil, nil, asked)[0].Message
	expect(t, "as many as are listed", true, strings.HasSuffix(message, "c-2 (its manager is another); delete them, or correct their labels"))
	for _, name := range []string{"x-2", "x-3"} {
		set("ns", name, map[string]string{"c-1": "its label lies"})
	}

	message = ProfilesFound(resultOf(placement, world), nil, nil, asked)[0].Message
	expect(t, "bounded message", true, strings.Contains(message, " and 2 more; delete them"))
}

// The condition lists up to ten clusters without a ClusterProfile.
func TestMissingProfilesAreListed(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	for missing, want := range map[int]string{10: "c-009, c-010", 11: "c-010, ..."} {
		names := fleet(missing)
		message := ProfilesFound(selecting(placement, names...), names, nil, api.V1beta1.Read(placement))[0].Message
		if !strings.HasSuffix(message, want) {
			t.Errorf("%d missing: got %q, want the end %q", missing, message, want)
		}
	}
}

// docs/spec/differences.md B4: the condition names the slices of the Placement that another writer has made.
func TestSlicesOfAnotherWriter(t *testing.T) {
	placement := placementOf(clusterv1beta1.PlacementSpec{})
	asked := api.V1beta1.Read(placement)
	codec := references{api.V1beta1.Codec()}
	slice := func(n int, of, scheduler string) *api.Page {
		page := page(n, 0, "")
		page.OwnerReferences, page.Labels, page.Scheduler = nil, codec.Labels(of, api.Group{}), scheduler
		return page
	}
	for _, c := range []struct {
		reason string
		pages  []*api.Page
		want   string
	}{
		{"our own", []*api.Page{slice(1, "p", "")}, ""},
		{"of another placement", []*api.Page{slice(1, "q", "other")}, ""},
		{
			"of another writer", []*api.Page{slice(2, "p", "other"), slice(1, "p", "other")},
			`p-decision-1 (schedulerName "other"), p-decision-2 (schedulerName "other"); leave --sig`,
		},
		{
			"many of another writer", []*api.Page{slice(1, "p", "o"), slice(2, "p", "o"), slice(3, "p", "o"), slice(4, "p", "o"), slice(5, "p", "o")},
			`p-decision-3 (schedulerName "o") and 2 more; leave --sig`,
		},
		{
			"as many as are listed", []*api.Page{slice(1, "p", "o"), slice(2, "p", "o"), slice(3, "p", "o")},
			`p-decision-3 (schedulerName "o"); leave --sig`,
		},
	} {
		evaluation := Evaluation{}.WithReferences(NewExisting(codec, asked, c.pages))
		condition := ProfilesFound(resultOf(placement, stateOf()), nil, evaluation.others, asked)[0]
		expect(t, c.reason+": status", metav1.ConditionTrue, condition.Status)
		expect(t, c.reason+": says "+condition.Message, c.want != "", strings.Contains(condition.Message, "; written by another"))
		expect(t, c.reason+": says "+condition.Message, true, strings.Contains(condition.Message, c.want))
	}
}
