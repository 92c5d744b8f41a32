// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1alpha1 "open-cluster-management.io/api/cluster/v1alpha1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"

	placementv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/placement/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/pkg/selector"
)

// hub is an inventory with Placements that were all evaluated.
type hub struct {
	t         *testing.T
	inventory *inventory.Inventory
	random    *rand.Rand
	clusters  map[string]*clusterv1.ManagedCluster
	requests  map[inventory.Key]*Request
	answers   map[inventory.Key]string
}

const (
	hubClusters   = 200
	hubNamespaces = 12
)

func newHub(t *testing.T, random *rand.Rand) *hub {
	t.Helper()
	h := &hub{
		t:         t,
		inventory: inventory.New(selector.NewCompiler()), random: random, clusters: map[string]*clusterv1.ManagedCluster{},
		requests: map[inventory.Key]*Request{}, answers: map[inventory.Key]string{},
	}
	for _, set := range []string{"prod", "test"} {
		h.inventory.SetClusterSet(setOf(set, clusterv1beta2.ExclusiveClusterSetLabel, nil))
	}
	h.inventory.SetClusterSet(setOf("gpus", clusterv1beta2.LabelSelector, &metav1.LabelSelector{MatchLabels: map[string]string{"gpu": "yes"}}))

	for n := range hubClusters {
		h.join(fmt.Sprintf("c%03d", n))
	}
	for n := range hubNamespaces {
		namespace := fmt.Sprintf("ns%d", n)
		for _, set := range [][]string{{"prod"}, {"test"}, {"prod", "test"}, {"gpus"}, {"prod", "gpus"}}[n%5] {
			h.inventory.SetBinding(bindingOf(namespace, set))
		}
		for name, spec := range h.specs() {
			placement := placementOf(spec)
			placement.Namespace, placement.Name = namespace, name
			h.place(ConvertV1beta1(selector.NewCompiler(), placement))
		}

		older := olderPlacementOf(olderSpec{
			Predicates: oneOf{labelled(compare("region", metav1.LabelSelectorOpIn, h.region()))}, NumberOfClusters: ptr.To[int32](3),
			AntiAffinity: placementv1alpha1.AntiAffinity{TopologyKey: "zone", TopologyKeyType: "Label"},
		})
		older.Namespace = namespace
		h.place(ConvertV1alpha1(selector.NewCompiler(), older))
	}

	for key := range h.requests {
		h.answers[key] = h.schedule(key)
	}
	return h
}

// specs returns the mix of Placements of a namespace.
func (h *hub) specs() map[string]placementSpec {
	regional := anyOf{byLabel("region", h.region())}
	score := additive(addOn("demo", "load", 1))
	return map[string]placementSpec{
		"all":       {},
		"region":    {Predicates: regional},
		"team":      {Predicates: anyOf{byLabel("team", h.team())}},
		"teams":     {Predicates: anyOf{byLabel("team", h.team()), byLabel("team", h.team(), "region", h.region())}},
		"claim":     {Predicates: anyOf{byClaim(compare("platform", metav1.LabelSelectorOpIn, "aws"))}},
		"not-claim": {Predicates: anyOf{byClaim(compare("platform", metav1.LabelSelectorOpNotIn, "aws", "gcp"))}},
		"version":   {Predicates: anyOf{byCEL(`managedCluster.status.version.kubernetes.startsWith("v1.33")`)}},
		"env":       {Predicates: anyOf{byCEL(`managedCluster.metadata.labels["env"] == "live"`)}},
		"few":       {NumberOfClusters: ptr.To[int32](5)},
		"best":      {Predicates: regional, NumberOfClusters: ptr.To[int32](5)},
		"resources": {NumberOfClusters: ptr.To[int32](5), PrioritizerPolicy: exact(builtIn(ResourceAllocatableMemory, 1))},
		"most":      {PrioritizerPolicy: additive(builtIn(ResourceAllocatableCPU, 1))},
		"scores":    {Predicates: regional, NumberOfClusters: ptr.To[int32](5), PrioritizerPolicy: score},
		"sorted":    {Predicates: regional, SortBy: clusterv1beta1.PlacementSortByScore, PrioritizerPolicy: score},
		"tolerant":  {Predicates: regional, Tolerations: tolerating{exist("", "")}},
		"spread": {Predicates: regional, NumberOfClusters: ptr.To[int32](6), SpreadPolicy: clusterv1beta1.SpreadPolicy{
			SpreadConstraints: []clusterv1beta1.SpreadConstraintsTerm{
				over(clusterv1beta1.TopologyKeyTypeLabel, "zone", 1, clusterv1beta1.DoNotSchedule),
			},
		}},
		"groups": {DecisionStrategy: groupsOf(groupBy("canary", "env", "canary"), groupBy("region", "region", h.region()))},
	}
}

func (h *hub) place(request *Request) {
	if len(request.Errors) > 0 {
		h.t.Fatal(request.Errors.ToAggregate())
	}
	h.requests[request.Key] = request
	h.inventory.Subscribe(request.Key, request.Dependencies())
}

func (h *hub) schedule(key inventory.Key) string {
	result := Schedule(h.requests[key], h.inventory.SnapshotFor(key), nil, now)
	h.inventory.UpdateDependencies(key, result.Dependencies())
	return written(result, nil)
}

func (h *hub) one(of ...string) string { return of[h.random.IntN(len(of))] }
func (h *hub) numbered(n int) string   { return strconv.Itoa(h.random.IntN(n)) }
func (h *hub) region() string          { return "r" + h.numbered(8) }
func (h *hub) team() string            { return "t" + h.numbered(40) }
func (h *hub) join(name string) inventory.Affected {
	cluster := named(name, clusterv1beta2.ClusterSetLabel, h.one("prod", "test"), "region", h.region(), "team", h.team(), "zone", "z"+h.numbered(3),
		"env", h.one("live", "canary"), "gpu", h.one("yes", "no"))
	cluster.Status.ClusterClaims = []clusterv1.ManagedClusterClaim{{Name: "platform", Value: h.one("aws", "gcp", "azure")}}
	cluster.Status.Version.Kubernetes = "v1.33.1"
	cluster.Status.Conditions = []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue}, {Type: clusterv1.ManagedClusterConditionClockSynced},
	}
	cluster.Status.Capacity = clusterv1.ResourceList{"cpu": resource.MustParse("64"), "memory": resource.MustParse("256Gi")}
	cluster.Status.Allocatable = clusterv1.ResourceList{
		"cpu": resource.MustParse(h.numbered(64)), "memory": resource.MustParse(h.numbered(256) + "Gi"),
	}
	h.clusters[name] = cluster

	return h.inventory.SetCluster(cluster.DeepCopy())
}

func (h *hub) any() string { return h.one(slices.Sorted(maps.Keys(h.clusters))...) }

// change modifies an existing cluster.
func (h *hub) change(how func(*clusterv1.ManagedCluster)) inventory.Affected {
	cluster := h.clusters[h.any()]
	how(cluster)
	cluster.ResourceVersion = strconv.FormatUint(h.random.Uint64(), 10)
	return h.inventory.SetCluster(cluster.DeepCopy())
}

func (h *hub) label(key, value string) inventory.Affected {
	return h.change(func(c *clusterv1.ManagedCluster) { c.Labels[key] = value })
}

// hubEvents are events on a hub, with their names in testdata/enqueues.txt.
func (h *hub) events() map[string]func() inventory.Affected {
	return map[string]func() inventory.Affected{
		"heartbeat": func() inventory.Affected {
			return h.change(func(c *clusterv1.ManagedCluster) {
				c.Status.Conditions[1].LastTransitionTime = metav1.NewTime(now.Add(-1))
				c.Status.Conditions[1].Message = h.numbered(1000)
			})
		},
		"label nobody reads": func() inventory.Affected { return h.label("note", h.numbered(1000)) },
		"label region":       func() inventory.Affected { return h.label("region", h.region()) },
		"label team":         func() inventory.Affected { return h.label("team", h.team()) },
		"label zone":         func() inventory.Affected { return h.label("zone", "z"+h.numbered(3)) },
		"label env":          func() inventory.Affected { return h.label("env", h.one("live", "canary")) },
		"label gpu":          func() inventory.Affected { return h.label("gpu", h.one("yes", "no")) },
		"other set":          func() inventory.Affected { return h.label(clusterv1beta2.ClusterSetLabel, h.one("prod", "test")) },
		"claim": func() inventory.Affected {
			return h.change(func(c *clusterv1.ManagedCluster) {
				c.Status.ClusterClaims[0].Value = h.one("aws", "gcp", "azure", "ibm")
			})
		},
		"version": func() inventory.Affected {
			return h.change(func(c *clusterv1.ManagedCluster) {
				c.Status.Version.Kubernetes = h.one("v1.31.4", "v1.32.3", "v1.33.1", "v1.33.2")
			})
		},
		"resources": func() inventory.Affected {
			return h.change(func(c *clusterv1.ManagedCluster) {
				c.Status.Allocatable["cpu"] = resource.MustParse(h.numbered(64))
				c.Status.Allocatable["memory"] = resource.MustParse(h.numbered(256) + "Gi")
			})
		},
		"taint": func() inventory.Affected {
			return h.change(func(c *clusterv1.ManagedCluster) {
				if len(c.Spec.Taints) > 0 {
					c.Spec.Taints = nil
				} else {
					c.Spec.Taints = []clusterv1.Taint{taint("out", "", noSelect)}
				}
			})
		},
		"availability": func() inventory.Affected {
			return h.change(func(c *clusterv1.ManagedCluster) {
				c.Status.Conditions[0].Status = metav1.ConditionStatus(h.one("True", "False", "Unknown"))
			})
		},
		"scores": func() inventory.Affected {
			return h.inventory.SetScores(scoreOf(h.any(), "demo", nil, clusterv1alpha1.AddOnPlacementScoreItem{
				Name: "load", Value: h.random.Int32N(201) - 100,
			}))
		},
		"scores nobody reads": func() inventory.Affected {
			return h.inventory.SetScores(scoreOf(h.any(), "other", nil, clusterv1alpha1.AddOnPlacementScoreItem{
				Name: "load", Value: h.random.Int32N(201) - 100,
			}))
		},
		"join": func() inventory.Affected { return h.join(fmt.Sprintf("n%03d", h.random.IntN(1000))) },
		"leave": func() inventory.Affected {
			name := h.any()
			delete(h.clusters, name)
			return h.inventory.DeleteCluster(name)
		},
		"binding": func() inventory.Affected {
			namespace, set := "ns"+h.numbered(hubNamespaces), h.one("prod", "test", "gpus")
			if h.random.IntN(2) == 0 {
				return h.inventory.DeleteBinding(namespace, set)
			}
			return h.inventory.SetBinding(bindingOf(namespace, set))
		},
	}
}

// wakes counts the Placements that events of one kind enqueued, and those of them whose result changed.
type wakes struct{ events, wakes, changed int }

func (w wakes) falseShare() int { return 100 * (w.wakes - w.changed) / max(w.wakes, 1) }

// docs/architecture.md law 4 in numbers: few Placements are enqueued whose result does not change. testdata/enqueues.txt has the limits.
func TestFalseWakeUpsAreBounded(t *testing.T) {
	h := newHub(t, rand.New(rand.NewPCG(1, 2)))
	events := h.events()
	kinds := slices.Sorted(maps.Keys(events))
	counted := map[string]*wakes{}
	for range 60 * len(kinds) {
		kind := h.one(kinds...)
		affected := events[kind]()

		count := counted[kind]
		if count == nil {
			count = &wakes{}
			counted[kind] = count
		}
		count.events++
		count.wakes += len(affected.Subscribers)

		for _, key := range affected.Subscribers {
			if is := h.schedule(key); is != h.answers[key] {
				count.changed++
				h.answers[key] = is
			}
		}
	}

	checkWakes(t, counted, readBounds(t))
}

func checkWakes(t *testing.T, counted map[string]*wakes, bounds map[string]int) {
	t.Helper()
	var table strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(counted)) {
		count := *counted[kind]
		bound, known := bounds[kind]
		fmt.Fprintf(&table, "%-20s %4d events %6d wakes %6d changed %4d %% false, bound %d %%\n",
			kind, count.events, count.wakes, count.changed, count.falseShare(), bound)

		switch {
		case !known:
			t.Errorf("testdata/enqueues.txt has no bound for %q", kind)
		case count.falseShare() > bound:
			t.Errorf("of the placements woken by %q %d %% are woken for nothing, and %d %% may be", kind, count.falseShare(), bound)
		case bound == 0 && count.changed == 0 && count.wakes > 0:
			t.Errorf("%q must wake nobody", kind)
		}
	}

	t.Log("\n" + table.String())
}

// readBounds parses lines such as "label region: 10 %".
func readBounds(t *testing.T) map[string]int {
	t.Helper()
	file, err := os.Open("testdata/enqueues.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			t.Error(err)
		}
	}()

	bounds := map[string]int{}

	lines := bufio.NewScanner(file)
	for lines.Scan() {
		kind, bound, found := strings.Cut(lines.Text(), ":")
		if !found || strings.HasPrefix(kind, "#") {
			continue
		}
		percent, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(bound, "%")))
		if err != nil {
			t.Fatalf("testdata/enqueues.txt: %v", err)
		}
		bounds[kind] = percent
	}

	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return bounds
}
