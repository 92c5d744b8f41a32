// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
)

// Reports are the reports of several requests.
type Reports struct {
	// Requests are sorted by namespace and name.
	Requests []Report `json:"requests"`
	// Notes say what could not be read.
	Notes []string `json:"notes,omitempty"`
}

// Report says what a ClusterRequest has or gets, and why.
type Report struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Outcome is that of clusterrequest.Decision: Kept, Adopted, Replaced, Recovered, Chosen, Refused or Ignored; or OutcomeWritten.
	Outcome string `json:"outcome"`
	// Unanswered is the reason why the request was not evaluated; the other fields then have the values that the hub has written.
	Unanswered string `json:"unanswered,omitempty"`
	// Status, Reason and Message are what the controller writes for the present objects.
	Status  string `json:"status,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// Written is the status that the hub has written, if it differs: the request is still to be reconciled.
	Written string `json:"written,omitempty"`
	// Cluster is what the request has or gets. Nil for nothing.
	Cluster     *Granted    `json:"cluster,omitempty"`
	Requirement Requirement `json:"requirement"`
	// Clusters are all existing Clusters, sorted by namespace and name, as a request that has no Grant sees them. They are empty if a Purpose
	// of the request does not exist.
	Clusters []Cluster `json:"clusters,omitempty"`
	// Profiles are the profiles of all ClusterProviders, sorted by provider and name.
	Profiles []Profile `json:"profiles,omitempty"`
	// Changes are alternatives, each of which would grant the request. Empty for a request that gets a Cluster.
	Changes []Change `json:"changes,omitempty"`
	// Notes say that the ManagedCluster of the Cluster stays although the Cluster was lost, and how to release it, and why the Grant has
	// another prefix than the request proposes.
	Notes []string `json:"notes,omitempty"`
}

// Granted is the Cluster of a request.
type Granted struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// New reports that the Cluster is to be created.
	New      bool   `json:"new,omitempty"`
	Provider string `json:"provider"`
	Profile  string `json:"profile"`
	Version  string `json:"version,omitempty"`
	Tenancy  string `json:"tenancy"`
	Prefix   string `json:"prefix,omitempty"`
}

// Requirement is what a request and its Purposes ask for together.
type Requirement struct {
	Purposes []string `json:"purposes"`
	// Missing are those of the Purposes that do not exist.
	Missing     []string `json:"missing,omitempty"`
	Dedicated   bool     `json:"dedicated"`
	DedicatedBy string   `json:"dedicatedBy,omitempty"`
	Version     string   `json:"version,omitempty"`
	Traits      []Trait  `json:"traits,omitempty"`
}

// Trait is one requirement on traits.
type Trait struct {
	// AnyOf are the alternatives; "not x" is satisfied without x.
	AnyOf    []string `json:"anyOf"`
	Optional bool     `json:"optional,omitempty"`
	// By are the sources: "Purpose x" and "request".
	By []string `json:"by"`
}

// Cluster says why an existing Cluster is, or is not, the choice.
type Cluster struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Rank is 1 for the choice, and 0 if the Cluster does not fit.
	Rank           int `json:"rank,omitempty"`
	Requests       int `json:"requests"`
	OptionalTraits int `json:"optionalTraits,omitempty"`
	// Lack is the first thing that the Cluster lacks, and LackKind its kind.
	Lack     string `json:"lack,omitempty"`
	LackKind string `json:"lackKind,omitempty"`
}

// Profile says why a profile is, or is not, the choice for a new Cluster.
type Profile struct {
	Provider string `json:"provider"`
	Profile  string `json:"profile"`
	// Rank is 1 for the choice, and 0 if the profile does not fit or its provider is not ready.
	Rank           int    `json:"rank,omitempty"`
	Ready          bool   `json:"ready"`
	Version        string `json:"version,omitempty"`
	Deprecated     bool   `json:"deprecated,omitempty"`
	OptionalTraits int    `json:"optionalTraits,omitempty"`
	Lack           string `json:"lack,omitempty"`
	LackKind       string `json:"lackKind,omitempty"`
}

// NewReports explains all requests of a namespace, or of all namespaces if it is empty.
func NewReports(objects *Objects, namespace string, now metav1.Time) []Report {
	var reports []Report
	for _, request := range objects.sorted() {
		if namespace == "" || request.Namespace == namespace {
			reports = append(reports, NewReport(objects, request, now))
		}
	}
	return reports
}

// RequestSource is the source of what a request itself asks for.
const RequestSource = "request"

// NewReport explains a request. The time is that of the evaluation.
func NewReport(objects *Objects, request *openmcpv1alpha1.ClusterRequest, now metav1.Time) Report {
	request = withUID(request)
	catalog := objects.catalog()
	decided := catalog.Decide(request, now)
	if decided.Evaluation == nil { // A Grant is never computed again: the verdicts are those on a new request.
		catalog = objects.without(request).catalog()
	}
	evaluation := catalog.Explain(request)

	report := Report{
		Namespace: request.Namespace, Name: request.Name, Outcome: string(decided.Outcome),
		Status: string(decided.Result.Status), Reason: decided.Result.Reason, Message: decided.Result.Message,
		Requirement: newRequirement(&evaluation.Requirement),
		Clusters:    newClusters(evaluation.Clusters), Profiles: newProfiles(evaluation.Profiles),
	}
	if written := string(request.Status.Status); report.Status != "" && written != report.Status {
		report.Written = written
	}

	if decided.Grant != nil {
		report.Cluster, report.Notes = newGranted(decided.Grant, decided.Create), objects.goneNotes(decided.Grant)
		if refused := clusterrequest.RefusedPrefix(request, decided.Grant); refused != "" {
			report.Notes = append(report.Notes, refused)
		}
	}
	if decided.Outcome == clusterrequest.OutcomeRefused {
		report.Changes = searchChanges(objects, request, evaluation)
	}
	return report
}

func newGranted(grant *openmcpv1alpha1.ClusterRequestGrant, isNew bool) *Granted {
	spec := &grant.Spec
	return &Granted{
		Namespace: spec.ClusterRef.Namespace, Name: spec.ClusterRef.Name, New: isNew,
		Provider: spec.Cluster.ClusterProviderRef.Name, Profile: string(spec.Cluster.ClusterProviderRef.Profile),
		Version: versionOf(spec.Cluster.Kubernetes), Tenancy: string(spec.Cluster.Tenancy), Prefix: spec.Prefix,
	}
}

func versionOf(kubernetes *openmcpv1alpha1.Kubernetes) string {
	if kubernetes == nil {
		return ""
	}
	return kubernetes.Version
}

func newRequirement(from *clusterrequest.Requirement) Requirement {
	requirement := Requirement{
		Purposes: from.Purposes, Missing: from.Missing, Dedicated: from.Dedicated, DedicatedBy: from.DedicatedBy, Version: from.Version,
	}
	for _, trait := range from.Traits {
		reported := Trait{Optional: trait.Optional}
		for _, alternative := range trait.AnyOf {
			reported.AnyOf = append(reported.AnyOf, alternative.String())
		}
		for _, by := range trait.By {
			reported.By = append(reported.By, sourceName(by))
		}
		requirement.Traits = append(requirement.Traits, reported)
	}

	return requirement
}

// sourceName returns "Purpose x", or "request".
func sourceName(by string) string {
	if by == "" {
		return RequestSource
	}
	return "Purpose " + by
}

func newClusters(verdicts []clusterrequest.ClusterVerdict) []Cluster {
	clusters := make([]Cluster, 0, len(verdicts))
	for _, verdict := range verdicts {
		lack, kind := lackOf(verdict.Lack)
		clusters = append(clusters, Cluster{
			Namespace: verdict.Cluster.Namespace, Name: verdict.Cluster.Name, Rank: verdict.Rank, Requests: verdict.Requests,
			OptionalTraits: verdict.OptionalTraits, Lack: lack, LackKind: kind,
		})
	}
	return clusters
}

func newProfiles(verdicts []clusterrequest.ProfileVerdict) []Profile {
	profiles := make([]Profile, 0, len(verdicts))
	for _, verdict := range verdicts {
		lack, kind := lackOf(verdict.Lack)
		profiles = append(profiles, Profile{
			Provider: verdict.Provider, Profile: verdict.Profile, Rank: verdict.Rank, Ready: verdict.Ready, Version: verdict.Version,
			Deprecated: verdict.Deprecated, OptionalTraits: verdict.OptionalTraits, Lack: lack, LackKind: kind,
		})
	}
	return profiles
}

func lackOf(lack *clusterrequest.Lack) (text, kind string) {
	if lack == nil {
		return "", ""
	}
	return lack.String(), string(lack.Kind)
}

// String returns "trait x", "any of the traits x, y", with "optional" before it where it is.
func (t Trait) String() string {
	text := "trait " + t.AnyOf[0]
	if len(t.AnyOf) > 1 {
		text = "any of the traits " + strings.Join(t.AnyOf, ", ")
	}
	if t.Optional {
		return "optional " + text
	}
	return text
}
