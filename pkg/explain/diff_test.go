// SPDX-License-Identifier: Apache-2.0

package explain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/placement-hub/placement-hub/pkg/explain"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
	"github.com/placement-hub/placement-hub/pkg/explain/printers"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/placement/api"
)

const (
	labelPrefix = "cluster.open-cluster-management.io/"
	inEurope    = "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: eu}}}}]}"
	inAmerica   = "{predicates: [{requiredClusterSelector: {labelSelector: {matchLabels: {region: us}}}}]}"
	bestScore   = "{numberOfClusters: 1, prioritizerPolicy: {mode: Exact, configurations: [{weight: 1, scoreCoordinate: {type: AddOn, " +
		"addOn: {resourceName: demo, scoreName: cpu}}}]}}"
	usCanary = "{decisionStrategy: {groupStrategy: {decisionGroups: [{groupName: canary, " +
		"groupClusterSelector: {labelSelector: {matchLabels: {region: us}}}}]}}}"
)

// diffFleet has three clusters in eu and two in us, all in the set default, which is bound to ns; the set spare is not.
var diffFleet = diffClusters("eu1", "eu2", "eu3-large", "us1", "us2") + `---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: default, namespace: ns}
spec: {clusterSet: default}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: spare}
`

// diffClusters are in the region that their names begin with.
func diffClusters(names ...string) string {
	var out strings.Builder
	for _, name := range names {
		fmt.Fprintf(&out, "---\n%smetadata: {name: %s, labels: {region: %s, %sclusterset: default}}\n", clusterHead, name, name[:2], labelPrefix)
	}
	return out.String()
}

// page is a PlacementDecision of placement ns/a.
func page(number, group int, name string, clusters ...string) string {
	decisions := make([]string, 0, len(clusters))
	for _, cluster := range clusters {
		decisions = append(decisions, fmt.Sprintf(`{clusterName: %s, reason: ""}`, cluster))
	}
	return fmt.Sprintf("---\napiVersion: cluster.open-cluster-management.io/v1beta1\nkind: PlacementDecision\n"+
		"metadata: {name: a-decision-%d, namespace: ns, labels: {%splacement: a, %sdecision-group-index: %q, %sdecision-group-name: %q}}\n"+
		"status: {decisions: [%s]}\n", number, labelPrefix, labelPrefix, strconv.Itoa(group), labelPrefix, name, strings.Join(decisions, ", "))
}

// placementA is placement ns/a.
func placementA(metadata, spec string) string {
	return "---\n" + placementHead + "metadata: {name: a, namespace: ns" + metadata + "}\nspec: " + spec + "\n"
}

// olderA is placement ns/a of the older API, and olderPage its only PlacementDecision.
func olderA(spec string) string {
	return "---\napiVersion: placement.open-cluster-management.io/v1alpha1\nkind: Placement\nmetadata: {name: a, namespace: ns}\nspec: " + spec + "\n"
}

func olderPage(clusters ...string) string {
	decisions := make([]string, 0, len(clusters))
	for _, cluster := range clusters {
		decisions = append(decisions, fmt.Sprintf("{clusterName: %s, available: true}", cluster))
	}
	return "---\napiVersion: placement.open-cluster-management.io/v1alpha1\nkind: PlacementDecision\n" +
		"metadata: {name: a-decision-1, namespace: ns, labels: {placement.open-cluster-management.io: a}}\n" +
		"decisions: [" + strings.Join(decisions, ", ") + "]\n"
}

// differences compares a hub in YAML with the same hub that has the placements of another.
func differences(t *testing.T, hub, files string) explain.Differences {
	t.Helper()
	before := read(t, hub)
	after := *before
	after.Placements = read(t, files).Placements
	wanted := map[inventory.Key]bool{}
	for _, placement := range after.Placements {
		wanted[api.Read(placement).Key()] = true
	}
	return explain.Diff(before, &after, func(key inventory.Key) bool { return wanted[key] }, noon)
}

func TestDiff(t *testing.T) {
	const disabled = ", annotations: {cluster.open-cluster-management.io/experimental-scheduling-disable: \"true\"}"
	for _, tc := range []struct {
		reason, hub, files string
		showKept           bool
		want, wantNames    string
	}{
		{
			reason: "a placement that does not exist yet gains all",
			files:  placementA("", inEurope),
			want: "ns/a (new): 3 gained, 0 lost, 0 kept\n" +
				"  + eu1        score 100, rank 1 of 3\n" +
				"  + eu2        score 100, rank 2 of 3\n" +
				"  + eu3-large  score 100, rank 3 of 3\n",
			wantNames: "ns/a +eu1\nns/a +eu2\nns/a +eu3-large\n",
		},
		{
			reason: "lost clusters have their reason, incumbents stay",
			hub:    placementA("", "{}") + page(1, 0, "", "eu1", "eu2", "eu3-large", "us1", "us2"), files: placementA("", inEurope),
			want: "ns/a: 0 gained, 2 lost, 3 kept\n" +
				"  - us1  predicate 1 label region In [eu]: is us\n" +
				"  - us2  predicate 1 label region In [eu]: is us\n" +
				"  = 3 kept\n",
			wantNames: "ns/a -us1\nns/a -us2\n",
		},
		{
			reason: "the annotation of missing scores decides, too",
			hub: placementA("", bestScore) + page(1, 0, "", "eu1") + "---\napiVersion: cluster.open-cluster-management.io/v1alpha1\n" +
				"kind: AddOnPlacementScore\nmetadata: {name: demo, namespace: us1}\nstatus: {scores: [{name: cpu, value: -5}]}\n",
			files: placementA(", annotations: {placement-hub.open-cluster-management.io/missing-score: worst}", bestScore),
			want: "ns/a: 1 gained, 1 lost, 0 kept; 1 of 1 wanted\n" +
				"  + us1  score -5, rank 1 of 5\n" +
				"  - eu1  rank 2 of 5, 1 wanted, 95 points below us1, no score, counted as the worst\n",
			wantNames: "ns/a +us1\nns/a -eu1\n",
		},
		{
			reason: "a swap, with the kept ones by name", showKept: true,
			hub:   placementA("", "{numberOfClusters: 2}") + page(1, 0, "", "eu2", "us2"),
			files: placementA("", strings.Replace(inAmerica, "{", "{numberOfClusters: 2, ", 1)),
			want: "ns/a: 1 gained, 1 lost, 1 kept; 2 of 2 wanted\n" +
				"  + us1  score 100, rank 2 of 2\n" +
				"  - eu2  predicate 1 label region In [us]: is eu\n" +
				"  = us2\n",
			wantNames: "ns/a +us1\nns/a -eu2\n",
		},
		{
			reason: "nothing differs",
			hub:    placementA("", inEurope) + page(1, 0, "", "eu1", "eu2", "eu3-large"),
			files:  placementA("", strings.Replace(inEurope, "{", "{tolerations: [{key: gpu, operator: Exists}], ", 1)),
			want:   "ns/a: no difference, 3 kept\n  = 3 kept\n",
		},
		{
			reason: "fewer are found than asked",
			hub:    placementA("", "{numberOfClusters: 1}") + page(1, 0, "", "us1"),
			files:  placementA("", strings.Replace(inAmerica, "{", "{numberOfClusters: 4, ", 1)),
			want: "ns/a: 1 gained, 0 lost, 1 kept; 2 of 4 wanted\n" +
				"  PlacementSatisfied=False (NotAllDecisionsScheduled): 2 cluster decisions unscheduled; " +
				"2 of 5 clusters in scope selected; not selected: predicate 1 label region In [us] (3)\n" +
				"  + us2  score 100, rank 2 of 2\n" +
				"  = 1 kept\n",
			wantNames: "ns/a +us2\n",
		},
		{
			reason: "a set that is not bound, and one that does not exist",
			hub:    placementA("", inAmerica) + page(1, 0, "", "us1", "us2"),
			files:  placementA("", strings.Replace(inAmerica, "{", "{clusterSets: [default, spare, nosuch], ", 1)),
			want: "ns/a: no difference, 2 kept\n" +
				"  ManagedClusterSet spare is not bound to namespace ns: create the ManagedClusterSetBinding spare there\n" +
				"  ManagedClusterSet nosuch does not exist: correct spec.clusterSets, or create it\n" +
				"  = 2 kept\n",
		},
		{
			reason: "only a set that is not bound",
			hub:    placementA("", inAmerica) + page(1, 0, "", "us1", "gone"), files: placementA("", "{clusterSets: [spare]}"),
			want: "ns/a: 0 gained, 2 lost, 0 kept\n" +
				"  ManagedClusterSet spare is not bound to namespace ns: create the ManagedClusterSetBinding spare there\n" +
				"  PlacementSatisfied=False (NoIntersection): None of ManagedClusterSets [spare] is bound to placement namespace\n" +
				"  due anyway: 1 of the differences, because the written decisions are behind the present state of the hub\n" +
				"  - gone  ManagedCluster is deleted (due anyway)\n" +
				"  - us1   none of the cluster sets asked for is bound to the namespace\n",
			wantNames: "ns/a -gone\nns/a -us1\n",
		},
		{
			reason: "what the hub is about to do itself is told apart",
			hub:    placementA("", inEurope) + page(1, 0, "", "eu1", "us1"), files: placementA("", "{}"),
			want: "ns/a: 3 gained, 0 lost, 2 kept\n" +
				"  due anyway: 2 of the differences, because the written decisions are behind the present state of the hub\n" +
				"  + eu2        score 100, rank 3 of 5 (due anyway)\n" +
				"  + eu3-large  score 100, rank 4 of 5 (due anyway)\n" +
				"  + us2        score 100, rank 5 of 5\n" +
				"  = 2 kept\n",
			wantNames: "ns/a +eu2\nns/a +eu3-large\nns/a +us2\n",
		},
		{
			reason: "rollouts go by group, so a move between groups is a difference",
			hub:    placementA("", "{}") + page(1, 0, "", "eu1", "eu2", "us1", "us2"), files: placementA("", usCanary),
			want: "ns/a: 1 gained, 0 lost, 4 kept, 4 of them in another group\n" +
				"  due anyway: 1 of the differences, because the written decisions are behind the present state of the hub\n" +
				"  + eu3-large  score 100, rank 5 of 5, group 1 (due anyway)\n" +
				"  ~ eu1        group 0 -> group 1\n" +
				"  ~ eu2        group 0 -> group 1\n" +
				"  ~ us1        group 0 -> group 0 canary\n" +
				"  ~ us2        group 0 -> group 0 canary\n" +
				"  = 4 kept\n",
			wantNames: "ns/a +eu3-large\nns/a ~eu1\nns/a ~eu2\nns/a ~us1\nns/a ~us2\n",
		},
		{
			reason: "a move that is due anyway, and a gain with its group",
			hub:    placementA("", usCanary) + page(1, 0, "canary", "us1", "eu1") + page(2, 1, "", "eu2", "eu3-large"),
			files:  placementA("", usCanary),
			want: "ns/a: 1 gained, 0 lost, 4 kept, 1 of them in another group\n" +
				"  due anyway: 2 of the differences, because the written decisions are behind the present state of the hub\n" +
				"  + us2  score 100, rank 5 of 5, group 0 canary (due anyway)\n" +
				"  ~ eu1  group 0 canary -> group 1 (due anyway)\n" +
				"  = 4 kept\n",
			wantNames: "ns/a +us2\nns/a ~eu1\n",
		},
		{
			reason: "A1: a mistake never unplaces",
			hub:    placementA("", inAmerica) + page(1, 0, "", "us1", "us2"),
			files:  placementA("", "{tolerations: [{operator: Exists, key: gpu, value: a100}]}"),
			want: "ns/a: no answer; if this were applied, it would keep the 2 clusters of its last decisions\n" +
				"  spec.tolerations[0].value: Invalid value: \"a100\": If the operator is Exists, the value should be empty; " +
				"correct it in the file\n",
		},
		{
			reason: "a mistake in a new placement",
			files:  placementA("", "{tolerations: [{operator: Exists, key: gpu, value: a100}]}"),
			want: "ns/a (new): no answer; if this were applied, it would have no decisions\n" +
				"  spec.tolerations[0].value: Invalid value: \"a100\": If the operator is Exists, the value should be empty; " +
				"correct it in the file\n",
		},
		{
			reason: "A4: a broken set holds the placements that use it",
			hub: placementA("", inAmerica) + page(1, 0, "", "us1") + "---\n" +
				"apiVersion: cluster.open-cluster-management.io/v1beta2\nkind: ManagedClusterSet\nmetadata: {name: default}\n" +
				"spec: {clusterSelector: {selectorType: LabelSelector, labelSelector: {matchExpressions: [{key: zone, operator: Inside}]}}}\n",
			files: placementA("", "{}"),
			want: "ns/a: no answer; if this were applied, it would keep the 1 cluster of its last decisions\n" +
				"  ManagedClusterSet default: spec.clusterSelector.labelSelector.matchExpressions[0].operator: Invalid value: \"Inside\": " +
				"not a valid selector operator; correct this set on the hub first\n",
		},
		{
			reason: "C5: hands off",
			hub:    placementA("", inAmerica) + page(1, 0, "", "us1", "gone"), files: placementA(disabled, inEurope),
			want: "ns/a: no difference, as the annotation cluster.open-cluster-management.io/experimental-scheduling-disable is true; " +
				"it would keep the 2 clusters of its last decisions\n",
		},
		{
			reason: "hands on again: nothing was due before",
			hub:    placementA(disabled, inAmerica) + page(1, 0, "", "us1"), files: placementA("", inAmerica),
			want: "ns/a: 1 gained, 0 lost, 1 kept\n" +
				"  + us2  score 100, rank 2 of 2\n" +
				"  = 1 kept\n",
			wantNames: "ns/a +us2\n",
		},
		{
			reason: "the older API: anti-affinity, which has no groups",
			hub:    olderA("{}") + olderPage("eu1", "eu2", "eu3-large", "us1") + placementA("", inAmerica) + page(1, 0, "", "us1", "us2"),
			files:  olderA("{antiAffinity: {topologyKey: region, topologyKeyType: Label}}"),
			want: "ns/a (placement.open-cluster-management.io): 0 gained, 2 lost, 2 kept\n" +
				"  - eu2        label region=eu is taken by eu1, rank 1\n" +
				"  - eu3-large  label region=eu is taken by eu1, rank 1\n" +
				"  = 2 kept\n",
			wantNames: "ns/a@placement.open-cluster-management.io -eu2\nns/a@placement.open-cluster-management.io -eu3-large\n",
		},
		{
			reason: "two APIs with one name are told apart",
			hub:    olderA("{}") + olderPage("eu1") + placementA("", inAmerica) + page(1, 0, "", "us1"),
			files:  olderA("{predicates: [{clusterName: us2}]}") + placementA("", "{numberOfClusters: 0}"),
			want: "ns/a: 0 gained, 1 lost, 0 kept; 0 of 0 wanted\n" +
				"  PlacementSatisfied=False (NoManagedClusterMatched): No ManagedCluster matches any of the cluster predicate; " +
				"0 of 5 clusters in scope selected; not selected: not needed, 0 wanted (5)\n" +
				"  - us1  rank 1 of 5, 0 wanted\n" +
				"\nns/a (placement.open-cluster-management.io): 1 gained, 1 lost, 0 kept\n" +
				"  due anyway: 1 of the differences, because the written decisions are behind the present state of the hub\n" +
				"  + us2  score 100, rank 1 of 1 (due anyway)\n" +
				"  - eu1  predicate 1 name is us2: is eu1\n",
			wantNames: "ns/a -us1\nns/a@placement.open-cluster-management.io +us2\nns/a@placement.open-cluster-management.io -eu1\n",
		},
		{
			reason: "A1: for the older API",
			hub:    olderPage("eu1"), files: olderA("{antiAffinity: {topologyKey: region}}"),
			want: "ns/a (placement.open-cluster-management.io) (new): no answer; if this were applied, " +
				"it would keep the 1 cluster of its last decisions\n" +
				"  spec.antiAffinity.topologyKeyType: Unsupported value: \"\": supported values: \"Label\", \"Claim\"; correct it in the file\n",
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			got := differences(t, diffFleet+tc.hub, tc.files)
			for format, want := range map[printers.Format]string{printers.FormatTable: tc.want, printers.FormatName: tc.wantNames} {
				var out bytes.Buffer
				if err := printers.Print(&out, format, got, printers.Style{Options: document.Options{ShowKept: tc.showKept}}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, out.String()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", format, diff)
				}
			}

			if got.Differ() != (tc.wantNames != "") {
				t.Errorf("Differ is %t, and the names are %q", got.Differ(), tc.wantNames)
			}
		})
	}
}

// A placement of the older API says so in JSON; see TestDiffNamesInJSONAreStable for what is the same.
func TestDiffNamesTheOlderAPIInJSON(t *testing.T) {
	var out bytes.Buffer
	if err := printers.Print(&out, printers.FormatJSON, differences(t, diffFleet, olderA("{}")), printers.Style{}); err != nil {
		t.Fatal(err)
	}
	if want := "\"placement\": \"ns/a\",\n      \"api\": \"placement.open-cluster-management.io\",\n"; !strings.Contains(out.String(), want) {
		t.Errorf("JSON lacks %s:\n%s", want, out.String())
	}
}

// Decisions that the user may not list move ranks, so it is said where they do.
func TestDiffReportsWhatIsNotCounted(t *testing.T) {
	const note = "cannot count the placementdecisions.placement.open-cluster-management.io, which this user may not list"
	for _, tc := range []struct{ reason, policy, want string }{
		{"by default", "{}", "Balance " + note},
		{"both that count", "{mode: Exact, configurations: [{scoreCoordinate: {builtIn: Spread}, weight: 1}, " +
			"{scoreCoordinate: {builtIn: Balance}, weight: 1}]}", "Spread and Balance " + note},
		{"others do not count", "{mode: Exact, configurations: [{scoreCoordinate: {builtIn: Steady}, weight: 1}]}", ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			state := read(t, diffFleet+placementA("", "{prioritizerPolicy: "+tc.policy+"}"))
			state.Uncounted = []api.Adapter{api.V1alpha1}
			notes := explain.Diff(state, state, nil, noon).Placements[0].Notes
			if got := slices.ContainsFunc(notes, func(text string) bool { return strings.HasPrefix(text, tc.want) }); tc.want != "" && !got {
				t.Errorf("notes %q lack %q", notes, tc.want)
			}
			if tc.want == "" && strings.Contains(strings.Join(notes, ""), "cannot count") {
				t.Errorf("notes are %q", notes)
			}
		})
	}
}

// One cluster more does not drive out another of the same score.
func TestDiffKeepsIncumbents(t *testing.T) {
	got := differences(t, diffFleet+placementA("", "{numberOfClusters: 1}")+page(1, 0, "", "us2"), placementA("", "{numberOfClusters: 2}"))
	if kept := got.Placements[0].Kept; !slices.Equal(kept, []string{"us2"}) || len(got.Placements[0].Gained) != 1 {
		t.Errorf("kept %q, gained %v", kept, got.Placements[0].Gained)
	}
}

func TestDiffNamesInJSONAreStable(t *testing.T) {
	hub := placementA("", "{}") + page(1, 0, "", "eu1", "us1", "gone")
	files := placementA("", strings.Replace(usCanary, "{", "{numberOfClusters: 3, clusterSets: [default, spare], ", 1))
	const want = `{
  "now": "2026-01-31T12:00:00Z",
  "placements": [
    {
      "placement": "ns/a",
      "wanted": 3,
      "selected": 3,
      "gained": [
        {
          "cluster": "eu2",
          "rank": 3,
          "score": 100,
          "group": {
            "index": 1,
            "name": ""
          },
          "reason": "score 100, rank 3 of 5",
          "anyway": true
        }
      ],
      "lost": [
        {
          "cluster": "gone",
          "reason": "ManagedCluster is deleted",
          "anyway": true
        }
      ],
      "moved": [
        {
          "cluster": "eu1",
          "from": {
            "index": 0,
            "name": ""
          },
          "to": {
            "index": 1,
            "name": ""
          }
        },
        {
          "cluster": "us1",
          "from": {
            "index": 0,
            "name": ""
          },
          "to": {
            "index": 0,
            "name": "canary"
          }
        }
      ],
      "kept": [
        "eu1",
        "us1"
      ],
      "notes": [
        "ManagedClusterSet spare is not bound to namespace ns: create the ManagedClusterSetBinding spare there",
        "due anyway: 2 of the differences, because the written decisions are behind the present state of the hub"
      ]
    }
  ]
}
`

	got := differences(t, diffFleet+hub, files)
	var out, yaml bytes.Buffer
	if err := errors.Join(printers.Print(&out, printers.FormatJSON, got, printers.Style{}),
		printers.Print(&yaml, printers.FormatYAML, got, printers.Style{})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}

	if !strings.Contains(yaml.String(), "\n- gained:\n  - anyway: true\n    cluster: eu2\n") {
		t.Errorf("YAML:\n%s", yaml.String())
	}
	var back explain.Differences
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || !back.Differ() {
		t.Errorf("read back: %v, error %v", back, err)
	}
}

// The difference is what Evaluate says: gained and kept are the pages after the plan.
func TestDiffAgreesWithEvaluate(t *testing.T) {
	state := testState(t)
	got := explain.Diff(state, state, nil, noon)
	for i, evaluation := range state.Evaluate(noon, nil) {
		difference := got.Placements[i]
		var pages []string
		for _, clusters := range evaluation.Pages {
			pages = append(pages, clusters...)
		}

		for _, gain := range difference.Gained {
			if !gain.Anyway {
				t.Errorf("%s: gain %s of a change of nothing is not due anyway", difference.Placement, gain.Cluster)
			}
			difference.Kept = append(difference.Kept, gain.Cluster)
		}
		slices.Sort(pages)
		slices.Sort(difference.Kept)

		if !slices.Equal(pages, difference.Kept) {
			t.Errorf("%s: pages have %q, the difference %q", difference.Placement, pages, difference.Kept)
		}
	}
}

func TestDiffOnlyWhatIsWanted(t *testing.T) {
	state := testState(t)
	wanted := inventory.NewPlacementKey(inventory.V1beta1, "team-a", "short")
	got := explain.Diff(state, state, func(key inventory.Key) bool { return key == wanted }, noon)
	if len(got.Placements) != 1 || got.Placements[0].Placement != wanted.String() {
		t.Errorf("got %v, want only %s", got.Placements, wanted)
	}
}

// A page that is being deleted still shows its clusters to consumers, so they are kept, not gained.
func TestDiffCountsPagesThatAreBeingDeleted(t *testing.T) {
	leaving := strings.Replace(page(1, 0, "", "eu1", "eu2"), "namespace: ns",
		"namespace: ns, deletionTimestamp: \"2026-01-31T11:00:00Z\", finalizers: [example.com/a]", 1)
	got := differences(t, diffFleet+placementA("", inEurope)+leaving, placementA("", inEurope)).Placements[0]
	if !slices.Equal(got.Kept, []string{"eu1", "eu2"}) || len(got.Gained) != 1 || len(got.Moved) != 0 {
		t.Errorf("kept %q, gained %v, moved %v", got.Kept, got.Gained, got.Moved)
	}
}
