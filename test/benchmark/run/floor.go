// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
)

// floorName is the name of the scenarios that measure a floor.
const floorName = "floor"

// floor writes what a cold start has written, as fast as a client without a thought can: the same requests, as many at a time as the hub
// has workers. Once alone, and once beside as many Events as the hub sent.
func (s *stage) floor(ctx context.Context) error {
	if err := s.retire(); err != nil {
		return err
	}
	for _, pass := range []struct {
		name   string
		events int
	}{{"seconds", 0}, {"seconds-with-events", s.events}} {
		if err := s.wipe(ctx); err != nil {
			return err
		}
		begin := time.Now()
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return precomputed.NewWriter(s.api).Write(ctx, s.cold) })
		group.Go(func() error { return s.sendEvents(ctx, pass.events) })
		if err := group.Wait(); err != nil {
			return err //nolint:wrapcheck // The tasks name what they do.
		}
		s.run.AddTime("floor", pass.name, time.Since(begin))
		s.logf("floor: %s %.3f", pass.name, time.Since(begin).Seconds())
	}
	return nil
}

// wipe takes all decisions and statuses away. Those of the cold start are to be created then.
func (s *stage) wipe(ctx context.Context) error {
	err := each(ctx, s.size.Namespaces(), func(ctx context.Context, i int) error {
		err := s.api.DeleteAllOf(ctx, &clusterv1beta1.PlacementDecision{}, client.InNamespace(s.size.Namespace(i)))
		if err != nil {
			return fmt.Errorf("deleting the PlacementDecisions in %s: %w", s.size.Namespace(i), err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return each(ctx, len(s.cold), func(ctx context.Context, i int) error {
		placement := &s.cold[i].Placement
		wiped := &clusterv1beta1.Placement{ObjectMeta: metav1.ObjectMeta{Namespace: placement.Namespace, Name: placement.Name}}
		if err := s.api.Status().Patch(ctx, wiped, client.RawPatch(types.MergePatchType, []byte(`{"status":null}`))); err != nil {
			return fmt.Errorf("taking the status of Placement %s/%s away: %w", placement.Namespace, placement.Name, err)
		}
		placement.ResourceVersion = wiped.ResourceVersion
		for k := range s.cold[i].Pages {
			s.cold[i].Pages[k].ResourceVersion = ""
		}
		return nil
	})
}

// sendEvents sends Events one after the other, as the hub does beside its writes.
func (s *stage) sendEvents(ctx context.Context, n int) error {
	note := strings.Repeat("cluster-00000:100 ", 50)
	now := metav1.NowMicro()
	for i := range n {
		about := &s.cold[i%len(s.cold)].Placement
		event := &eventsv1.Event{
			ObjectMeta: metav1.ObjectMeta{Namespace: about.Namespace, Name: fmt.Sprintf("%s.%x", about.Name, now.UnixNano()+int64(i))},
			EventTime:  now, ReportingController: "placement-controller", ReportingInstance: floorName,
			Action: "ScoreUpdated", Reason: "ScoreUpdate", Type: corev1.EventTypeNormal, Note: note,
			Regarding: corev1.ObjectReference{
				APIVersion: clusterv1beta1.GroupVersion.String(), Kind: placementKind, Namespace: about.Namespace, Name: about.Name, UID: about.UID,
			},
		}
		if err := s.api.Create(ctx, event); err != nil {
			return fmt.Errorf("creating an Event in %s: %w", about.Namespace, err)
		}
	}
	return nil
}
