// SPDX-License-Identifier: Apache-2.0

package turns

import (
	"context"
	"testing"
	"testing/synctest"
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

// A user with many requests delays another one by a single evaluation.
func TestUsersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all, order := New(1, 10), make(chan string, 10)
		first, _ := all.Join("ada")
		running := all.Take(t.Context(), first)
		evaluate := func(user string) {
			own, _ := all.Join(user)
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

func TestUsersAreForgotten(t *testing.T) {
	all := New(1, 1)
	if _, joined := all.Join("ada"); !joined {
		t.Fatal("the first request was refused")
	}
	if _, joined := all.Join("ada"); joined {
		t.Error("a request more than the limit was accepted")
	}
	all.Leave("ada")
	if all.Users() != 0 {
		t.Errorf("%d users are kept", all.Users())
	}
}
