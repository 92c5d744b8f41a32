// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	clusterinventory "sigs.k8s.io/cluster-inventory-api/apis/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/placement-hub/placement-hub/manifests"
	"github.com/placement-hub/placement-hub/pkg/clusterprofiles"
	"github.com/placement-hub/placement-hub/pkg/system"
	"github.com/placement-hub/placement-hub/test/benchmark/fleet"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
)

// profilesName is the scenario of ClusterProfiles. It is measured only if it is named: it writes each of them many times.
const profilesName = "profiles"

const (
	// profileNamespaces is how many namespaces have a ClusterProfile of every cluster.
	profileNamespaces = 5
	// profileRounds is how often the hub is started with and without the controller, in turns.
	profileRounds = 3
	// changedClaim is the claim that changes. No placement reads it.
	changedClaim = "account.example.com"
	// withProfiles adds the controller to those of the hub.
	withProfiles = "--controllers=" + manifests.ClusterProfiles
)

// profileCost is what placement costs beside ClusterProfiles, or without them.
type profileCost struct {
	latencies

	peak int64
}

// profiles (docs/spec/ecosystem.md E8) makes the ClusterProfiles of all clusters in a few namespaces, and changes labels that placements select by
// with and without the controller. Then it changes a claim of every cluster, which a client without a thought does, too.
func (s *stage) profiles(ctx context.Context) error {
	if err := s.preferProfiles(ctx); err != nil {
		return err
	}
	seen, err := observe(ctx, s.api, profileKind)
	if err != nil {
		return err
	}
	if err := s.makeProfiles(ctx, seen); err != nil {
		return err
	}
	if err := s.besideProfiles(ctx); err != nil {
		return err
	}
	if err := s.claimOfEach(ctx, seen); err != nil {
		return err
	}
	if err := s.floorOfProfiles(ctx); err != nil {
		return err
	}
	_, err = s.startAgain(ctx, profilesName, &start{})
	return err
}

// preferProfiles installs ClusterProfiles, and binds a few namespaces of their own to the set of all clusters. The namespaces of placements have
// none.
func (s *stage) preferProfiles(ctx context.Context) error {
	admin := s.environment.AdminConfig()
	err := errors.Join(manifests.InstallMulticluster(ctx, admin), manifests.InstallSystem(ctx, admin, manifests.ClusterProfiles, ""))
	if err != nil {
		return err
	}
	bindings := &clusterv1beta2.ManagedClusterSetBindingList{}
	if err := s.api.List(ctx, bindings); err != nil {
		return fmt.Errorf("listing ManagedClusterSetBindings: %w", err)
	}
	out := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+clusterprofiles.OptOutLabel+`":"false"}}}`))
	err = each(ctx, len(bindings.Items), func(ctx context.Context, i int) error {
		return s.api.Patch(ctx, &bindings.Items[i], out)
	})
	if err != nil {
		return fmt.Errorf("labelling ManagedClusterSetBindings: %w", err)
	}
	return each(ctx, profileNamespaces, func(ctx context.Context, i int) error {
		name, set := "profiles-"+strconv.Itoa(i), s.size.Sets()[0].Name
		return errors.Join(
			s.api.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}),
			s.api.Create(ctx, &clusterv1beta2.ManagedClusterSetBinding{
				ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: set}, Spec: clusterv1beta2.ManagedClusterSetBindingSpec{ClusterSet: set},
			}),
		)
	})
}

// makeProfiles starts the hub until every namespace has every ClusterProfile with its status.
func (s *stage) makeProfiles(ctx context.Context, seen *observer) error {
	if err := s.retire(); err != nil {
		return err
	}
	mark, begin := seen.mark(), time.Now()
	if _, err := s.launch(ctx, withProfiles); err != nil {
		return err
	}
	last, err := s.awaitProfiles(ctx, seen, mark)
	if err != nil {
		return err
	}
	s.run.AddTime(profilesName, "make-seconds", last.Sub(begin))
	s.logf("%s: made %d ClusterProfiles in %.1f s", profilesName, s.profileCount(), last.Sub(begin).Seconds())
	_, err = s.settle(ctx, s.hub.process)
	return err
}

// profileCount is how many ClusterProfiles there are.
func (s *stage) profileCount() int { return s.size.Clusters * profileNamespaces }

// awaitProfiles waits until each ClusterProfile was written after its creation, and returns when the last one was. No one may be written twice.
func (s *stage) awaitProfiles(ctx context.Context, seen *observer, mark int) (time.Time, error) {
	written := make(map[types.NamespacedName]int, s.profileCount())
	var last time.Time
	err := seen.await(ctx, mark, func(c change) bool {
		if c.verb == watch.Modified {
			written[c.key]++
			last = c.at
		}
		return len(written) == s.profileCount() || s.hub.ended() != nil
	})
	if err := errors.Join(err, s.hub.ended()); err != nil {
		return last, fmt.Errorf("%d of %d ClusterProfiles were written: %w", len(written), s.profileCount(), err)
	}
	again := 0
	for _, n := range written {
		again += n - 1
	}
	if again > 0 {
		s.failf("%s: %d statuses of ClusterProfiles were written again", profilesName, again)
	}
	return last, nil
}

// besideProfiles changes labels with and without the controller, in turns.
func (s *stage) besideProfiles(ctx context.Context) error {
	var with, without profileCost
	for range profileRounds {
		if err := errors.Join(s.profileRound(ctx, &without), s.profileRound(ctx, &with, withProfiles)); err != nil {
			return err
		}
	}
	for _, each := range []struct {
		cost *profileCost
		name string
	}{{&without, "without"}, {&with, "with"}} {
		s.run.AddTime(profilesName, each.name+"-last-p50", report.Percentile(each.cost.last, 50))
		s.run.AddTime(profilesName, each.name+"-last-p99", report.Percentile(each.cost.last, 99))
		s.run.Add(profilesName, each.name+"-peak-memory", report.Bytes, float64(each.cost.peak))
		s.logf("%s: %s: last decision p50 %v, p99 %v, %d MiB", profilesName, each.name, report.Percentile(each.cost.last, 50),
			report.Percentile(each.cost.last, 99), each.cost.peak>>20)
	}
	s.run.Add(profilesName, "more-memory", report.Bytes, max(0, float64(with.peak-without.peak)))
	return nil
}

// profileRound starts the hub, and adds what label changes cost.
func (s *stage) profileRound(ctx context.Context, cost *profileCost, flags ...string) error {
	if err := s.retire(); err != nil {
		return err
	}
	if _, err := s.startAgain(ctx, profilesName, &start{}, flags...); err != nil {
		return err
	}
	w, err := s.open(ctx)
	if err != nil {
		return err
	}
	if _, err := s.toggles(ctx, &cost.latencies); err != nil {
		return err
	}
	if _, err := s.finish(ctx, profilesName, w); err != nil {
		return err
	}
	peak, err := s.hub.memory()
	cost.peak = max(cost.peak, peak)
	return err
}

// claimOfEach changes a claim of every cluster while the hub runs, which then writes the status of each ClusterProfile once.
func (s *stage) claimOfEach(ctx context.Context, seen *observer) error {
	mark, begin := seen.mark(), time.Now()
	spent, err := s.hub.cpu()
	if err != nil {
		return err
	}
	if err := s.changeClaims(ctx, "first"); err != nil {
		return err
	}
	last, err := s.awaitProfiles(ctx, seen, mark)
	if err != nil {
		return err
	}
	if _, err := seen.settle(ctx, s.hub.process); err != nil {
		return err
	}
	after, err := s.hub.cpu()
	if err != nil {
		return err
	}
	writes := len(seen.since(mark))
	if writes != s.profileCount() {
		s.failf("%s: %d writes of %d ClusterProfiles", profilesName, writes, s.profileCount())
	}
	s.run.AddTime(profilesName, "claim-seconds", last.Sub(begin))
	s.run.Add(profilesName, "claim-writes", report.Count, float64(writes))
	s.run.AddTime(profilesName, "claim-cpu", after-spent)
	s.logf("%s: a claim of %d clusters: %d writes in %.1f s, cpu %.1f s", profilesName, s.size.Clusters, writes, last.Sub(begin).Seconds(),
		(after - spent).Seconds())
	return nil
}

// changeClaims gives a claim of every cluster another value.
func (s *stage) changeClaims(ctx context.Context, value string) error {
	return each(ctx, s.size.Clusters, func(ctx context.Context, i int) error {
		claims := s.size.Cluster(i).Status.ClusterClaims
		for at := range claims {
			if claims[at].Name == changedClaim {
				claims[at].Value = value
			}
		}
		body, err := json.Marshal(map[string]any{"status": map[string]any{"clusterClaims": claims}})
		if err != nil {
			return fmt.Errorf("encoding claims: %w", err)
		}
		object := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: fleet.ClusterName(i)}}
		if err := s.api.Status().Patch(ctx, object, client.RawPatch(types.MergePatchType, body)); err != nil {
			return fmt.Errorf("writing the status of ManagedCluster %s: %w", object.Name, err)
		}
		return nil
	})
}

// floorOfProfiles changes the claim again, while the hub is stopped and a client applies the status of every ClusterProfile, as many at a time as the
// hub has workers.
func (s *stage) floorOfProfiles(ctx context.Context) error {
	if err := s.retire(); err != nil {
		return err
	}
	profiles := &unstructured.UnstructuredList{}
	profiles.SetGroupVersionKind(clusterinventory.GroupVersion.WithKind(profileKind + "List"))
	if err := s.api.List(ctx, profiles); err != nil {
		return fmt.Errorf("listing ClusterProfiles: %w", err)
	}
	begin := time.Now()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.changeClaims(ctx, "second") })
	group.Go(func() error {
		applies, ctx := errgroup.WithContext(ctx)
		applies.SetLimit(system.DefaultWorkers())
		for i := range profiles.Items {
			applies.Go(func() error { return s.applyProfile(ctx, &profiles.Items[i], "second") })
		}
		return applies.Wait()
	})
	if err := group.Wait(); err != nil {
		return err //nolint:wrapcheck // The tasks name what they do.
	}
	s.run.AddTime(profilesName, "floor-seconds", time.Since(begin))
	s.logf("%s: floor: %d writes in %.1f s", profilesName, len(profiles.Items), time.Since(begin).Seconds())
	return nil
}

// applyProfile applies the status of a ClusterProfile with another value of the claim, as the hub does.
func (s *stage) applyProfile(ctx context.Context, profile *unstructured.Unstructured, value string) error {
	properties, _, err := unstructured.NestedSlice(profile.Object, "status", "properties")
	if err != nil {
		return fmt.Errorf("reading ClusterProfile %s/%s: %w", profile.GetNamespace(), profile.GetName(), err)
	}
	for _, property := range properties {
		if of, is := property.(map[string]any); is && of["name"] == changedClaim {
			of["value"] = value
		}
	}
	applied := &unstructured.Unstructured{Object: map[string]any{"status": profile.Object["status"]}}
	applied.SetGroupVersionKind(profile.GroupVersionKind())
	applied.SetNamespace(profile.GetNamespace())
	applied.SetName(profile.GetName())
	if err := unstructured.SetNestedSlice(applied.Object, properties, "status", "properties"); err != nil {
		return fmt.Errorf("changing ClusterProfile %s/%s: %w", profile.GetNamespace(), profile.GetName(), err)
	}
	err = s.api.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner(clusterprofiles.FieldManager))
	if err != nil {
		return fmt.Errorf("applying the status of ClusterProfile %s/%s: %w", profile.GetNamespace(), profile.GetName(), err)
	}
	return nil
}
