// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/document"
)

// Document implements document.Source. Its names are "namespace/name namespace/cluster" for each request that has or gets a Cluster.
func (r Reports) Document(document.Options) document.Document {
	var d document.Document
	for i := range r.Requests {
		report := &r.Requests[i]
		d.Add(report.section())
		if report.Cluster != nil {
			d.Namef("%s/%s %s/%s", report.Namespace, report.Name, report.Cluster.Namespace, report.Cluster.Name)
		}
	}
	d.Note(r.Notes...)
	return d
}

// section has a headline, what a request requires, a table of the Clusters and one of the profiles, and what would grant it.
func (r *Report) section() document.Section {
	s := document.Section{Title: "ClusterRequest/" + r.Namespace + "/" + r.Name, Headline: r.headline()}
	if r.Written != "" {
		s.Linef("the status still says %s: the controller has to reconcile it", r.Written)
	}
	s.Lines(r.Notes)
	r.Requirement.lines(&s)
	if r.hasGrant() && len(r.Clusters)+len(r.Profiles) > 0 {
		s.Linef("the Grant stays as it is; another request like this one would see")
	}
	clusters := document.Table{Columns: []string{"CLUSTER", "RANK", "REQUESTS", "OPTIONAL", "LACKS"}}
	for _, cluster := range r.Clusters {
		clusters.Row(cluster.Namespace+"/"+cluster.Name, positive(cluster.Rank), strconv.Itoa(cluster.Requests), positive(cluster.OptionalTraits),
			document.OrNone(cluster.Lack))
	}
	s.Table(clusters)
	profiles := document.Table{Columns: []string{"PROFILE", "RANK", "VERSION", "OPTIONAL", "LACKS"}}
	for i := range r.Profiles {
		profile := &r.Profiles[i]
		profiles.Row(profile.Provider+"/"+profile.Profile, positive(profile.Rank), document.OrNone(profile.version()),
			positive(profile.OptionalTraits), document.OrNone(profile.lack()))
	}
	s.Table(profiles)
	if len(r.Changes) > 0 {
		s.Linef("one of these would grant it:")
	}
	for _, change := range r.Changes {
		verb := "shares Cluster "
		if change.New {
			verb = "gets the new Cluster "
		}
		s.Detailf("%s: %s%s", strings.Join(change.Edits, ", and "), verb, change.Cluster)
	}
	if r.Outcome == string(clusterrequest.OutcomeRefused) && len(r.Changes) == 0 {
		s.Linef("no one or two changes of the request, its Purposes or a profile would grant it")
	}
	return s
}

// hasGrant reports whether a request was granted before, so that nothing is chosen for it.
func (r *Report) hasGrant() bool {
	switch clusterrequest.Outcome(r.Outcome) {
	case clusterrequest.OutcomeKept, clusterrequest.OutcomeAdopted, clusterrequest.OutcomeRecovered:
		return true
	default:
		return false
	}
}

// headline returns "Granted, Cluster team-a/build of profile p/a, version 1.31.2, Shared", or why there is none.
func (r *Report) headline() document.Text {
	if r.Unanswered != "" {
		return document.Plainly("no explanation, " + r.Unanswered + "; " + r.writtenStatus())
	}
	switch clusterrequest.Outcome(r.Outcome) {
	case clusterrequest.OutcomeIgnored:
		return document.Alarm("ignored", " because of an annotation of the request")
	case clusterrequest.OutcomeReplaced:
		return document.Plainly("to be decided after the Grant of a former request of this name is deleted")
	case clusterrequest.OutcomeRefused:
		return document.Alarm(r.Status, ", "+r.Reason+": "+r.Message)
	default:
	}
	cluster, verb := r.Cluster, "granted"
	if !r.hasGrant() {
		verb = "to be granted"
	}
	text := fmt.Sprintf("%s Cluster %s/%s of profile %s/%s", verb, cluster.Namespace, cluster.Name, cluster.Provider, cluster.Profile)
	if cluster.Version != "" {
		text += ", version " + cluster.Version
	}
	text += ", " + cluster.Tenancy
	if cluster.Prefix != "" {
		text += ", prefix " + cluster.Prefix
	}
	if cluster.New {
		text += ", which is to be created"
	}
	return document.Plainly(text)
}

// writtenStatus returns "the status is Denied, NoMatchingProfile: no profile fits", or names the granted Cluster.
func (r *Report) writtenStatus() string {
	if r.Status == "" {
		return "the hub has written no status yet"
	}
	text := "the status is " + r.Status
	if r.Cluster != nil {
		return fmt.Sprintf("%s, Cluster %s/%s", text, r.Cluster.Namespace, r.Cluster.Name)
	}
	if r.Reason != "" {
		text += ", " + r.Reason
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	return text
}

// lines adds what a request requires.
func (r *Requirement) lines(s *document.Section) {
	s.Linef("purposes: %s", strings.Join(r.Purposes, ", "))
	if r.Dedicated {
		by := RequestSource
		if r.DedicatedBy != "" {
			by = "Purpose " + r.DedicatedBy
		}
		s.Linef("dedicated: by %s", by)
	}
	if r.Version != "" {
		s.Linef("version: %s", r.Version)
	}
	for _, trait := range r.Traits {
		s.Linef("%s: by %s", trait, strings.Join(trait.By, ", "))
	}
}

// positive returns a number, or "-" for 0.
func positive(n int) string {
	if n == 0 {
		return document.NoValue
	}
	return strconv.Itoa(n)
}

func (p *Profile) version() string {
	if p.Deprecated {
		return p.Version + " (deprecated)"
	}
	return p.Version
}

func (p *Profile) lack() string {
	if p.Lack == "" && !p.Ready {
		return "its ClusterProvider is not ready"
	}
	return p.Lack
}

// Document implements document.Source: each request with another result, and the totals. Its names are "namespace/name@clusterrequest ~".
func (d *Difference) Document(document.Options) document.Document {
	var doc document.Document
	s := document.Section{Title: "ClusterRequests", Headline: document.Plainly("another result for " + document.Count(len(d.Requests), "request"))}
	if !d.Limited {
		s.Headline = s.Headline.With("; nothing changes for " + document.Count(d.Granted, "request") + " with a Grant")
	}
	for _, request := range d.Requests {
		s.Linef("%s %s/%s: %s -> %s", document.Moved, request.Namespace, request.Name, absent(request.Before), absent(request.After))
		name := document.QualifiedObject(request.Namespace, request.Name, "ClusterRequest", "")
		doc.Changes(name, document.Changes{{Mark: document.Moved}})
	}
	if d.Before != d.After {
		s.Linef("if no request had a Grant: %s", totalsText(d.Before, d.After))
	}
	doc.Add(s)
	return doc
}

// absent returns a result, or that there is no request.
func absent(result string) string {
	if result == "" {
		return "no request"
	}
	return result
}

// totalsText returns "12 Clusters instead of 24, 12 fewer, for 48 requests; 1 request refused instead of none".
func totalsText(before, after Totals) string {
	text := fmt.Sprintf("%s instead of %d", document.Count(after.Clusters, "Cluster"), before.Clusters)
	switch fewer := before.Clusters - after.Clusters; {
	case fewer > 0:
		text += fmt.Sprintf(", %d fewer", fewer)
	case fewer < 0:
		text += fmt.Sprintf(", %d more", -fewer)
	}
	text += " for " + document.Count(after.Requests, "request")
	if before.Refused != after.Refused {
		text += fmt.Sprintf("; %s refused instead of %d", document.Count(after.Refused, "request"), before.Refused)
	}
	return text
}
