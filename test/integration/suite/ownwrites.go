// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// interval is the time from the end of a spec to the end of the next one.
type interval struct {
	spec       string
	begin, end time.Time
	// woken is how often placements were enqueued for changed decisions.
	woken int
	// alone says that one hub, and no other one, was running all the time.
	alone bool
}

const (
	// lag bounds the time from a change to its watch event.
	lag = 5 * time.Second
	// namespaceController deletes the objects that are left in namespaces that are deleted.
	namespaceController = "system:serviceaccount:kube-system:namespace-controller"
)

var (
	// intervals has one element for each spec that has ended.
	intervals []interval
	// started and running count the hubs that were started, and those of them that have not ended.
	started, running atomic.Int32
	// last is the end of the last spec, how often placements were enqueued for changed decisions until then, and how many hubs were started.
	last struct {
		at      time.Time
		woken   int
		started int32
		alone   bool
	}
)

// endInterval ends the interval of a spec.
func endInterval() {
	now, woken, began, alone := time.Now(), enqueuesByDecisions(Default), started.Load(), running.Load() == 1
	intervals = append(intervals, interval{
		spec: CurrentSpecReport().FullText(), begin: last.at, end: now, woken: woken - last.woken,
		alone: alone && last.alone && began == last.started,
	})
	last.at, last.woken, last.started, last.alone = now, woken, began, alone
}

// ListsDecisionsAgain says that the hub lists PlacementDecisions again in this spec, which enqueues every placement that has some: the spec is
// not judged by expectOwnWritesEnqueueNothing.
func ListsDecisionsAgain() { last.alone = false }

// expectOwnWritesEnqueueNothing demands that what the hub has written itself has enqueued no placement, whatever the specs did: while one hub
// ran, there were no more enqueues for changed decisions than others have changed decisions.
func expectOwnWritesEnqueueNothing() {
	if ControlPlane == nil {
		return // It did not start, which the suite has reported.
	}
	changes, err := ControlPlane.Writes(func(event *auditv1.Event) bool {
		return event.ObjectRef != nil && event.ResponseStatus != nil && event.ResponseStatus.Code < 300 &&
			(event.ObjectRef.Resource == "placementdecisions" || event.ObjectRef.Resource == "placements" && isDeletion(event))
	})
	Expect(err).NotTo(HaveOccurred())
	judged := 0

	for _, passed := range intervals {
		if !passed.alone {
			continue
		}
		if others, known := passed.enqueuesByOthers(changes); known {
			judged++
			Expect(passed.woken).To(BeNumerically("<=", others), "placements enqueued for changed decisions until the end of %q", passed.spec)
		}
	}

	AddReportEntry("own writes", fmt.Sprintf("%d of %d specs were judged", judged, len(intervals)))
	GinkgoWriter.Printf("own writes: %d of %d specs were judged\n", judged, len(intervals))
}

// enqueuesByOthers returns how many enqueues the changes by others explain at most; it is not known when somebody deleted decisions by the
// collection.
func (i *interval) enqueuesByOthers(changes []auditv1.Event) (most int, known bool) {
	known = true
	for n := range changes {
		change := &changes[n]

		// The event of a change may come some time after it.
		if at := change.StageTimestamp.Time; at.Before(i.begin.Add(-lag)) || at.After(i.end) || change.ObjectRef.Resource == "placements" {
			continue
		}
		switch {
		case change.User.Username == HubUser:
			if i.ownerDeletedAfter(change, changes) {
				most++ // The hub forgets what it wrote for a placement that is deleted, and the event of the write may come later.
			}
		case change.Verb == "delete":
			most++
		case change.Verb != "deletecollection":
			most += 2 // It may be taken from one placement and given to another one.
		case change.User.Username == namespaceController:
			most++ // Every namespace is empty, but for what was written in the last moment.
		default:
			known = false
		}
	}

	return most, known
}

// ownerDeletedAfter reports whether the placement of a decision was deleted in this interval, and no longer than lag after the write.
func (i *interval) ownerDeletedAfter(write *auditv1.Event, changes []auditv1.Event) bool {
	return slices.ContainsFunc(changes, func(change auditv1.Event) bool {
		ref, after := change.ObjectRef, change.StageTimestamp.Sub(write.StageTimestamp.Time)
		return ref.Resource == "placements" && ref.Namespace == write.ObjectRef.Namespace && ref.APIGroup == write.ObjectRef.APIGroup &&
			(ref.Name == "" || strings.HasPrefix(write.ObjectRef.Name, ref.Name+"-")) &&
			after >= 0 && after <= lag && change.StageTimestamp.After(i.begin) && !change.StageTimestamp.After(i.end)
	})
}

// isDeletion reports whether a request deletes one object or a collection.
func isDeletion(event *auditv1.Event) bool { return strings.HasPrefix(event.Verb, "delete") }

// enqueuesByDecisions returns how often a placement was to be enqueued for a changed decision, whether it was in the queue already or not.
func enqueuesByDecisions(g Gomega) int {
	cause := map[string]string{"cause": "decision"}
	return CounterSum(g, "placement_hub_enqueues_total", cause) + CounterSum(g, "placement_hub_enqueues_coalesced_total", cause)
}
