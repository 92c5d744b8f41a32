package endpoint

import (
	"testing"

	"github.com/placement-hub/placement-hub/cmd/placement/internal/expect"
)

func TestReadyOnceStarted(t *testing.T) {
	started := make(chan struct{})
	check := startedCheck(started)
	if err := check(nil); err == nil {
		t.Error("ready before anything has started")
	}
	close(started)
	expect.NoError(t, check(nil))
}
