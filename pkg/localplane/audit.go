// SPDX-License-Identifier: Apache-2.0

package localplane

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy records one event per finished request and omits probes.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  nonResourceURLs: ["/readyz*", "/livez*", "/healthz*"]
- level: Metadata
`

// ErrNoAudit means that the control plane was started without Options.AuditLog.
var ErrNoAudit = errors.New("the control plane keeps no audit log: start it with Options.AuditLog")

// writeVerbs are the verbs of requests that change objects.
var writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}

// Audit returns the requests that have finished so far, in the order in which they finished. The event of a request is written just after
// its response, so a caller that looks for its own request must wait for it. A watch appears when it ends.
func (c *ControlPlane) Audit() ([]auditv1.Event, error) {
	events, _, err := c.auditEvents(c.auditStart, func(*auditv1.Event) bool { return true })
	return events, err
}

// Writes returns the requests that were sent to change an object and for which keep returns true, whatever their response was. It parses
// only the part of the log that was written since the last call.
func (c *ControlPlane) Writes(keep func(*auditv1.Event) bool) ([]auditv1.Event, error) {
	c.auditMu.Lock()
	defer c.auditMu.Unlock()
	added, read, err := c.auditEvents(c.auditRead, func(event *auditv1.Event) bool { return slices.Contains(writeVerbs, event.Verb) })
	if err != nil {
		return nil, err
	}
	c.auditRead += read
	c.auditWrites = append(c.auditWrites, added...)
	var kept []auditv1.Event
	for i := range c.auditWrites {
		if keep(&c.auditWrites[i]) {
			kept = append(kept, c.auditWrites[i])
		}
	}
	return kept, nil
}

// By returns a filter for Writes that keeps the requests of a user.
func By(user string) func(*auditv1.Event) bool {
	return func(event *auditv1.Event) bool { return event.User.Username == user }
}

// auditEvents parses the log from an offset in bytes, and returns the length of the complete lines in bytes.
func (c *ControlPlane) auditEvents(from int64, keep func(*auditv1.Event) bool) (events []auditv1.Event, read int64, err error) {
	if !c.options.AuditLog {
		return nil, 0, ErrNoAudit
	}
	file, err := os.Open(c.directory.file(auditFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, 0, nil // no request yet
	}
	if err != nil {
		return nil, 0, fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Seek(from, io.SeekStart); err != nil {
		return nil, 0, fmt.Errorf("reading the audit log: %w", err)
	}
	return parseAudit(file, keep)
}

// parseAudit returns the finished requests in the lines of an audit log, and the length of the lines in bytes. It ignores an incomplete
// last line, which is still being written.
func parseAudit(log io.Reader, keep func(*auditv1.Event) bool) (events []auditv1.Event, read int64, err error) {
	reader := bufio.NewReader(log)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, read, nil
		}
		if err != nil {
			return nil, 0, fmt.Errorf("reading the audit log: %w", err)
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, 0, fmt.Errorf("line %d of the audit log: %w", number, err)
		}
		read += int64(len(line))
		if event.Stage == auditv1.StageResponseComplete && keep(&event) {
			events = append(events, event)
		}
	}
}
