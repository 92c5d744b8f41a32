// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	openmcpv1alpha1 "github.com/placement-hub/placement-hub/pkg/apis/openmcp/v1alpha1"
	"github.com/placement-hub/placement-hub/test/benchmark/precomputed"
	"github.com/placement-hub/placement-hub/test/benchmark/report"
	"github.com/placement-hub/placement-hub/test/benchmark/requests"
)

// The names of the writes for ClusterRequests.
const (
	requestPatched = "patch " + requestKind
	grantCreated   = "create " + grantKind
	clusterCreated = "create " + clusterKind
	clusterPatched = "patch " + clusterKind
)

// grant starts the hub on requests without Grants, until all of them have a Cluster that is ready.
func (r *requestStage) grant(ctx context.Context, scenario string) error {
	w := window{begin: time.Now(), mark: r.observer.mark()}
	if err := r.launch(ctx); err != nil {
		return err
	}
	grants := 0
	err := r.observer.await(ctx, w.mark, func(c change) bool {
		if c.kind == grantKind {
			grants++
		}
		return grants == r.requests || r.hub.ended() != nil
	})
	if err := errors.Join(err, r.hub.ended()); err != nil {
		return fmt.Errorf("%d of %d Grants: %w", grants, r.requests, err)
	}
	if r.granted, err = r.finish(ctx, scenario, w); err != nil {
		return err
	}
	r.run.Add(requestsScenario, "requests", report.Count, float64(r.requests))
	r.run.Add(requestsScenario, "clusters", report.Count, float64(requests.Clusters(r.requests)))
	written := slices.DeleteFunc(slices.Clone(r.granted.changes), func(c change) bool { return !c.byHub() })
	last := written[len(written)-1].at.Sub(w.begin)
	r.run.AddTime(scenario, "first-write", written[0].at.Sub(w.begin))
	r.run.AddTime(scenario, "seconds", last)
	r.run.Add(scenario, "grants-per-second", report.Count, float64(r.requests)/last.Seconds())
	for _, write := range []string{requestPatched, grantCreated, clusterCreated, clusterPatched} {
		r.run.Add(scenario, write, report.Count, float64(r.granted.writes[write]))
	}
	r.run.Add(scenario, "conflicts", report.Count, r.granted.outdated)
	r.wantGrants(scenario, r.granted.writes)
	return r.verify(ctx, scenario)
}

// wantGrants fails the benchmark for a Cluster more or less than needed, and for more writes than one for the finalizer of a request, one
// for its Grant, at most one for its finalizer on the Cluster, and two for its status: before and after the Cluster is ready.
func (r *requestStage) wantGrants(scenario string, got writes) {
	n, clusters := r.requests, requests.Clusters(r.requests)
	if got[grantCreated] != n || got[clusterCreated] != clusters || got[clusterPatched] > n-clusters ||
		got[requestPatched] < 2*n || got[requestPatched] > 3*n {
		r.failf("%s: wrote %v for %d requests that share %d Clusters", scenario, got, n, clusters)
	}
}

// restart is that of the stage.
func (r *requestStage) restart(ctx context.Context, scenario string) error {
	path, err := r.writeScript(nil)
	if err != nil {
		return err
	}
	return r.separateStage.restart(ctx, scenario, nil, nil, "--grants="+path)
}

// floor grants as many requests as the hub, with as many writes, as fast as a client without a thought can: the same requests, as many at a
// time as the hub has workers.
func (r *requestStage) floor(ctx context.Context, scenario string) error {
	if err := r.createRequests(ctx, requests.FloorPurpose); err != nil {
		return err
	}
	waiting, clusters, err := r.plan(ctx)
	if err != nil {
		return err
	}
	mark, begin := r.observer.mark(), time.Now()
	if err := precomputed.NewGrantWriter(r.api).Write(ctx, waiting, clusters); err != nil {
		return err
	}
	r.run.AddTime(scenario, "seconds", time.Since(begin))
	r.logf("%s: %d requests in %.3f s", scenario, r.requests, time.Since(begin).Seconds())
	if err := pause(ctx, lull); err != nil { // Until the watch has shown all.
		return err
	}
	written := count(r.observer.since(mark))
	r.run.Add(scenario, "writes", report.Count, float64(written.total()))
	r.logf("%s: %d writes %v; the hub needed %v", scenario, written.total(), written, r.granted.writes)
	return r.verify(ctx, scenario)
}

// plan returns the requests that the floor grants, and what it writes for them.
func (r *requestStage) plan(ctx context.Context) ([]openmcpv1alpha1.ClusterRequest, []precomputed.GrantedCluster, error) {
	world, err := r.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	provider, err := r.readProvider(ctx)
	if err != nil {
		return nil, nil, err
	}
	var waiting []openmcpv1alpha1.ClusterRequest
	for i := range world.Requests {
		if world.Requests[i].Status.Status == "" {
			waiting = append(waiting, world.Requests[i])
		}
	}
	clusters, err := requests.Plan(waiting, provider, &world.Clusters[0], pattern(r.granted.changes), metav1.Now())
	if err != nil {
		return nil, nil, fmt.Errorf("deciding for the floor: %w", err)
	}
	return waiting, clusters, nil
}

// pattern returns in how many writes the hub granted requests.
func pattern(changes []change) requests.Pattern {
	var p requests.Pattern
	clusters, written := map[string]int{}, map[string]int{}
	for _, c := range changes {
		switch {
		case c.kind == requestKind && c.verb == watch.Modified:
			written[c.key.String()]++
		case c.kind == clusterKind && c.joined > 0:
			at, known := clusters[c.key.String()]
			if !known {
				at = len(p.Joins)
				clusters[c.key.String()] = at
				p.Joins = append(p.Joins, nil)
			}
			p.Joins[at] = append(p.Joins[at], c.joined)
		}
	}
	for _, n := range written {
		p.Statuses = append(p.Statuses, n-1) // The first one is the finalizer.
	}
	return p
}

// world creates Clusters that no request has, and starts the hub again over those, its own Grants and those of the floor: it has nothing to
// write, which shows that the floor wrote the same.
func (r *requestStage) world(ctx context.Context, scenario string) error {
	free := requests.FreeClusters(r.requests)
	err := each(ctx, free, func(ctx context.Context, i int) error { return r.create(ctx, requests.FreeCluster(i)) })
	if err != nil {
		return err
	}
	err = poll(ctx, calm, func() (bool, error) {
		world, err := r.read(ctx)
		if err != nil {
			return false, err
		}
		for i := range world.Clusters {
			if !requests.Healthy(&world.Clusters[i]) {
				return false, r.provider.ended()
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("waiting until %d Clusters are healthy: %w", free, err)
	}
	r.run.Add(scenario, "clusters", report.Count, float64(2*requests.Clusters(r.requests)+free))
	_, err = r.startAgain(ctx, scenario)
	return err
}

// singles creates one request after the other, each when the last one is granted. It returns how long each took.
func (r *requestStage) singles(ctx context.Context, series string) ([]time.Duration, error) {
	var each []time.Duration
	for i := range repeats {
		request := requests.Request(requests.HubPurpose, series, i)
		mark, begin := r.observer.mark(), time.Now()
		if err := r.create(ctx, request); err != nil {
			return nil, err
		}
		key, written := client.ObjectKeyFromObject(request), 0
		err := r.observer.await(ctx, mark, func(c change) bool {
			if c.kind != requestKind || c.key != key || c.verb != watch.Modified {
				return false
			}
			written++ // The finalizer, and then the status, because the Cluster is ready.
			if written == 2 {
				each = append(each, c.at.Sub(begin))
			}
			return written == 2
		})
		if err != nil {
			return nil, fmt.Errorf("waiting for the status of ClusterRequest %s: %w", key, err)
		}
	}
	return each, nil
}

// one creates single requests in a world of many Clusters.
func (r *requestStage) one(ctx context.Context, scenario string) error {
	w, err := r.open(ctx)
	if err != nil {
		return err
	}
	each, err := r.singles(ctx, "one")
	if err != nil {
		return err
	}
	o, err := r.finish(ctx, scenario, w)
	if err != nil {
		return err
	}
	r.addSingles(scenario, each, o)
	r.wantWrites(scenario, o, singleWrites())
	return r.verify(ctx, scenario)
}

// singleWrites are what single requests need.
func singleWrites() writes {
	return writes{requestPatched: 2 * repeats, grantCreated: repeats, clusterPatched: repeats}
}

func (r *requestStage) addSingles(scenario string, each []time.Duration, o *outcome) {
	r.run.AddTime(scenario, "p50", report.Percentile(each, 50))
	r.run.AddTime(scenario, "p99", report.Percentile(each, 99))
	r.addPerEvent(scenario, o, len(each))
	r.logf("%s: p50 %v, p99 %v", scenario, report.Percentile(each, 50), report.Percentile(each, 99))
}

// idealOne stops the hub and creates single requests. The ideal reads the Cluster and the Grant of each from its script.
func (r *requestStage) idealOne(ctx context.Context, scenario string) error {
	if err := r.retire(); err != nil {
		return err
	}
	const series = "ideal"
	script, err := r.tellSingles(ctx, series)
	if err != nil {
		return err
	}
	path, err := r.writeScript(script)
	if err != nil {
		return err
	}
	p, _, err := r.startIdeal(ctx, "--grants="+path)
	if err != nil {
		return err
	}
	defer p.kill()
	var each []time.Duration
	mark := r.observer.mark()
	spent, n, err := r.observer.cpuPerEvent(ctx, p, func() (int, error) {
		var err error
		each, err = r.singles(ctx, series)
		return len(each), err
	})
	if err != nil {
		return errors.Join(err, p.ended())
	}
	o := &outcome{cpu: spent * time.Duration(n), writes: count(r.observer.since(mark))}
	r.addSingles(scenario, each, o)
	r.wantWrites(scenario, o, singleWrites())
	return errors.Join(p.stop(), r.verify(ctx, scenario))
}

// tellSingles returns what the ideal writes: each request gets another Cluster, which is ready.
func (r *requestStage) tellSingles(ctx context.Context, series string) ([]precomputed.Granted, error) {
	script := make([]precomputed.Granted, repeats)
	for i := range script {
		cluster := requests.FreeCluster(i)
		if err := r.api.Get(ctx, client.ObjectKeyFromObject(cluster), cluster); err != nil {
			return nil, fmt.Errorf("reading Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
		}
		single, err := requests.Single(requests.Request(requests.HubPurpose, series, i), cluster, metav1.Now())
		if err != nil {
			return nil, fmt.Errorf("deciding for the ideal: %w", err)
		}
		script[i] = single
	}
	return script, nil
}

// writeScript writes a file with what the ideal writes, and returns its path.
func (r *requestStage) writeScript(grants []precomputed.Granted) (string, error) {
	path := filepath.Join(r.directory, "grants.json")
	return path, (&precomputed.GrantScript{Grants: grants}).WriteFile(path)
}
