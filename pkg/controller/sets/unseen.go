package sets

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
)

// unseenFor is how long a write is believed that the cache does not show.
const unseenFor = 30 * time.Second

// unseenWrites remembers on which state of an object a write was based, so that it is not sent again while the cache still shows that
// state. It is safe for concurrent use; an object is written by one worker at a time.
type unseenWrites struct {
	clock clock.PassiveClock

	mu     sync.Mutex
	writes map[string]map[string]unseenWrite // by namespace and name
}

type unseenWrite struct {
	base string // the resourceVersion that the cache showed; empty when it showed no object
	at   time.Time
}

func newUnseenWrites(c clock.PassiveClock) *unseenWrites {
	return &unseenWrites{clock: c, writes: map[string]map[string]unseenWrite{}}
}

// write sends a write that is based on a state that the cache shows, unless one was sent that is based on it.
func (u *unseenWrites) write(key types.NamespacedName, base string, send func() error) error {
	if !u.begin(key, base) {
		return nil
	}

	err := send()
	if err != nil {
		u.forget(key)
	}

	return err
}

func (u *unseenWrites) begin(key types.NamespacedName, base string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()

	if last, known := u.writes[key.Namespace][key.Name]; known && last.base == base && u.clock.Since(last.at) < unseenFor {
		return false
	}

	if u.writes[key.Namespace] == nil {
		u.writes[key.Namespace] = map[string]unseenWrite{}
	}
	// It is noted before it is sent: an event that ends it cannot be missed.
	u.writes[key.Namespace][key.Name] = unseenWrite{base: base, at: u.clock.Now()}

	return true
}

// seen ends the memory of a write when an event shows another state than the one it was based on. A deletion, which shows the state
// that there was at last, ends it always.
func (u *unseenWrites) seen(key types.NamespacedName, version string, deleted bool) {
	u.mu.Lock()
	defer u.mu.Unlock()

	if last, known := u.writes[key.Namespace][key.Name]; known && (deleted || last.base != version) {
		u.drop(key)
	}
}

func (u *unseenWrites) forget(key types.NamespacedName) {
	u.mu.Lock()
	defer u.mu.Unlock()

	u.drop(key)
}

func (u *unseenWrites) drop(key types.NamespacedName) {
	delete(u.writes[key.Namespace], key.Name)

	if len(u.writes[key.Namespace]) == 0 {
		delete(u.writes, key.Namespace)
	}
}
