package election

import (
	"testing"
	"time"
)

func TestElectorPeriod(t *testing.T) {
	for period, want := range map[time.Duration]time.Duration{26 * time.Second: time.Second, 200 * time.Millisecond: 200 * time.Millisecond} {
		o := Options{RetryPeriod: period}
		if got := o.electorPeriod(); got != want {
			t.Errorf("with a retry period of %v the elector looks every %v, want %v", period, got, want)
		}
	}
}
