// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/placement-hub/placement-hub/pkg/inventory"
	"github.com/placement-hub/placement-hub/test/env/faults"
	"github.com/placement-hub/placement-hub/test/history"
)

const (
	// fewestSteps and mostSteps are those of one batch.
	fewestSteps, mostSteps = 2, 6
	// mostFaults is how many faults strike in one batch.
	mostFaults = 3
	// crashingBatch is the number of the batch of every world in which the control plane crashes.
	crashingBatch = 1
	// longestPause is how long there may be nothing to do between two steps.
	longestPause = 300 * time.Millisecond
	// longestLateness is how long the hub may be late to see a request after the last one of a step.
	longestLateness = 2 * time.Second
	// framesShown is how many states are shown around a wrong one.
	framesShown = 6
)

// journal is what has happened in a world, with times.
type journal struct {
	mu    sync.Mutex
	begin time.Time
	lines []string
}

func (j *journal) notef(format string, arguments ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf("%8.3f  ", time.Since(j.begin).Seconds())+fmt.Sprintf(format, arguments...))
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Join(j.lines, "\n")
}

// attack makes the world of a seed and runs batches until the world or the time is over.
func (a *arena) attack(ctx context.Context, seed uint64, end time.Time) (err error) {
	j := &journal{begin: time.Now()}
	defer func() {
		if err != nil {
			err = fmt.Errorf("%w\n\nthe steps so far, in seconds:\n%s\n\nthe end of the log of the hub:\n%s", err, j, a.log)
		}
	}()
	h, err := startHub(ctx, a.environment, a.clock)
	if err != nil {
		return err
	}

	defer func() { err = errors.Join(err, h.stop()) }()
	w, err := a.newHub(ctx, seed)
	if err != nil {
		return err
	}
	w.noted = func(format string, arguments ...any) {
		a.steps++
		j.notef(format, arguments...)
	}
	j.notef("world of %d clusters", len(w.clusters))

	random := rand.New(rand.NewPCG(seed, 1))
	a.deck = nil
	if err := a.settle(ctx, w, h); err != nil {
		return err
	}

	for number := range batchesPerWorld {
		if !time.Now().Before(end) {
			break
		}
		var striking []fault
		if number == crashingBatch {
			striking = append(striking, oneOf(random, crashes()...))
		}
		if err := a.batch(ctx, w, h, j, random, striking...); err != nil {
			return err
		}
	}

	return w.destroy(ctx)
}

// batch goes from one quiet state to the next, and judges all states in between. The given faults strike besides random ones.
func (a *arena) batch(ctx context.Context, w *arenaHub, h *hub, j *journal, random *rand.Rand, besides ...fault) error {
	a.batches++
	a.recorder.cut()
	w.truth.begin(a.recorder.decisions())
	j.notef("batch %d", a.batches)
	striking := a.strike(ctx, h, j, random, besides)

	for range fewestSteps + random.IntN(mostSteps-fewestSteps+1) {
		if err := a.step(ctx, w, h, j, random); err != nil {
			return errors.Join(err, striking())
		}
		if err := wait(ctx, time.Duration(random.Int64N(int64(longestPause)))); err != nil {
			return errors.Join(err, striking())
		}
	}

	if err := striking(); err != nil {
		return err
	}
	j.notef("the steps and faults of the batch have ended")
	if err := a.nudge(ctx, w); err != nil {
		return err
	}
	unsettled := a.settle(ctx, w, h)
	return errors.Join(a.judge(w, j), unsettled)
}

// step makes one step. In half of those that are to keep clusters, the hub is late to see the first requests.
func (a *arena) step(ctx context.Context, w *arenaHub, h *hub, j *journal, random *rand.Rand) error {
	if random.IntN(3) == 0 {
		return oneOf(random, oneOf(random, changing, unreadable)...)(w, ctx)
	}
	keeps := oneOf(random, keeping...)
	if random.IntN(2) == 0 {
		return keeps.step(w, ctx)
	}
	how := oneOf(random, faults.Delay, faults.Reset, faults.Unavailable, faults.Hang)
	verbs := oneOf(random, []string{"watch"}, []string{"list", "watch"})
	j.notef("    begins: %s of %v %s", how, verbs, keeps.first)

	mend := h.breakAll(faults.Rule{Match: faults.Match{Verbs: verbs, Resources: []string{keeps.first}}, Fault: how})
	defer mend()
	err := keeps.step(w, ctx)
	if err == nil {
		err = wait(ctx, time.Duration(random.Int64N(int64(longestLateness))))
	}
	j.notef("    ends: %s of %v %s", how, verbs, keeps.first)
	return err
}

// draw takes faults from the deck, so that each of them comes up before any comes again.
func (a *arena) draw(random *rand.Rand, count int) []fault {
	var drawn []fault
	for range count {
		if len(a.deck) == 0 {
			a.deck = allFaults()
			random.Shuffle(len(a.deck), func(i, k int) { a.deck[i], a.deck[k] = a.deck[k], a.deck[i] })
		}
		drawn = append(drawn, a.deck[0])
		a.deck = a.deck[1:]
	}
	return drawn
}

// strike has some faults strike at random moments, and returns a function that waits for their end.
func (a *arena) strike(ctx context.Context, h *hub, j *journal, random *rand.Rand, besides []fault) (ended func() error) {
	var (
		striking sync.WaitGroup
		mu       sync.Mutex
		errs     []error
	)

	for _, strikes := range append(besides, a.draw(random, random.IntN(mostFaults+1))...) {
		a.struck[strikes.name]++

		after := time.Duration(random.Int64N(int64(time.Second)))
		length := strikes.shortest + time.Duration(random.Int64N(int64(strikes.longest-strikes.shortest)))
		striking.Go(func() {
			err := wait(ctx, after)
			if err == nil {
				err = a.strikeOnce(ctx, h, j, strikes, length)
			}
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
		})
	}

	return func() error {
		striking.Wait()
		return errors.Join(errs...)
	}
}

func (a *arena) strikeOnce(ctx context.Context, h *hub, j *journal, strikes fault, length time.Duration) error {
	j.notef("    begins: %s", strikes.name)
	mend, err := strikes.strike(ctx, a, h)
	if err != nil {
		return fmt.Errorf("%s: %w", strikes.name, err)
	}
	err = errors.Join(wait(ctx, length), mend())
	j.notef("    ends: %s", strikes.name)
	if err != nil {
		return fmt.Errorf("%s: %w", strikes.name, err)
	}
	return nil
}

// judge looks at every state of the batch.
func (a *arena) judge(w *arenaHub, j *journal) error {
	a.recorder.mu.Lock()
	defer a.recorder.mu.Unlock()
	var errs []error
	for key, recorded := range a.recorder.recordings {
		if key.Namespace != w.namespace || w.truth.removed[key] {
			continue
		}
		a.states += len(recorded.frames)
		staying := w.truth.stays(key)
		var after history.State
		if len(staying) > 0 {
			after = recorded.now()
		}

		findings := append(history.MissingOf(staying, recorded.frames), history.Unsafe(recorded.before, recorded.frames, after, 0)...)
		if len(findings) > 0 {
			errs = append(errs, fmt.Errorf("%s: %s\n%s", key, strings.Join(findings[:min(len(findings), framesShown)], "\n  "),
				recorded.story(findings[0], j.begin)))
		}
	}

	return errors.Join(errs...)
}

// story shows the states around the one that a finding of test/history names.
func (r *recording) story(finding string, begin time.Time) string {
	var number int
	if _, err := fmt.Sscanf(finding, "event %d,", &number); err != nil {
		return ""
	}
	var lines []string
	for i := max(0, number-framesShown); i < min(len(r.frames), number+framesShown); i++ {
		lines = append(lines, fmt.Sprintf("%8.3f  event %d: %s; now %s", r.times[i].Sub(begin).Seconds(), i, r.frames[i], sizes(r.frames[i].Pages)))
	}
	return strings.Join(lines, "\n")
}

// sizes names the pages of a state with their groups and how many decisions they have.
func sizes(pages history.State) string {
	var texts []string
	for _, page := range pages {
		group, err := history.GroupOf(page)
		if err != nil {
			texts = append(texts, err.Error())
			continue
		}
		number := page.Name[strings.LastIndex(page.Name, "-"):]
		texts = append(texts, fmt.Sprintf("%s(%d%s)=%d", number, group.Index, group.Name, len(page.Status.Decisions)))
	}
	return strings.Join(texts, " ")
}

// decisions are the clusters of every placement as they are recorded.
func (r *recorder) decisions() map[inventory.Key]map[string]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	decisions := map[inventory.Key]map[string]bool{}
	for key, recorded := range r.recordings {
		decisions[key] = recorded.now().Union()
	}
	return decisions
}
