package endpoint

import "testing"

func TestReadyOnceStarted(t *testing.T) {
	started := make(chan struct{})
	check := startedCheck(started)
	if err := check(nil); err == nil {
		t.Error("ready before anything has started")
	}
	close(started)
	must(t, check(nil))
}
