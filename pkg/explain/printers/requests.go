// SPDX-License-Identifier: Apache-2.0

package printers

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/placement-hub/placement-hub/pkg/clusterrequest"
	"github.com/placement-hub/placement-hub/pkg/explain/requests"
)

// Requests prints Reports of ClusterRequests. FormatName prints "namespace/name namespace/cluster" for each request that has or gets a
// Cluster.
func Requests(out io.Writer, format Format, reports requests.Reports, style Style) error {
	return renderer{
		table: func(text *bytes.Buffer) {
			writeRequests(text, reports.Requests, style)

			for _, note := range reports.Notes {
				fmt.Fprintf(text, "%s\n", Printable(indented(note)))
			}
		},
		names: func(text *bytes.Buffer) { writeRequestNames(text, reports.Requests) },
	}.write(out, format, WideFormats(), reports)
}

// writeRequestNames writes one line for each request that has or gets a Cluster.
func writeRequestNames(out *bytes.Buffer, reports []requests.Report) {
	for _, report := range reports {
		if report.Cluster != nil {
			fmt.Fprintf(out, "%s/%s %s/%s\n", report.Namespace, report.Name, report.Cluster.Namespace, report.Cluster.Name)
		}
	}
}

// writeRequests writes the reports of requests for people.
func writeRequests(out *bytes.Buffer, reports []requests.Report, style Style) {
	for i, report := range reports {
		if i > 0 {
			out.WriteByte('\n')
		}

		writeRequest(out, report, style)
	}
}

// writeRequest writes the report of a request for people: a headline, what it requires, a table of the Clusters and one of the profiles, and
// what would grant it.
func writeRequest(out *bytes.Buffer, r requests.Report, style Style) {
	fmt.Fprintf(out, "%s: %s\n", style.bold("ClusterRequest/"+r.Namespace+"/"+r.Name), requestHeadline(r, style))

	if r.Written != "" {
		fmt.Fprintf(out, "  the status still says %s: the controller has to reconcile it\n", r.Written)
	}

	for _, note := range r.Notes {
		fmt.Fprintf(out, "  %s\n", Printable(indented(note)))
	}

	writeRequirement(out, r.Requirement)

	if hasGrant(r) && len(r.Clusters)+len(r.Profiles) > 0 {
		out.WriteString("  the Grant stays as it is; another request like this one would see\n")
	}

	if len(r.Clusters) > 0 {
		rows := make([][]string, 0, 1+len(r.Clusters))
		rows = append(rows, []string{"CLUSTER", "RANK", "REQUESTS", "OPTIONAL", "LACKS"})

		for _, cluster := range r.Clusters {
			rows = append(rows, []string{
				cluster.Namespace + "/" + cluster.Name, positive(cluster.Rank), strconv.Itoa(cluster.Requests), positive(cluster.OptionalTraits),
				orNone(cluster.Lack),
			})
		}

		style.writeTable(out, rows, style.header)
	}

	if len(r.Profiles) > 0 {
		rows := make([][]string, 0, 1+len(r.Profiles))
		rows = append(rows, []string{"PROFILE", "RANK", "VERSION", "OPTIONAL", "LACKS"})

		for _, profile := range r.Profiles {
			rows = append(rows, []string{
				profile.Provider + "/" + profile.Profile, positive(profile.Rank), orNone(profileVersion(profile)), positive(profile.OptionalTraits),
				orNone(profileLack(profile)),
			})
		}

		style.writeTable(out, rows, style.header)
	}

	for i, change := range r.Changes {
		if i == 0 {
			out.WriteString("  one of these would grant it:\n")
		}

		verb := "shares Cluster "
		if change.New {
			verb = "gets the new Cluster "
		}

		fmt.Fprintf(out, "    %s: %s%s\n", Printable(strings.Join(change.Edits, ", and ")), verb, change.Cluster)
	}

	if r.Outcome == string(clusterrequest.OutcomeRefused) && len(r.Changes) == 0 {
		out.WriteString("  no one or two changes of the request, its Purposes or a profile would grant it\n")
	}
}

// hasGrant reports whether a request was granted before, so that nothing is chosen for it.
func hasGrant(r requests.Report) bool {
	switch clusterrequest.Outcome(r.Outcome) {
	case clusterrequest.OutcomeKept, clusterrequest.OutcomeAdopted, clusterrequest.OutcomeRecovered:
		return true
	default:
		return false
	}
}

// requestHeadline returns "Granted, Cluster team-a/build of profile p/a, version 1.31.2, Shared", or why there is none.
func requestHeadline(r requests.Report, style Style) string {
	if r.Unanswered != "" {
		return "no explanation, " + r.Unanswered + "; " + writtenStatus(r)
	}

	switch clusterrequest.Outcome(r.Outcome) {
	case clusterrequest.OutcomeIgnored:
		return style.alarm("ignored") + " because of an annotation of the request"
	case clusterrequest.OutcomeReplaced:
		return "to be decided after the Grant of a former request of this name is deleted"
	case clusterrequest.OutcomeRefused:
		return style.alarm(r.Status) + ", " + r.Reason + ": " + Printable(indented(r.Message))
	default:
	}

	cluster := r.Cluster
	verb := "granted"

	if !hasGrant(r) {
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

	return text
}

// writtenStatus returns "the status is Denied, NoMatchingProfile: no profile fits", or names the granted Cluster.
func writtenStatus(r requests.Report) string {
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
		text += ": " + Printable(indented(r.Message))
	}

	return text
}

func writeRequirement(out *bytes.Buffer, r requests.Requirement) {
	fmt.Fprintf(out, "  purposes: %s\n", strings.Join(r.Purposes, ", "))

	if r.Dedicated {
		by := requests.RequestSource
		if r.DedicatedBy != "" {
			by = "Purpose " + r.DedicatedBy
		}

		fmt.Fprintf(out, "  dedicated: by %s\n", by)
	}

	if r.Version != "" {
		fmt.Fprintf(out, "  version: %s\n", r.Version)
	}

	for _, trait := range r.Traits {
		fmt.Fprintf(out, "  %s: by %s\n", trait, strings.Join(trait.By, ", "))
	}
}

// positive returns a number, or "-" for 0.
func positive(n int) string {
	if n == 0 {
		return noValue
	}

	return strconv.Itoa(n)
}

func orNone(text string) string {
	if text == "" {
		return noValue
	}

	return text
}

func profileVersion(profile requests.Profile) string {
	if profile.Deprecated {
		return profile.Version + " (deprecated)"
	}

	return profile.Version
}

func profileLack(profile requests.Profile) string {
	if profile.Lack == "" && !profile.Ready {
		return "its ClusterProvider is not ready"
	}

	return profile.Lack
}
