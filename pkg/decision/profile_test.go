package decision

import (
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"

	"github.com/placement-hub/placement-hub/pkg/clusterinfo"
	"github.com/placement-hub/placement-hub/pkg/decision/api"
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
			world.SetProfile(cluster, clusterinfo.Profile{Namespace: namespace, Name: cluster})
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

	condition := ProfilesFound(result, missing, asked)[0]
	expect(t, "condition", metav1.Condition{
		Type: ConditionProfilesFound, Status: metav1.ConditionFalse, Reason: ReasonProfilesMissing,
		Message: "1 of 4 selected clusters have no ClusterProfile and are left out of the PlacementDecisions of multicluster.x-k8s.io: c-3",
	}, condition)

	world.SetProfile("c-3", clusterinfo.Profile{Namespace: "ns", Name: "c-3"})

	_, missing = Profiles(resultOf(placement, world), own, none)
	expect(t, "missing when there is one for all", 0, len(missing))
	expect(t, "condition", metav1.ConditionTrue, ProfilesFound(result, missing, asked)[0].Status)

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

	expect(t, "condition while held", 0, len(ProfilesFound(held, nil, asked)))
}
