// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
)

func TestOneEvaluationOfEachUserAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := New(2, 3)
		first, _ := all.Join("ada")
		second, joined := all.Join("ada")
		if !joined {
			t.Fatal("the second request was refused, want three open")
		}
		done := all.Take(t.Context(), first)
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan bool)
		go func() { waited <- all.Take(ctx, second) == nil }()
		synctest.Wait()

		other, _ := all.Join("ben")
		if release := all.Take(t.Context(), other); release == nil {
			t.Fatal("another user waits for the first one")
		} else {
			release()
		}
		cancel()
		if !<-waited {
			t.Error("the second evaluation of a user ran beside the first")
		}
		done()
		if again := all.Take(t.Context(), second); again == nil {
			t.Error("the turn was not given back")
		} else {
			again()
		}
	})
}

// An evaluation that waits for something else lets those of other users run, and none of its user.
func TestSuspendedEvaluationsLetOthersRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := New(1, 4)
		first, _ := turns.Join("a")
		done := turns.Take(t.Context(), first)
		ran := make(chan Tenant, 3)
		run := func(user Tenant) {
			own, _ := turns.Join(user)
			turns.Take(t.Context(), own)()
			ran <- user
		}
		go run("a")
		go run("b")
		synctest.Wait()
		if len(ran) > 0 {
			t.Fatalf("%s runs beside the first", <-ran)
		}
		turns.Suspend(first)
		turns.Suspend(first)
		synctest.Wait()
		if len(ran) != 1 || <-ran != "b" {
			t.Error("another user does not run, or the same one does")
		}
		done()
		synctest.Wait()
		if len(ran) != 1 || <-ran != "a" {
			t.Error("the next evaluation of the user does not run after the first")
		}
		if turns.free != 1 {
			t.Errorf("%d evaluations may run, want 1", turns.free)
		}
	})
}

// A user with many requests delays another one by a single evaluation.
func TestUsersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, order := New(1, 10), make(chan string, 10)
		first, _ := all.Join("ada")
		running := all.Take(t.Context(), first)
		evaluate := func(user string) {
			own, _ := all.Join(Tenant(user))
			go func() {
				done := all.Take(t.Context(), own)
				order <- user
				done()
			}()
			synctest.Wait()
		}
		for range 5 {
			evaluate("ada")
		}
		evaluate("ben")
		running()
		synctest.Wait()
		close(order)
		before := 0
		for user := range order {
			if user == "ben" {
				break
			}
			before++
		}
		if before > 1 {
			t.Errorf("ben has waited for %d evaluations of ada, want 1 at most", before)
		}
	})
}

// A user who asks now and then goes before those who never stop asking, also if these leave before they ask again.
func TestTheUserWhoWaitedLongestGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, order := New(1, 1), make(chan string, 100)
		evaluate := func(user string) {
			own, joined := all.Join(Tenant(user))
			if !joined {
				t.Errorf("%s has too many requests", user)
				return
			}
			defer all.Leave(Tenant(user))
			done := all.Take(t.Context(), own)
			<-time.After(time.Second)
			order <- user
			done()
		}
		for i := range 10 {
			go func() {
				for range 5 {
					evaluate("greedy-" + strconv.Itoa(i))
				}
			}()
		}
		<-time.After(20500 * time.Millisecond)
		evaluate("ada")
		<-time.After(15500 * time.Millisecond)
		evaluate("ada")
		<-time.After(time.Minute)
		close(order)
		at := 0
		for user := range order {
			at++
			if user != "ada" {
				continue
			}
			if at != 22 && at != 39 { // One runs when she asks, after 20 and after 37.
				t.Errorf("ada was the number %d", at)
			}
		}
		if at != 52 {
			t.Errorf("%d evaluations have run, want 52", at)
		}
	})
}

// Users who ask without rest take a part of a core together, and a user who rests between requests never waits for them.
func TestUsersWhoHurryDelayNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const greedy, took = 100, 20 * time.Millisecond
		all, counts := New(2, 1), make([]int, greedy)
		end := time.Now().Add(time.Minute)
		ask := func(user string) (waited time.Duration) {
			own, _ := all.Join(Tenant(user))
			defer all.Leave(Tenant(user))
			began := time.Now()
			done := all.Take(t.Context(), own)
			waited = time.Since(began)
			<-time.After(took)
			done()
			return waited
		}
		for i := range greedy {
			go func() {
				for time.Now().Before(end) {
					ask(strconv.Itoa(i))
					counts[i]++
				}
			}()
		}
		<-time.After(time.Second)
		for range 100 {
			if waited := ask("ada"); waited > 0 {
				t.Errorf("ada has waited for %v", waited)
			}
			<-time.After(restFactor*took + time.Millisecond)
		}
		<-time.After(2 * time.Minute)
		total := 0
		for _, count := range counts {
			total += count
			if count < counts[0]-2 || count > counts[0]+2 {
				t.Errorf("a user had %d turns, another one %d", count, counts[0])
			}
		}
		most := greedy + int(time.Minute/(hurryPace*took)) + greedy // Each has a first request, and a last one that waits at the end.
		if total > most {
			t.Errorf("the users had %d turns in a minute, want %d at most", total, most)
		}
	})
}

// A user hurries who asks again at once, and not after a rest.
func TestARestEndsHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := New(2, 1)
		hurries := func() bool {
			own, _ := all.Join("ada")
			defer all.Leave("ada")
			done := all.Take(t.Context(), own)
			<-time.After(time.Second)
			done()
			return own.hurries
		}
		for _, want := range []bool{false, true, true} {
			if got := hurries(); got != want {
				t.Errorf("hurries is %t, want %t", got, want)
			}
		}
		<-time.After(restFactor*time.Second + time.Millisecond)
		if hurries() {
			t.Error("hurries after a rest")
		}
	})
}

// An evaluation that becomes urgent goes before those that came earlier.
func TestUrgentEvaluationsGoFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, order, urgent := New(1, 10), make(chan string, 10), false
		own, _ := all.Join("ada")
		running := all.Take(t.Context(), own)
		for _, name := range []string{"first", "second", "urgent"} {
			go func() {
				done := all.TakeUrgent(t.Context(), own, func() bool { return urgent && name == "urgent" })
				order <- name
				done()
			}()
			synctest.Wait()
		}
		urgent = true
		running()
		synctest.Wait()
		if got := []string{<-order, <-order, <-order}; !slices.Equal(got, []string{"urgent", "first", "second"}) {
			t.Errorf("the order is %v", got)
		}
	})
}

// A user whose evaluations are always urgent delays those of another one by seconds, and not for ever.
func TestUrgentEvaluationsDoNotStarveOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, ctx := New(1, 10), t.Context()
		ctx, cancel := context.WithCancel(ctx)
		for range 5 {
			go func() {
				own, _ := all.Join("greedy")
				for {
					done := all.TakeUrgent(ctx, own, func() bool { return true })
					if done == nil {
						return
					}
					<-time.After(100 * time.Millisecond)
					done()
				}
			}()
		}
		synctest.Wait()
		own, _ := all.Join("ada")
		for range 3 {
			began := time.Now()
			done := all.Take(ctx, own)
			if waited := time.Since(began); waited > longestWait+time.Second {
				t.Errorf("ada has waited for %s", waited)
			}
			done()
		}
		cancel()
	})
}

func TestUsersAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := New(1, 1)
		own, joined := all.Join("ada")
		if !joined {
			t.Fatal("the first request was refused")
		}
		if _, joined := all.Join("ada"); joined {
			t.Error("a request more than the limit was accepted")
		}
		all.Take(t.Context(), own)()
		all.Leave("ada")
		if all.Users() != 0 {
			t.Errorf("%d users have requests", all.Users())
		}
		<-time.After(2 * remembered)
		for i := range sweepAt {
			all.Join(Tenant(strconv.Itoa(i)))
		}
		if _, kept := all.users["ada"]; kept {
			t.Error("a user is kept who has asked nothing for long")
		}
	})
}

// An evaluation whose request ends while it waits leaves its place to the next.
func TestARequestThatEndsGivesItsTurnBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := New(1, 2)
		ada, _ := all.Join("ada")
		ben, _ := all.Join("ben")
		running := all.Take(t.Context(), ada)
		ctx, cancel := context.WithCancel(t.Context())
		go all.Take(ctx, ben)
		synctest.Wait()
		cancel()
		synctest.Wait()
		running()
		for _, own := range []*Turn{ben, ada, ben} {
			done := all.Take(t.Context(), own)
			if done == nil {
				t.Fatal("a turn was lost")
			}
			done()
		}
	})
}
