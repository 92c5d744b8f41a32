// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

var now = metav1.NewTime(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))

const (
	vendor     = "infrastructure/vendor/aws"
	compute    = "kubernetes.io/apis/compute"
	workerless = "cluster.openmcp.cloud/workerless"
)

// newObjects has the provider of docs/spec/cluster-request.md with two of its profiles, and Purposes.
func newObjects() *Objects {
	profile := func(name string, traits ...string) openmcpv1alpha1.Profile {
		p := openmcpv1alpha1.Profile{Name: openmcpv1alpha1.ProfileName(name), SupportedVersions: []openmcpv1alpha1.SupportedVersion{
			{Version: "1.19.2", Deprecated: true}, {Version: "1.20.3"},
		}}
		for _, trait := range traits {
			p.SupportedTraits = append(p.SupportedTraits, openmcpv1alpha1.SupportedTrait{Trait: trait})
		}
		return p
	}
	purpose := func(name string, spec openmcpv1alpha1.PurposeSpec) *openmcpv1alpha1.Purpose {
		return &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: spec}
	}

	return &Objects{
		Options: clusterrequest.Options{SharedNamespace: "team-a"},
		Providers: []*openmcpv1alpha1.ClusterProvider{{
			ObjectMeta: metav1.ObjectMeta{Name: "gardener"},
			Status: openmcpv1alpha1.ClusterProviderStatus{Ready: true, Profiles: []openmcpv1alpha1.Profile{
				profile("aws", vendor, compute), profile("aws-workerless", vendor, workerless),
			}},
		}},
		Purposes: []*openmcpv1alpha1.Purpose{
			purpose("workload", openmcpv1alpha1.PurposeSpec{TenancyLimit: 2}),
			purpose("mcp", openmcpv1alpha1.PurposeSpec{
				Dedicated: true, Traits: []openmcpv1alpha1.TraitRequirement{{Trait: workerless, Optional: true}},
			}),
			purpose("gpu", openmcpv1alpha1.PurposeSpec{Traits: []openmcpv1alpha1.TraitRequirement{{Trait: "gpu"}}}),
		},
	}
}

func (o *Objects) request(name string, purposes ...openmcpv1alpha1.PurposeName) *openmcpv1alpha1.ClusterRequest {
	request := &openmcpv1alpha1.ClusterRequest{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: name, UID: types.UID("uid-" + name)},
		Spec:       openmcpv1alpha1.ClusterRequestSpec{Purposes: purposes},
	}
	o.Requests = append(o.Requests, request)
	return request
}

// carryOut writes what a request is granted, as the controller does.
func (o *Objects) carryOut(t *testing.T, request *openmcpv1alpha1.ClusterRequest) {
	t.Helper()
	decided := o.catalog().Decide(request, now)
	if decided.Grant == nil {
		t.Fatalf("%s gets nothing: %+v", request.Name, decided.Result)
	}
	if decided.Create {
		o.Clusters = append(o.Clusters, decided.Cluster)
	} else {
		o.Clusters = replaced(o.Clusters, decided.Cluster.Name, func(cluster *openmcpv1alpha1.Cluster) { *cluster = *decided.Cluster })
	}

	o.Grants = append(o.Grants, decided.Grant)
	request.Status.Status = decided.Result.Status
}

func TestReportOfARequestThatIsToBeGranted(t *testing.T) {
	objects := newObjects()
	objects.carryOut(t, objects.request("first", "workload"))
	request := objects.request("second", "workload")

	report := NewReport(objects, request, now)

	want := Report{
		Namespace: "team-a", Name: "second", Outcome: "Chosen", Status: "Granted", Reason: "Success",
		Message: report.Message,
		Cluster: &Granted{
			Namespace: "team-a", Name: objects.Clusters[0].Name, Provider: "gardener", Profile: "aws", Version: "1.20.3", Tenancy: "Shared",
			Prefix: report.Cluster.Prefix,
		},
		Requirement: Requirement{Purposes: []string{"workload"}},
		Clusters:    []Cluster{{Namespace: "team-a", Name: objects.Clusters[0].Name, Rank: 1, Requests: 1}},
		Profiles: []Profile{
			{Provider: "gardener", Profile: "aws", Rank: 1, Ready: true, Version: "1.20.3"},
			{Provider: "gardener", Profile: "aws-workerless", Rank: 2, Ready: true, Version: "1.20.3"},
		},
	}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestReportSaysWhoAsksForEachPart(t *testing.T) {
	objects := newObjects()
	request := objects.request("r", "workload", "mcp")
	request.Spec.Traits = []openmcpv1alpha1.TraitRequirement{
		{Trait: workerless, Negated: true},
		{AnyOf: []openmcpv1alpha1.TraitAlternative{{Trait: compute}, {Trait: "x", Negated: true}}, Optional: true},
	}
	request.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: "1.20"}

	want := Requirement{
		Purposes: []string{"workload", "mcp"}, Dedicated: true, DedicatedBy: "mcp", Version: "1.20",
		Traits: []Trait{
			{AnyOf: []string{"not " + workerless}, By: []string{"Purpose mcp", "request"}},
			{AnyOf: []string{compute, "not x"}, Optional: true, By: []string{"request"}},
		},
	}
	if diff := cmp.Diff(want, NewReport(objects, request, now).Requirement); diff != "" {
		t.Errorf("requirement (-want +got):\n%s", diff)
	}
}

// A Grant is a promise: the report shows what another request would see, and does not count the request itself.
func TestReportOfAGrantedRequest(t *testing.T) {
	objects := newObjects()
	request := objects.request("r", "workload")
	objects.carryOut(t, request)
	objects.Purposes = nil
	if report := NewReport(objects, request, now); report.Outcome != "Kept" || report.Cluster == nil || len(report.Changes) > 0 {
		t.Errorf("report %+v, want that the request keeps its Cluster without its Purpose", report)
	}
	objects.Purposes = newObjects().Purposes
	report := NewReport(objects, request, now)

	want := []Cluster{{Namespace: "team-a", Name: objects.Clusters[0].Name, Rank: 1}}
	if diff := cmp.Diff(want, report.Clusters); diff != "" {
		t.Errorf("Clusters (-want +got):\n%s", diff)
	}
}

func TestChangesThatWouldGrantARequest(t *testing.T) {
	for _, tc := range []struct {
		reason string
		change func(*Objects, *openmcpv1alpha1.ClusterRequest)
		want   [][]string
	}{
		{
			"a Purpose is missing",
			func(_ *Objects, r *openmcpv1alpha1.ClusterRequest) {
				r.Spec.Purposes = []openmcpv1alpha1.PurposeName{"workload", "new"}
			},
			[][]string{{"have an administrator create Purpose new"}, {"create another ClusterRequest without Purpose new"}},
		},
		{
			"a required trait of a Purpose",
			func(_ *Objects, r *openmcpv1alpha1.ClusterRequest) {
				r.Spec.Purposes = []openmcpv1alpha1.PurposeName{"gpu"}
			},
			[][]string{
				{"make trait gpu optional in Purpose gpu"},
				{"have ClusterProvider gardener publish trait gpu in profile aws"},
				{"have ClusterProvider gardener publish trait gpu in profile aws-workerless"},
			},
		},
		{
			"a deprecated version",
			func(_ *Objects, r *openmcpv1alpha1.ClusterRequest) {
				r.Spec.Kubernetes = &openmcpv1alpha1.Kubernetes{Version: "1.19"}
			},
			[][]string{{"create another ClusterRequest without a version"}, {"create another ClusterRequest for version 1.20.3"}},
		},
		{
			"a provider that is not ready",
			func(o *Objects, _ *openmcpv1alpha1.ClusterRequest) { o.Providers[0].Status.Ready = false },
			[][]string{{"wait until ClusterProvider gardener is ready"}},
		},
		{
			"a trait that two ask for",
			func(_ *Objects, r *openmcpv1alpha1.ClusterRequest) {
				r.Spec.Purposes = []openmcpv1alpha1.PurposeName{"gpu"}
				r.Spec.Traits = []openmcpv1alpha1.TraitRequirement{{Trait: "gpu"}, {Trait: "tpu"}}
			},
			[][]string{
				{"create another ClusterRequest without trait tpu", "have ClusterProvider gardener publish trait gpu in profile aws"},
				{"create another ClusterRequest without trait tpu", "have ClusterProvider gardener publish trait gpu in profile aws-workerless"},
				{
					"have ClusterProvider gardener publish trait gpu in profile aws",
					"have ClusterProvider gardener publish trait tpu in profile aws",
				},
				{
					"have ClusterProvider gardener publish trait gpu in profile aws-workerless",
					"have ClusterProvider gardener publish trait tpu in profile aws-workerless",
				},
			},
		},
		{
			"the name is taken",
			func(o *Objects, r *openmcpv1alpha1.ClusterRequest) {
				r.Spec.Purposes = []openmcpv1alpha1.PurposeName{"platform"}
				o.Purposes = append(o.Purposes, &openmcpv1alpha1.Purpose{ObjectMeta: metav1.ObjectMeta{Name: "platform"}})
				o.Clusters = append(o.Clusters, &openmcpv1alpha1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "team-a", Name: "platform"}})
			},
			[][]string{{"label the ClusterRequest " + openmcpv1alpha1.RandomizeNameLabel + "=true"}},
		},
		{
			"providers without profiles",
			func(o *Objects, _ *openmcpv1alpha1.ClusterRequest) { o.Providers[0].Status.Profiles = nil },
			nil,
		},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			objects := newObjects()
			request := objects.request("r", "workload")
			tc.change(objects, request)
			before := request.DeepCopy()
			report := NewReport(objects, request, now)
			var got [][]string
			for _, change := range report.Changes {
				got = append(got, change.Edits)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, request); diff != "" {
				t.Errorf("the request was changed (-want +got):\n%s", diff)
			}
			if report.Outcome != string(clusterrequest.OutcomeRefused) {
				t.Errorf("outcome %s", report.Outcome)
			}
		})
	}
}
