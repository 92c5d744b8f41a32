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
