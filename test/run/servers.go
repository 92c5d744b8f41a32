// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// serverTimeout is when a package that starts servers fails: more than twice what the longest takes beside others on two busy cores.
const serverTimeout = "40m"

// queue has the packages that start servers and have not started yet, in the order in which they start. It is safe for concurrent use.
type queue struct {
	builds *builds

	mu   sync.Mutex
	left []string
	said bool // that nothing can start yet
}

// newQueue orders packages by how long they took last, so that no long one runs alone at the end.
func newQueue(b *builds, packages []string, last durations) *queue {
	left := slices.Clone(packages)
	slices.SortStableFunc(left, func(a, b string) int { return cmp.Compare(last.of(b), last.of(a)) })
	return &queue{builds: b, left: left}
}

// next waits for a package whose programs are built, and returns it; "" if all have started.
func (q *queue) next(ctx context.Context) (string, error) {
	for {
		changed := q.builds.next()
		directory, empty := q.take()
		if empty || directory != "" {
			return directory, nil
		}
		q.sayWaiting()
		select {
		case <-changed:
		case <-ctx.Done():
			return "", context.Cause(ctx) //nolint:wrapcheck // It is an error of this package, or the interrupt.
		}
	}
}

// sayWaiting prints once what the packages wait for.
func (q *queue) sayWaiting() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if missing := q.builds.missing(neededBy(q.left...)); !q.said && len(missing) > 0 {
		q.said = true
		q.builds.driver.console.printf("==> waiting for the build of %s", strings.Join(missing, ", "))
	}
}

// take removes the first package whose programs are built. It returns "" if there is none, and whether none is left. It asks once what is built: a
// program that is built while packages are compared would let a later one start first.
func (q *queue) take() (directory string, empty bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	missing := q.builds.missing(neededBy(q.left...))
	index := slices.IndexFunc(q.left, func(directory string) bool {
		return !slices.ContainsFunc(neededBy(directory), func(name string) bool { return slices.Contains(missing, name) })
	})
	if index < 0 {
		return "", len(q.left) == 0
	}
	directory = q.left[index]
	q.left = slices.Delete(q.left, index, index+1)
	return directory, false
}

// testServers runs the tests of packages that start servers, as many at once as the throttle lets start.
func (t *testRun) testServers(ctx context.Context, b *builds, shared *sharedTests, r *results, limit *throttle, packages []string) error {
	waiting := newQueue(b, packages, t.progress.durations)
	keeper := &planeKeeper{driver: t.driver, program: shared.program()}
	defer func() { t.cpu[lentPlanes] = keeper.close() }()
	group, running := errgroup.WithContext(ctx)
	for {
		directory, err := waiting.next(running)
		if err == nil && directory != "" {
			err = limit.wait(running)
		}
		if err == nil && r.stopped() {
			err = errFailed // A process may have ended by it before running has.
		}
		if directory == "" || err != nil {
			return errors.Join(group.Wait(), err)
		}
		limit.begin()
		group.Go(func() error {
			defer limit.end()
			return t.testServer(running, r, shared, keeper, directory)
		})
	}
}

// testServer runs the tests of a package in a process of its own.
func (t *testRun) testServer(ctx context.Context, r *results, shared *sharedTests, keeper *planeKeeper, directory string) error {
	if startsServers(directory) {
		return t.testNested(ctx, r, directory)
	}
	p := shared.find(directory)
	if p == nil {
		t.endWithoutTests(directory)
		return nil
	}
	socket, err := keeper.start(ctx)
	if err != nil {
		return err
	}
	return t.runServer(ctx, r, directory, []string{packageVariable + "=" + directory, planesVariable + "=" + socket}, shared.arguments(p)...)
}

func (t *testRun) endWithoutTests(directory string) {
	t.progress.end(directory, "?   \t"+module+directory+"\t[no test files]")
}

// runServer runs go with the arguments, which run the tests of a package, in its directory and with more variables.
func (t *testRun) runServer(ctx context.Context, r *results, directory string, variables []string, arguments ...string) error {
	d := t.driver
	cmd := newGroup(ctx, d.goCommand, arguments...)
	cmd.Dir = filepath.Join(d.root, filepath.FromSlash(directory))
	cmd.Env = append(d.environment(true), variables...)
	t.direct(cmd, r)
	err := cmd.run()
	if ctx.Err() != nil {
		return context.Cause(ctx) //nolint:wrapcheck // It is an error of this package, or the interrupt.
	}
	if state := cmd.ProcessState; state != nil {
		t.mu.Lock()
		t.cpu[directory] = state.UserTime() + state.SystemTime()
		t.mu.Unlock()
	}
	return t.unlessReported(ctx, r, err, directory)
}

// lentPlanes stands for the control planes that packages take from each other in the summary of CPU time.
const lentPlanes = "shared control planes"

// costliest is how many packages describeCPU names.
const costliest = 8

// describeCPU describes how much CPU time the packages that start servers took with the programs that they waited for, as the kernel counts it.
func (t *testRun) describeCPU() string {
	var sum time.Duration
	for _, used := range t.cpu {
		sum += used
	}
	packages := slices.SortedFunc(maps.Keys(t.cpu), func(a, b string) int { return cmp.Compare(t.cpu[b], t.cpu[a]) })
	most := make([]string, 0, costliest)
	for _, directory := range packages[:min(costliest, len(packages))] {
		most = append(most, fmt.Sprintf("%s %.0f s", directory, t.cpu[directory].Seconds()))
	}
	return fmt.Sprintf("%.0f s, of which %s", sum.Seconds(), strings.Join(most, ", "))
}
