// SPDX-License-Identifier: Apache-2.0

package clusterrequest

import (
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
)

type alternative = openmcpv1alpha1.TraitAlternative

func TestNewClusterIsOfTheBestProfile(t *testing.T) {
	required := func(name string) openmcpv1alpha1.TraitRequirement {
		return openmcpv1alpha1.TraitRequirement{Trait: name}
	}
	negated := func(name string) openmcpv1alpha1.TraitRequirement {
		return openmcpv1alpha1.TraitRequirement{Name: name, Negated: true}
	}
	group := func(optional bool, members ...alternative) openmcpv1alpha1.TraitRequirement {
		return openmcpv1alpha1.TraitRequirement{AnyOf: members, Optional: optional}
	}
	const (
		anyProfile = "gardener/aws 1.20.3"
		noWorkers  = "gardener/aws-workerless 1.20.3"
	)
	denied := func(parts ...string) []string { return append([]string{"Denied NoMatchingProfile"}, parts...) }
	for _, test := range []struct {
		reason   string
		change   func(w *world)
		purposes string
		request  func(*openmcpv1alpha1.ClusterRequest)
		want     string   // provider/profile and version of the new Cluster
		refused  []string // status, reason and parts of the message
	}{
		{reason: "cluster-request C8: a partial version", request: withVersion("1.20"), want: "gardener/aws 1.20.3"},
		{reason: "cluster-request C8: a whole version", request: withVersion("1.20.1"), want: "gardener/aws 1.20.1"},
		{reason: "cluster-request C8: no version", want: "gardener/aws 1.20.3"},
		{reason: "cluster-request C8: a whole version that is deprecated", request: withVersion("1.19.2"), want: "gardener/aws 1.19.2"},
		{reason: "cluster-request C8: segments are whole", request: withVersion("1.2"),
			refused: denied("gardener/aws: version 1.2 is not among 1.19.1, 1.19.2, 1.20.0, 1.20.1, 1.20.3")},
		{reason: "cluster-request C8: a version that there is not", request: withVersion("1.21"), refused: denied("version 1.21 is not among")},
		{reason: "cluster-request C49: a partial version of which all are deprecated", request: withVersion("1.19"),
			refused: denied("its versions 1.19 are deprecated")},
		{reason: "cluster-request C9: a required trait", request: withTraits(required(workerless)), want: noWorkers},
		{reason: "cluster-request C10: a negated trait", request: withTraits(negated(workerless)), want: anyProfile},
		{reason: "cluster-request C11: the request negates an optional trait of the purpose, and so requires it", purposes: "mcp",
			request: withTraits(negated(workerless)), want: anyProfile},
		{reason: "cluster-request C11: and no other profile will do", purposes: "mcp", request: withTraits(negated(workerless)),
			change:  func(w *world) { w.SetClusterProvider(provider("gardener", profile("aws-workerless", aws, workerless))) },
			refused: denied("gardener/aws-workerless: trait not " + workerless + " is required")},
		{reason: "cluster-request C12: the first purpose decides on negated", purposes: "p1 p2", want: anyProfile},
		{reason: "cluster-request C12: the first purpose decides on negated, the other way round", purposes: "p2 p1", want: noWorkers},
		{reason: "cluster-request C13: a trait that no profile has", request: withTraits(required("foo/nowhere")), refused: denied(
			"gardener/aws: trait foo/nowhere is required; gardener/aws-workerless: trait foo/nowhere is required")},
		{reason: "cluster-request C13: and that a provider has now", request: withTraits(required("foo/nowhere")),
			change: func(w *world) { w.SetClusterProvider(provider("other", profile("p", "foo/nowhere"))) }, want: "other/p 1.20.3"},
		{reason: "cluster-request C14: an optional trait that no profile has", want: anyProfile,
			request: withTraits(openmcpv1alpha1.TraitRequirement{Trait: "foo/nowhere", Optional: true})},
		{reason: "cluster-request C15: any of several traits", want: noWorkers,
			request: withTraits(group(false, alternative{Trait: workerless}, alternative{Name: "foo/nodeless"}))},
		{reason: "cluster-request C15: an equivalent trait", request: withTraits(required("foo/nodeless")), want: noWorkers,
			change: func(w *world) { w.equivalence("same", workerless, "foo/nodeless") }},
		{reason: "cluster-request C16: unknown purposes", purposes: "platform nosuch more",
			refused: []string{"Denied PurposeNotFound", `Purpose "nosuch", "more" not found: create a ClusterRequest for a Purpose that exists`}},
		{reason: "cluster-request C16: the purpose is created", purposes: "nosuch", want: anyProfile,
			change: func(w *world) { w.purpose("nosuch", openmcpv1alpha1.PurposeSpec{}) }},
		{reason: "cluster-request C47: no member is satisfied", refused: denied("any of the traits foo/x, not " + aws + " is required"),
			request: withTraits(group(false, alternative{Trait: "foo/x"}, alternative{Trait: aws, Negated: true}))},
		{reason: "cluster-request C47: no member is satisfied, and none has to be", want: anyProfile,
			request: withTraits(group(true, alternative{Trait: "foo/x"}))},
		{reason: "cluster-request C47: a negated member", want: noWorkers,
			request: withTraits(group(false, alternative{Trait: compute, Negated: true}, alternative{Trait: "foo/x"}))},
		{reason: "cluster-request C48: sets that share a name", request: withTraits(required("a")), change: abc, want: "other/c 1.20.3"},
		{reason: "cluster-request C48: sets that share a name, negated", request: withTraits(negated("a")), change: abc, want: anyProfile},
		{reason: "cluster-request C51: a provider that is not ready", change: notReady,
			refused: []string{"Pending ProviderNotReady", "profile gardener/aws fits, and ClusterProvider gardener is not ready: no quota"}},
		{reason: "cluster-request 4.1.3: no provider", change: func(w *world) { w.DeleteClusterProvider("gardener") },
			refused: denied("no ClusterProvider publishes a profile: install one, or see why those that exist publish none")},
		{reason: "cluster-request 4.1.3: a version that is not deprecated comes before the name", request: withVersion("1.20.3"),
			change: func(w *world) {
				old := profile("a")
				old.SupportedVersions = []openmcpv1alpha1.SupportedVersion{{Version: "1.20.3", Deprecated: true}}
				w.SetClusterProvider(provider("aaa", old))
			}, want: anyProfile},
		{reason: "cluster-request 4.1.3: the name of the provider decides", want: "aaa/z 1.20.3",
			change: func(w *world) { w.SetClusterProvider(provider("aaa", profile("z"))) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, Options{})
			w.purpose("p1", openmcpv1alpha1.PurposeSpec{Traits: []openmcpv1alpha1.TraitRequirement{negated(workerless)}})
			w.purpose("p2", openmcpv1alpha1.PurposeSpec{Traits: []openmcpv1alpha1.TraitRequirement{required(workerless)}})
			if test.change != nil {
				test.change(w)
			}
			if test.purposes == "" {
				test.purposes = "platform"
			}
			expectNew(t, w.Explain(w.request(test.purposes, test.request)), test.want, test.refused)
		})
	}
}

func abc(w *world) {
	w.equivalence("one", "b", "a")
	w.equivalence("two", "c", "b")
	w.SetClusterProvider(provider("other", profile("c", "c")))
}

func notReady(w *world) {
	p := gardener()
	p.Status.Ready, p.Status.Message = false, "no quota"
	w.SetClusterProvider(p)
}

// expectNew expects a new Cluster of a profile, or a refusal.
func expectNew(t *testing.T, e *Evaluation, want string, refused []string) {
	t.Helper()
	if refused == nil {
		if e.New == nil {
			t.Fatalf("%+v", e.Result)
		}
		ref := e.New.Spec.ClusterProviderRef
		expectEqual(t, want, ref.Name+"/"+string(ref.Profile)+" "+e.New.Spec.Kubernetes.Version, "profile and version")
		return
	}
	if e.New != nil || e.Cluster != nil {
		t.Fatal("granted")
	}
	expectEqual(t, refused[0], string(e.Result.Status)+" "+e.Result.Reason, "status and reason")
	for _, part := range refused[1:] {
		if !strings.Contains(e.Result.Message, part) {
			t.Errorf("message %q, want %q in it", e.Result.Message, part)
		}
	}
}

func TestExistingClusters(t *testing.T) {
	const created = "new"
	for _, test := range []struct {
		reason  string
		options Options
		change  func(w *world)
		request func(*openmcpv1alpha1.ClusterRequest)
		want    string // name of the Cluster
		lack    string // of the Cluster c; empty if it fits
	}{
		{reason: "cluster-request C26: it is being deleted", want: created, lack: "it is being deleted", change: func(w *world) {
			w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.DeletionTimestamp = &now })
		}},
		{reason: "cluster-request C27: the fewest requests", want: "c", change: load},
		{reason: "cluster-request C27: the first name", options: Options{Strategy: Simple}, want: "b", change: load},
		{reason: "cluster-request C28: another namespace", options: Options{Scope: ScopeNamespaced}, want: created,
			lack: "it is not in namespace team-a", change: func(w *world) {
				w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.Namespace = "other" })
			}},
		{reason: "cluster-request 4.1.3: another namespace, where all are looked at", want: "c", change: func(w *world) {
			w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.Namespace = "other" })
		}},
		{reason: "cluster-request 4.1.3: the namespace of the template", options: Options{Scope: ScopeNamespaced}, want: "c", change: func(w *world) {
			w.purpose("workload", openmcpv1alpha1.PurposeSpec{ClusterTemplate: &openmcpv1alpha1.ClusterTemplate{Namespace: "other"}})
			w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.Namespace = "other" })
		}},
		{reason: "cluster-request C49: the version matches", want: "c", request: withVersion("1.20"),
			change: func(w *world) { w.cluster("c", "workload", nil) }},
		{reason: "cluster-request C49: another version", want: created, request: withVersion("1.20.3"),
			lack: "its version is 1.20.1, and 1.20.3 is required", change: func(w *world) { w.cluster("c", "workload", nil) }},
		{reason: "cluster-request 4.1.3: a Cluster without a version", want: created, request: withVersion("1.20"),
			lack: "its version is unknown, and 1.20 is required", change: unversioned},
		{reason: "cluster-request 4.1.3: a Cluster without a version, and a request without one", want: "c", change: unversioned},
		{reason: "cluster-request 4.1.3: a version that is deprecated", want: "c", request: withVersion("1.19"), change: func(w *world) {
			w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.Spec.Kubernetes.Version = "1.19.1" })
		}},
		{reason: "cluster-request C51: its provider is not ready", want: "c", change: func(w *world) {
			notReady(w)
			w.cluster("c", "workload", nil)
		}},
		{reason: "cluster-request 4.1.3: it is exclusive", want: created, lack: "its tenancy is Exclusive", change: func(w *world) {
			w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.Spec.Tenancy = openmcpv1alpha1.TenancyExclusive })
		}},
		{reason: "cluster-request 4.1.3: it serves another purpose", want: created, lack: "it does not serve purpose workload",
			change: func(w *world) { w.cluster("c", "platform", nil) }},
		{reason: "cluster-request 4.1.3: it serves more purposes", want: "c",
			change: func(w *world) { w.cluster("c", "platform workload", nil) }},
		{reason: "cluster-request 4.1.3: it is full", want: created, lack: "it has 2 of 2 requests",
			change: func(w *world) { w.cluster("c", "workload", withRequests("x", "y")) }},
		{reason: "cluster-request 4.1.3: it lacks a trait", want: created, lack: "trait " + workerless + " is required",
			request: withTraits(openmcpv1alpha1.TraitRequirement{Trait: workerless}), change: func(w *world) { w.cluster("c", "workload", nil) }},
		{reason: "cluster-request 4.1.3: a profile that is not published satisfies no negated trait", want: created,
			lack: "its profile gardener/gone is not published", change: unpublished,
			request: withTraits(openmcpv1alpha1.TraitRequirement{Trait: "foo/x", Negated: true})},
		{reason: "cluster-request 4.1.3: a profile that is not published, and no required trait", want: "c", change: unpublished,
			request: withTraits(openmcpv1alpha1.TraitRequirement{Trait: "foo/x", Negated: true, Optional: true})},
		{reason: "cluster-request 4.1.3: optional traits come before the number of requests", want: "c",
			request: withTraits(openmcpv1alpha1.TraitRequirement{Trait: workerless, Optional: true}), change: func(w *world) {
				w.cluster("b", "workload", nil)
				w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) {
					c.Spec.ClusterProviderRef.Profile = "aws-workerless"
					withRequests("x")(c)
				})
			}},
		{reason: "cluster-request 4.1.3: fewer purposes beyond those asked come before optional traits and the number of requests", want: "d",
			request: withTraits(openmcpv1alpha1.TraitRequirement{Trait: workerless, Optional: true}), change: func(w *world) {
				w.cluster("c", "workload platform", func(c *openmcpv1alpha1.Cluster) {
					c.Spec.ClusterProviderRef.Profile = "aws-workerless"
				})
				w.cluster("d", "workload", withRequests("x"))
			}},
		{reason: "cluster-request 4.1.3: more purposes, where no other Cluster is free", want: "c", change: func(w *world) {
			w.cluster("c", "workload platform", nil)
			w.cluster("d", "workload", withRequests("x", "y"))
		}},
		{reason: "cluster-request 4.1.3: a profile that is not published satisfies no optional negated trait either", want: "d",
			request: withTraits(openmcpv1alpha1.TraitRequirement{Trait: "foo/x", Negated: true, Optional: true}), change: func(w *world) {
				unpublished(w)
				w.cluster("d", "workload", nil)
			}},
		{reason: "cluster-request 4.1.3: the request is dedicated", want: created, lack: "the request needs a Cluster of its own",
			request: withDedicated(true), change: func(w *world) { w.cluster("c", "workload", nil) }},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, test.options)
			test.change(w)
			e := w.Explain(w.request("workload", test.request))
			got := created
			if e.Cluster != nil {
				got = e.Cluster.Name
			}
			expectEqual(t, test.want, got, "Cluster")
			for _, verdict := range e.Clusters {
				if chosen := verdict.Rank == 1; chosen != (verdict.Cluster == e.Cluster) {
					t.Errorf("%s has rank %d", verdict.Cluster.Name, verdict.Rank)
				}
				if verdict.Cluster.Name == "c" && test.lack != "" && (verdict.Lack == nil || verdict.Lack.String() != test.lack) {
					t.Errorf("lack %v, want %q", verdict.Lack, test.lack)
				}
			}
		})
	}
}

// load adds Clusters with 3, 1 and 2 requests.
func load(w *world) {
	w.purpose("workload", openmcpv1alpha1.PurposeSpec{})
	w.cluster("b", "workload", withRequests("1", "2", "3"))
	w.cluster("c", "workload", withRequests("4"))
	w.cluster("d", "workload", withRequests("5", "6"))
}

func unversioned(w *world) {
	w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.Spec.Kubernetes = nil })
}

func unpublished(w *world) {
	w.cluster("c", "workload", func(c *openmcpv1alpha1.Cluster) { c.Spec.ClusterProviderRef.Profile = "gone" })
}

func TestNamesOfNewClusters(t *testing.T) {
	templated := func(template openmcpv1alpha1.ClusterTemplate, limit int32) func(*world) {
		return func(w *world) {
			w.purpose("platform", openmcpv1alpha1.PurposeSpec{TenancyLimit: limit, ClusterTemplate: &template})
		}
	}
	randomized := func(r *openmcpv1alpha1.ClusterRequest) {
		r.Labels = map[string]string{openmcpv1alpha1.RandomizeNameLabel: "true"}
	}
	labels := map[string]openmcpv1alpha1.LabelValue{"a": "b"}
	for _, test := range []struct {
		reason   string
		change   func(w *world)
		purposes string
		request  func(*openmcpv1alpha1.ClusterRequest)
		want     string
		labels   map[string]string // beyond the one that deletes it with its last request
	}{
		{reason: "cluster-request C53: namespace and labels of a template", purposes: "onboarding platform", want: "ns1/onboarding",
			change: templated(openmcpv1alpha1.ClusterTemplate{Namespace: "ns1", Labels: labels}, 0), labels: map[string]string{"a": "b"}},
		{reason: "cluster-request C53: generateName", purposes: "platform", want: "team-a/x-" + hash("team-a/r1", 8),
			change: templated(openmcpv1alpha1.ClusterTemplate{GenerateName: "x-"}, 3)},
		{reason: "cluster-request C53: the name of a singleton", purposes: "platform", want: "team-a/one",
			change: templated(openmcpv1alpha1.ClusterTemplate{Name: "one"}, 0)},
		{reason: "cluster-request 4.1.3: the label of the template wins", purposes: "platform", want: "team-a/platform",
			change: templated(openmcpv1alpha1.ClusterTemplate{
				Labels: map[string]openmcpv1alpha1.LabelValue{openmcpv1alpha1.DeleteWithoutRequestsLabel: "false"},
			}, 0), labels: map[string]string{openmcpv1alpha1.DeleteWithoutRequestsLabel: "false"}},
		{reason: "cluster-request C54: a randomized name", purposes: "platform", request: randomized,
			want: "team-a/platform-" + hash("team-a/r1/u1", 8)},
		{reason: "cluster-request 4.1.3: one purpose has a limit", purposes: "platform workload", want: "team-a/platform-" + hash("team-a/r1", 8)},
	} {
		t.Run(test.reason, func(t *testing.T) {
			w := newWorld(t, Options{})
			if test.change != nil {
				test.change(w)
			}
			cluster := w.Explain(w.request(test.purposes, test.request)).New
			expectEqual(t, test.want, keyOf(cluster).String(), "name")
			want := map[string]string{openmcpv1alpha1.DeleteWithoutRequestsLabel: "true"}
			maps.Copy(want, test.labels)
			expectEqual(t, want, cluster.Labels, "labels")
		})
	}
	t.Run("cluster-request C54: a Cluster of that name", func(t *testing.T) {
		w := newWorld(t, Options{})
		w.cluster("platform", "", nil)
		request := w.request("platform", nil)
		refused := []string{"Pending ClusterConflict", "Cluster team-a/platform exists", "cluster.openmcp.cloud/randomize-cluster-name=true"}
		expectNew(t, w.Explain(request), "", refused)
		w.cluster("platform", "", func(c *openmcpv1alpha1.Cluster) { c.DeletionTimestamp = &now })
		expectNew(t, w.Explain(request), "", []string{"Pending ClusterConflict", "Cluster team-a/platform is being deleted"})
		w.DeleteCluster(types.NamespacedName{Namespace: "team-a", Name: "platform"})
		expectNew(t, w.Explain(request), "gardener/aws 1.20.3", nil)
	})
}

// What is written into new objects must not change those that they are made of.
func TestObjectsAreNotShared(t *testing.T) {
	w := newWorld(t, Options{})
	template := &openmcpv1alpha1.ClusterTemplate{Labels: map[string]openmcpv1alpha1.LabelValue{"a": "b"}}
	w.purpose("platform", openmcpv1alpha1.PurposeSpec{ClusterTemplate: template})
	request := w.request("platform", nil)
	w.Explain(request).New.Spec.Purposes[0] = "changed"
	decision := w.Decide(request, now)
	decision.Cluster.Labels["a"], decision.Cluster.Spec.Purposes[0] = "changed", "changed"
	decision.Grant.Spec.Cluster.Labels["a"], decision.Grant.Status.Request.Spec.Purposes[0] = "changed", "changed"
	again := w.Decide(request, metav1.NewTime(now.Time))
	expectEqual(t, "b", again.Cluster.Labels["a"], "label")
	expectEqual(t, openmcpv1alpha1.PurposeName("platform"), again.Cluster.Spec.Purposes[0], "purpose")
	expectEqual(t, openmcpv1alpha1.PurposeName("platform"), again.Grant.Status.Request.Spec.Purposes[0], "purpose of the Grant")
}
