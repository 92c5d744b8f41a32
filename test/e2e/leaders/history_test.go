// SPDX-License-Identifier: Apache-2.0

package leaders

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/placement-hub/placement-hub/test/e2e/suite"
)

// recordingPolicy has the audit log keep what was sent and answered where placements are carried out, and that there was a request elsewhere.
const recordingPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: RequestResponse
  verbs: [create, update, patch, delete]
  resources:
  - group: cluster.open-cluster-management.io
    resources: [placements, placements/status, placementdecisions, placementdecisions/status]
- level: Metadata
`

// startRecordedHub is startHub with an audit log from which the history of every decision can be told.
func startRecordedHub(t *testing.T) *suite.Hub {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit-policy.yaml")
	suite.Must(t, os.WriteFile(path, []byte(recordingPolicy), 0o600))
	return suite.StartHub(t, "--audit-policy-file="+path)
}

// version is one state of an object.
type version struct {
	UID             types.UID `json:"uid"`
	ResourceVersion string    `json:"resourceVersion"`
}

// change is a write that the API server has carried out.
type change struct {
	event auditv1.Event
	// based is the state that the request demanded, and became the one that it made; for a deletion both are the last one.
	based, became version
}

func (c change) String() string {
	return fmt.Sprintf("%s %s by %s on version %q", c.event.Verb, c.event.RequestURI, c.event.User.Username, c.based.ResourceVersion)
}

// auditHistory is all changes of placements and their decisions, by object and in their order, and how many writes of the hub were refused
// because they were made on an old view.
type auditHistory struct {
	changes map[types.UID][]change
	writes  int
	refused int
}

// readHistory reads the audit log.
func readHistory(t *testing.T, h *suite.Hub) auditHistory {
	t.Helper()
	h.AwaitAudit(t)
	events, err := h.Environment.Audit()
	suite.Must(t, err)
	read := auditHistory{changes: map[types.UID][]change{}}
	for _, event := range events {
		if event.Level != auditv1.LevelRequestResponse || event.ResponseStatus == nil {
			continue
		}
		ours := event.User.Username == suite.HubUser
		if ours {
			read.writes++
		}
		switch code := event.ResponseStatus.Code; {
		case code == http.StatusConflict && ours:
			read.refused++
		case code >= http.StatusOK && code < http.StatusMultipleChoices:
			made := readChange(t, event)
			read.changes[made.became.UID] = append(read.changes[made.became.UID], made)
		}
	}
	for _, changes := range read.changes {
		slices.SortStableFunc(changes, func(a, b change) int {
			return cmp.Or(compareDeletion(a, b), cmp.Compare(number(t, a.became), number(t, b.became)))
		})
	}
	return read
}

// compareDeletion puts the deletion of an object behind all that was done to it.
func compareDeletion(a, b change) int {
	last := func(c change) int {
		if c.event.Verb == "delete" {
			return 1
		}
		return 0
	}
	return cmp.Compare(last(a), last(b))
}

func number(t *testing.T, v version) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(v.ResourceVersion, 10, 64)
	suite.Must(t, err)
	return n
}

// readChange reads what was demanded and what came of it.
func readChange(t *testing.T, event auditv1.Event) change {
	t.Helper()
	made := change{event: event}
	var sent, answered struct {
		Metadata      version               `json:"metadata"`
		Preconditions *metav1.Preconditions `json:"preconditions"`
	}
	if event.RequestObject != nil {
		suite.Must(t, json.Unmarshal(event.RequestObject.Raw, &sent))
	}
	if event.Verb == "delete" {
		if p := sent.Preconditions; p != nil && p.UID != nil && p.ResourceVersion != nil {
			made.based = version{*p.UID, *p.ResourceVersion}
		}
		made.became = made.based
		return made
	}
	suite.Must(t, json.Unmarshal(event.ResponseObject.Raw, &answered))
	made.based, made.became = sent.Metadata, answered.Metadata
	return made
}

// blind are the writes of the hub that were not made on the very state before them: an update that somebody made in between would be
// lost by such a write.
func (h auditHistory) blind() []string {
	var findings []string
	for _, changes := range h.changes {
		last := version{}
		for _, c := range changes {
			created := c.event.Verb == "create"
			if c.event.User.Username == suite.HubUser && !created && c.based != last {
				findings = append(findings, fmt.Sprintf("%s: the version before was %q", c, last.ResourceVersion))
			}
			last = c.became
		}
	}
	return findings
}
