package suite

import (
	"fmt"
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
	now, woken, began, alone := time.Now(), wakeupsByDecisions(Default), started.Load(), running.Load() == 1
	intervals = append(intervals, interval{
		spec: CurrentSpecReport().FullText(), begin: last.at, end: now, woken: woken - last.woken,
		alone: alone && last.alone && began == last.started,
	})
	last.at, last.woken, last.started, last.alone = now, woken, began, alone
}

// expectOwnWritesEnqueueNothing demands that what the hub has written itself has enqueued no placement, whatever the specs did: while one hub
// ran, there were no more enqueues for changed decisions than others have changed decisions.
func expectOwnWritesEnqueueNothing() {
	changes, err := ControlPlane.Writes(func(event *auditv1.Event) bool {
		return event.ObjectRef != nil && event.ObjectRef.Resource == "placementdecisions" && event.User.Username != HubUser &&
			event.ResponseStatus != nil && event.ResponseStatus.Code < 300
	})
	Expect(err).NotTo(HaveOccurred())

	judged := 0

	for _, passed := range intervals {
		if !passed.alone {
			continue
		}

		others, counted := 0, true

		for i := range changes {
			// The event of a change may come some time after it.
			if at := changes[i].StageTimestamp.Time; at.Before(passed.begin.Add(-lag)) || at.After(passed.end) {
				continue
			}

			switch {
			case changes[i].Verb == "delete":
				others++
			case changes[i].Verb != "deletecollection":
				others += 2 // It may be taken from one placement and given to another one.
			case changes[i].User.Username == namespaceController:
				others++ // Every namespace is empty, but for what was written in the last moment.
			default:
				counted = false // Nobody knows of how many.
			}
		}

		if counted {
			judged++

			Expect(passed.woken).To(BeNumerically("<=", others), "placements enqueued for changed decisions until the end of %q", passed.spec)
		}
	}

	AddReportEntry("own writes", fmt.Sprintf("%d of %d specs were judged", judged, len(intervals)))
	GinkgoWriter.Printf("own writes: %d of %d specs were judged\n", judged, len(intervals))
}

// wakeupsByDecisions returns how often a placement was to be enqueued for a changed decision, whether it was in the queue already or not.
func wakeupsByDecisions(g Gomega) int {
	cause := map[string]string{"cause": "decision"}

	return CounterSum(g, "placement_hub_enqueues_total", cause) + CounterSum(g, "placement_hub_enqueues_coalesced_total", cause)
}
