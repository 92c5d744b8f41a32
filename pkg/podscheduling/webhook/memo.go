// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"container/list"
	"slices"
	"sync"

	"github.com/placement-hub/placement-hub/pkg/podscheduling"
)

const (
	// maxMemoBytes limits the memory of a memo, and maxOutcomeBytes that of one outcome in it.
	maxMemoBytes    = 8 << 20
	maxOutcomeBytes = maxMemoBytes / 16
	// resultBytes is about what a PolicyResult or a Skip needs beside its texts.
	resultBytes = 128
)

// outcome is what a review makes of a workload. It is never changed.
type outcome struct {
	patch    []byte // nil if nothing changes
	policies []podscheduling.PolicyResult
}

// newOutcome returns what an injection has made of its workload so far.
func newOutcome(injection *podscheduling.Injection) (outcome, error) {
	result := injection.Result()
	patch, err := result.Patch()
	return outcome{patch: patch, policies: result.Policies}, err
}

// bytes returns about how much memory an outcome needs.
func (o outcome) bytes() int {
	total := len(o.patch)
	for _, result := range o.policies {
		total += resultBytes
		for _, added := range result.Added {
			total += len(added)
		}
		for _, skip := range result.Skipped {
			total += resultBytes + len(skip.Field) + len(skip.Wanted) + len(skip.Own) + len(skip.Message)
		}
	}
	return total
}

// question is all that the outcome of a review depends on. Policies are compared by their addresses: those of a Source are replaced when
// they change.
type question struct {
	workload string                  // the namespace and the Identity
	cluster  []*podscheduling.Policy // those that match
	own      []*podscheduling.Policy // all of the namespace
}

// memo keeps outcomes, so that reviews of the same Pods merge the policies of a namespace once. Where they exceed maxMemoBytes, those that
// were not used for the longest time are dropped. The zero value is empty, and it is safe for concurrent use.
type memo struct {
	mu       sync.Mutex
	outcomes map[string]*list.Element // of remembered, by the workload
	recent   list.List                // the most recently used at the front
	bytes    int
}

type remembered struct {
	question
	outcome

	bytes int
}

// get returns the outcome of a question, if it is known.
func (m *memo) get(asked question) (outcome, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	element := m.outcomes[asked.workload]
	if element == nil {
		return outcome{}, false
	}

	known := rememberedIn(element)
	if !slices.Equal(known.cluster, asked.cluster) || !slices.Equal(known.own, asked.own) {
		m.remove(element)
		return outcome{}, false
	}
	m.recent.MoveToFront(element)
	return known.outcome, true
}

// put keeps the outcome of a question, unless it is too large.
func (m *memo) put(asked question, o outcome) {
	bytes := len(asked.workload) + o.bytes()
	if bytes > maxOutcomeBytes {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if element := m.outcomes[asked.workload]; element != nil {
		m.remove(element)
	}

	if m.outcomes == nil {
		m.outcomes = map[string]*list.Element{}
	}
	m.outcomes[asked.workload] = m.recent.PushFront(&remembered{asked, o, bytes})
	m.bytes += bytes
	for m.bytes > maxMemoBytes {
		m.remove(m.recent.Back())
	}
}

func (m *memo) remove(element *list.Element) {
	known := rememberedIn(element)
	m.bytes -= known.bytes
	m.recent.Remove(element)
	delete(m.outcomes, known.workload)
}

func rememberedIn(element *list.Element) *remembered {
	known, _ := element.Value.(*remembered) // Nothing else is put in.
	return known
}
