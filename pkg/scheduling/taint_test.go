// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"math"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
)

const (
	noSelect      = clusterv1.TaintEffectNoSelect
	noSelectIfNew = clusterv1.TaintEffectNoSelectIfNew
	prefer        = clusterv1.TaintEffectPreferNoSelect
)

func taint(key, value string, effect clusterv1.TaintEffect) clusterv1.Taint {
	return clusterv1.Taint{Key: key, Value: value, Effect: effect}
}

func equal(key, value string, effect clusterv1.TaintEffect) clusterv1beta1.Toleration {
	return clusterv1beta1.Toleration{Key: key, Operator: clusterv1beta1.TolerationOpEqual, Value: value, Effect: effect}
}

func exist(key string, effect clusterv1.TaintEffect) clusterv1beta1.Toleration {
	return clusterv1beta1.Toleration{Key: key, Operator: clusterv1beta1.TolerationOpExists, Effect: effect}
}

// docs/spec/upstream-placement.md 1.6: the rules for one taint and one toleration, for every effect and for new and selected clusters.
func TestTaintAndToleration(t *testing.T) {
	gpu := func(effect clusterv1.TaintEffect) clusterv1.Taint { return taint("gpu", "a100", effect) }
	for _, tc := range []struct {
		reason      string
		taint       clusterv1.Taint
		incumbent   bool
		tolerations tolerating
		want        bool
	}{
		{"NoSelect keeps out", gpu(noSelect), false, nil, false},
		{"NoSelect keeps the selected out too", gpu(noSelect), true, nil, false},
		{"rule 2: NoSelectIfNew keeps a new cluster out", gpu(noSelectIfNew), false, nil, false},
		{"rule 2: NoSelectIfNew leaves the selected alone", gpu(noSelectIfNew), true, nil, true},
		{"D1: PreferNoSelect keeps nobody out", gpu(prefer), false, nil, true},
		{"rule 1: PreferNoSelect, selected", gpu(prefer), true, nil, true},
		{"rule 1: PreferNoSelect beside a toleration of something else", gpu(prefer), false, tolerating{equal("other", "", "")}, true},

		{"Equal: key and value", gpu(noSelect), false, tolerating{equal("gpu", "a100", "")}, true},
		{"Equal: another value", gpu(noSelect), false, tolerating{equal("gpu", "h100", "")}, false},
		{"Equal: another key", gpu(noSelect), false, tolerating{equal("tpu", "a100", "")}, false},
		{"Equal: the empty value is a value", gpu(noSelect), false, tolerating{equal("gpu", "", "")}, false},
		{"Equal: the empty value of a taint", taint("gpu", "", noSelect), false, tolerating{equal("gpu", "", "")}, true},
		{"Equal: a value for a taint without one", taint("gpu", "", noSelect), false, tolerating{equal("gpu", "a100", "")}, false},
		{"no operator is Equal", gpu(noSelect), false, tolerating{{Key: "gpu", Value: "a100"}}, true},
		{"no operator, another value", gpu(noSelect), false, tolerating{{Key: "gpu", Value: "h100"}}, false},
		{"Equal for NoSelectIfNew", gpu(noSelectIfNew), false, tolerating{equal("gpu", "a100", "")}, true},
		{"Equal for NoSelectIfNew, another value", gpu(noSelectIfNew), false, tolerating{equal("gpu", "h100", "")}, false},
		{"Equal for NoSelectIfNew, another value, selected", gpu(noSelectIfNew), true, tolerating{equal("gpu", "h100", "")}, true},

		{"Exists: key", gpu(noSelect), false, tolerating{exist("gpu", "")}, true},
		{"Exists: another key", gpu(noSelect), false, tolerating{exist("tpu", "")}, false},
		{"Exists: no key is every key", gpu(noSelect), false, tolerating{exist("", "")}, true},
		{"Exists: no key, NoSelectIfNew", gpu(noSelectIfNew), false, tolerating{exist("", "")}, true},
		{"Exists: a taint without a value", taint("gpu", "", noSelect), false, tolerating{exist("gpu", "")}, true},

		{"effect matches", gpu(noSelect), false, tolerating{equal("gpu", "a100", noSelect)}, true},
		{"effect does not match", gpu(noSelect), false, tolerating{equal("gpu", "a100", noSelectIfNew)}, false},
		{"effect PreferNoSelect is not NoSelect", gpu(noSelect), false, tolerating{exist("gpu", prefer)}, false},
		{"effect matches NoSelectIfNew", gpu(noSelectIfNew), false, tolerating{exist("gpu", noSelectIfNew)}, true},
		{"effect does not match NoSelectIfNew", gpu(noSelectIfNew), false, tolerating{exist("", noSelect)}, false},
		{"effect does not match, but the cluster is selected", gpu(noSelectIfNew), true, tolerating{exist("", noSelect)}, true},

		{"rule 3: an unknown operator never matches", gpu(noSelect), false, tolerating{
			{Key: "gpu", Operator: "Like", Value: "a100"},
		}, false},
		{"rule 3: and is not in the way of one that does", gpu(noSelect), false, tolerating{
			{Key: "gpu", Operator: "Like", Value: "a100"}, exist("gpu", ""),
		}, true},
		{"an unknown effect of a taint is one to be tolerated", gpu("Unheard"), false, nil, false},
		{"tolerations are ORed", gpu(noSelect), false, tolerating{equal("tpu", "", ""), equal("gpu", "h100", ""), equal("gpu", "a100", "")},
			true},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cluster := named("c1")
			cluster.Spec.Taints = []clusterv1.Taint{tc.taint}

			w := newRandomHub(cluster)
			if tc.incumbent {
				w.incumbents["c1"] = true
			}
			result := w.schedule(t, placementSpec{Tolerations: tc.tolerations})

			want := "Taint"
			if tc.want {
				want = "Selected"
			}
			expect(t, "stages", map[string]string{"c1": want}, stages(result))
			expect(t, "wake-up", time.Time{}, result.RequeueAt)
		})
	}
}

// docs/spec/upstream-placement.md 1.6: a cluster is feasible if and only if every taint is tolerated; the verdict has the first taint that
// is not.
func TestSeveralTaints(t *testing.T) {
	taints := []clusterv1.Taint{taint("a", "1", noSelect), taint("b", "", prefer), taint("c", "", noSelectIfNew), taint("a", "2", noSelect)}
	for _, tc := range []struct {
		reason      string
		tolerations tolerating
		incumbent   bool
		want        string
	}{
		{"none tolerated", nil, false, "taint a=1:NoSelect not tolerated"},
		{"the second value of a key is a taint of its own", tolerating{equal("a", "1", ""), exist("c", "")}, false,
			"taint a=2:NoSelect not tolerated"},
		{"one of three", tolerating{exist("a", "")}, false, "taint c:NoSelectIfNew not tolerated"},
		{"one of three is enough for the selected", tolerating{exist("a", "")}, true,
			"score 100, rank 1 of 1, PreferNoSelect taints not tolerated: 1"},
		{"each by its own", tolerating{exist("c", ""), equal("a", "2", ""), equal("a", "1", "")}, false,
			"score 0, rank 1 of 1, PreferNoSelect taints not tolerated: 1"},
		{"all by one", tolerating{exist("", "")}, false, "score 0, rank 1 of 1"},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cluster := named("c1")
			cluster.Spec.Taints = taints
			w := newRandomHub(cluster)
			if tc.incumbent {
				w.incumbents["c1"] = true
			}
			result := w.schedule(t, placementSpec{
				Tolerations: tc.tolerations, PrioritizerPolicy: exact(builtIn(Steady, 1)),
			})
			expect(t, "reason", tc.want, result.Reason(result.Verdicts()[0]))
		})
	}
}

// docs/spec/upstream-placement.md 1.6: tolerated while now < timeAdded + seconds; the Placement is requeued at the end.
func TestTolerationSeconds(t *testing.T) {
	added := func(ago time.Duration, effect clusterv1.TaintEffect) clusterv1.Taint {
		return clusterv1.Taint{Key: "gpu", Effect: effect, TimeAdded: metav1.NewTime(now.Add(-ago))}
	}
	seconds := func(n int64) clusterv1beta1.Toleration {
		return clusterv1beta1.Toleration{Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: &n}
	}
	other := seconds(5)
	other.Key = "other"
	for _, tc := range []struct {
		reason      string
		taints      []clusterv1.Taint
		tolerations tolerating
		want        bool
		wakeAt      time.Time
	}{
		{"not yet over", []clusterv1.Taint{added(9*time.Second, noSelect)}, tolerating{seconds(10)}, true, now.Add(time.Second)},
		{"over at the very moment", []clusterv1.Taint{added(10*time.Second, noSelect)}, tolerating{seconds(10)}, false, time.Time{}},
		{"a nanosecond before", []clusterv1.Taint{added(10*time.Second-1, noSelect)}, tolerating{seconds(10)}, true, now.Add(1)},
		{"long over", []clusterv1.Taint{added(time.Hour, noSelect)}, tolerating{seconds(10)}, false, time.Time{}},
		{"0 is over", []clusterv1.Taint{added(0, noSelect)}, tolerating{seconds(0)}, false, time.Time{}},
		{"negative is over, whenever the taint was added", []clusterv1.Taint{added(-time.Hour, noSelect)},
			tolerating{seconds(-1)}, false, time.Time{}},
		{"the most negative too", []clusterv1.Taint{added(0, noSelect)}, tolerating{seconds(math.MinInt64)}, false, time.Time{}},
		{"a taint without a time is over", []clusterv1.Taint{{Key: "gpu", Effect: noSelect}}, tolerating{seconds(10)}, false, time.Time{}},
		{"even for ever", []clusterv1.Taint{{Key: "gpu", Effect: noSelect}}, tolerating{seconds(math.MaxInt64)}, false, time.Time{}},
		{"292 years do not overflow", []clusterv1.Taint{added(0, noSelect)}, tolerating{seconds(maxTolerationSeconds)}, true,
			now.Add(time.Duration(maxTolerationSeconds) * time.Second)},
		{"more than that never ends", []clusterv1.Taint{added(0, noSelect)}, tolerating{seconds(math.MaxInt64)}, true, time.Time{}},
		{"they count for NoSelectIfNew as well", []clusterv1.Taint{added(time.Minute, noSelectIfNew)}, tolerating{seconds(10)},
			false, time.Time{}},
		{"the first one that is not over decides", []clusterv1.Taint{added(10*time.Second, noSelect)},
			tolerating{seconds(5), seconds(12), seconds(60)}, true, now.Add(2 * time.Second)},
		{"without seconds it never ends", []clusterv1.Taint{added(time.Hour, noSelect)},
			tolerating{seconds(5), exist("gpu", "")}, true, time.Time{}},
		{"the earliest end of several taints", []clusterv1.Taint{added(0, noSelect), added(time.Minute, noSelect), added(time.Second, noSelect)},
			tolerating{seconds(90)}, true, now.Add(30 * time.Second)},
		{"a taint that is not tolerated leaves nothing to wait for behind it",
			[]clusterv1.Taint{{Key: "other", Effect: noSelect}, added(0, noSelect)}, tolerating{
				{Key: "gpu", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(int64(10))},
			}, false, time.Time{}},
		{"E2: before it, the end of a toleration changes which taint is told of",
			[]clusterv1.Taint{added(0, noSelect), {Key: "other", Effect: noSelect}}, tolerating{
				{Key: "gpu", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(int64(10))},
			}, false, now.Add(10 * time.Second)},
		{"seconds of a toleration for something else do not count", []clusterv1.Taint{added(0, noSelect)}, tolerating{other}, false,
			time.Time{}},
		{"D1: the end of a toleration of PreferNoSelect changes the order", []clusterv1.Taint{added(0, prefer)},
			tolerating{seconds(10)}, true, now.Add(10 * time.Second)},
		{"D1: untolerated PreferNoSelect has no end", []clusterv1.Taint{added(0, prefer)}, nil, true, time.Time{}},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cluster := named("c1")
			cluster.Spec.Taints = tc.taints
			result := newRandomHub(cluster).schedule(t, placementSpec{Tolerations: tc.tolerations})
			expect(t, "selected", tc.want, len(result.Selected) == 1)
			expect(t, "wake-up", tc.wakeAt, result.RequeueAt)
		})
	}
}

// docs/spec/upstream-placement.md 1.6: the minimum over the clusters.
func TestWakeUpAtTheEarliestEnd(t *testing.T) {
	w := newRandomHub()
	for name, ago := range map[string]time.Duration{"c1": 3 * time.Second, "c2": 8 * time.Second, "c3": time.Hour, "c4": time.Second} {
		cluster := named(name)
		cluster.Spec.Taints = []clusterv1.Taint{{Key: "gpu", Effect: noSelect, TimeAdded: metav1.NewTime(now.Add(-ago))}}
		w.inventory.SetCluster(cluster)
	}

	result := w.schedule(t, placementSpec{Tolerations: tolerating{
		{Key: "gpu", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: ptr.To(int64(10))},
	}})
	expect(t, "selected", []string{"c1", "c2", "c4"}, selected(result))
	expect(t, "wake-up", now.Add(2*time.Second), result.RequeueAt)
}

// A toleration that has ended is in the reason of the cluster, and not in the clause by which clusters are counted.
func TestAnEndedTolerationIsInTheReason(t *testing.T) {
	seconds := func(n int64) clusterv1beta1.Toleration {
		return clusterv1beta1.Toleration{Key: "k", Operator: clusterv1beta1.TolerationOpExists, TolerationSeconds: &n}
	}
	for _, tc := range []struct {
		reason      string
		added       time.Time
		tolerations tolerating
		want        string
	}{
		{"none", now.Add(-time.Minute), nil, ""},
		{"another key", now.Add(-time.Minute), tolerating{exist("other", "")}, ""},
		{"ended", now.Add(-time.Minute), tolerating{seconds(15)}, "; it was tolerated for 15 s, until 03:03:20Z"},
		{"ended on another day", now.Add(-48 * time.Hour), tolerating{seconds(15)}, "; it was tolerated for 15 s, until 2025-12-31T03:04:20Z"},
		{"no timeAdded", time.Time{}, tolerating{seconds(15)}, "; it would be tolerated for 15 s, but it has no timeAdded"},
		{"never tolerated", now.Add(-time.Minute), tolerating{seconds(0)}, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			cluster := named("c1")
			cluster.Spec.Taints = []clusterv1.Taint{{Key: "k", Effect: noSelect, TimeAdded: metav1.NewTime(tc.added)}}
			result := newRandomHub(cluster).schedule(t, placementSpec{Tolerations: tc.tolerations})
			verdict, _ := result.Verdict("c1")
			reason, cause := result.Texts()(verdict)
			expect(t, "reason", "taint k:NoSelect not tolerated"+tc.want, reason)
			expect(t, "cause", "taint k:NoSelect not tolerated", cause)
		})
	}
}
