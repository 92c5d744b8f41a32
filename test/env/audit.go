package env

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

// auditPolicy records one event per finished request and leaves out the probes.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: None
  nonResourceURLs: ["/readyz*", "/livez*", "/healthz*"]
- level: Metadata
`

// ErrNoAudit says that the environment was started without Options.AuditLog.
var ErrNoAudit = errors.New("the environment keeps no audit log: start it with Options.AuditLog")

// writeVerbs are the verbs of requests that change objects.
var writeVerbs = []string{"create", "update", "patch", "delete", "deletecollection"}

// Audit returns the requests that have finished so far, in the order in which they finished. The event of a request is
// written just after its response, so a caller that looks for its own request waits for it to appear. A watch appears
// when it ends.
func (e *Environment) Audit() ([]auditv1.Event, error) {
	return e.auditEvents(func(*auditv1.Event) bool { return true })
}

// Writes returns the requests of a user that had the purpose to change an object, whatever their response was.
func (e *Environment) Writes(user string) ([]auditv1.Event, error) {
	return e.auditEvents(func(event *auditv1.Event) bool {
		return event.User.Username == user && slices.Contains(writeVerbs, event.Verb)
	})
}

func (e *Environment) auditEvents(keep func(*auditv1.Event) bool) (events []auditv1.Event, err error) {
	if !e.options.AuditLog {
		return nil, ErrNoAudit
	}
	file, err := os.Open(e.directory.file(auditFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // no request yet
	}
	if err != nil {
		return nil, fmt.Errorf("reading the audit log: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return parseAudit(file, keep)
}

// parseAudit reads the finished requests among the lines of an audit log. A last line without its end is being written and
// is left for the next time.
func parseAudit(log io.Reader, keep func(*auditv1.Event) bool) ([]auditv1.Event, error) {
	var events []auditv1.Event
	reader := bufio.NewReader(log)
	for number := 1; ; number++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the audit log: %w", err)
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("line %d of the audit log: %w", number, err)
		}
		if event.Stage == auditv1.StageResponseComplete && keep(&event) {
			events = append(events, event)
		}
	}
}
